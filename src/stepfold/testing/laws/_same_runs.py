"""When two runs count as the same: byte for byte, or but for time."""

from collections.abc import Iterable

from stepfold.codec import encode
from stepfold.loop import LoopState
from stepfold.testing.laws._equal import require_equal
from stepfold.values import Message


def same_history(one: LoopState, other: LoopState) -> None:
    """Law 6: two orders of answers to the same commands end in the same history."""
    require_equal(_written(one.messages), _written(other.messages), "two orders gave two histories")


def same_run(one: LoopState, other: LoopState) -> None:
    """Two runs that may differ in time alone: messages, steps, figures and end."""
    same_history(one, other)
    require_equal(
        _timeless(one),
        _timeless(other),
        "two runs differ in more than time",
    )


def _timeless(state: LoopState) -> tuple[object, ...]:
    steps = tuple(
        (
            step.step,
            step.model,
            step.content,
            step.finish_reason,
            step.usage,
            step.warnings,
            step.response,
            step.provider_metadata,
            step.late,
        )
        for step in state.steps
    )
    return steps, state.ledger, type(state.phase), getattr(state.phase, "end", None)


def _written(messages: Iterable[Message]) -> list[bytes]:
    return [encode(message) for message in messages]
