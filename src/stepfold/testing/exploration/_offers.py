"""The alphabet that fits a program: every mix of its tools, up to so many calls in a reply."""

from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement
from typing import Final

from attrs import evolve

from stepfold.loop import Program
from stepfold.testing.exploration._alphabet import FINAL_REPLY, Alphabet, reply_with
from stepfold.testing.exploration._samples import samples_of
from stepfold.values import (
    FinishReason,
    ModelErrorReason,
    ModelReply,
    UnifiedFinishReason,
    UsageError,
)

_NO_ARGUMENTS: Final[Mapping[str, Sequence[object]]] = {}
_OVERLOADED: Final = ModelErrorReason("overloaded", "the provider is busy")


def alphabet_of(
    program: Program,
    *,
    calls: int = 2,
    steps: int = 2,
    arguments: Mapping[str, Sequence[object]] = _NO_ARGUMENTS,
    invalid: bool = False,
    cut: bool = False,
    fails: bool = True,
) -> Alphabet:
    """What a model may do with the tools of a program, and what may come of it.

    In each of the first `steps` steps it gives a final answer or calls tools, up to `calls` of
    them in every mix; after these it gives a final answer. Arguments are those of `arguments`, by
    tool, else simple ones made from the tool's schema. With `invalid` it may also call the first
    tool with no JSON, and with `cut` end a reply with calls by its length. With `fails` a model
    call may fail in a way that can be tried again.

    Change what else may happen by `attrs.evolve` or by an `Alphabet` of your own.

    Raises:
        UsageError: a number is less than 1, or there are no arguments for a tool.
    """
    for name, number in (("calls", calls), ("steps", steps)):
        if number < 1:
            msg = f"alphabet_of: expected {name} of at least 1, got {number!r}"
            raise UsageError(msg)
    samples = samples_of(program, arguments)
    mixes = [
        mix
        for count in range(1, calls + 1)
        for mix in combinations_with_replacement(samples, count)
    ]
    if program.tool_choice == "none":
        mixes = []
    replies: list[tuple[ModelReply, ...]] = []
    for step in range(steps):
        said = [FINAL_REPLY, *(reply_with(*mix, step=step) for mix in mixes)]
        if invalid and samples:
            said.append(reply_with((samples[0][0], "{not JSON"), step=step))
        if cut and mixes:
            said.append(_ended(reply_with(*mixes[0], step=step), "length"))
        replies.append(tuple(said))
    return Alphabet(
        replies=(*replies, (FINAL_REPLY,)),
        failures=(_OVERLOADED,) if fails else (),
    )


def _ended(reply: ModelReply, reason: UnifiedFinishReason) -> ModelReply:
    return evolve(reply, finish_reason=FinishReason(reason))
