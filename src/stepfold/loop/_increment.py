"""Snapshots of a run that cost what happened since the last one, not what happened in all.

A state is its history and a little more. An increment is a state without the part of its history,
its steps and its replaced prompt that the snapshot before it holds, so a journal that keeps one at
each step grows with the run and never with its square. `restored` puts them together again:

    restored([increment_of(None, one), increment_of(one, two), increment_of(two, three)]) == three
"""

from collections.abc import Sequence
from typing import final

from attrs import evolve, frozen

from stepfold.loop._call_ids import with_call_ids
from stepfold.loop._state import LoopState
from stepfold.values import Message, StepResult, UsageError


@final
@frozen(order=False)
class Increment:
    """What a state has beyond an older one of its run.

    `state` lacks the first `messages` of the history and the first `steps`, and its replaced
    prompt if `keeps_base`: those are as they were in the older state. With both at 0 the whole
    state is here.
    """

    state: LoopState
    messages: int = 0
    steps: int = 0
    keeps_base: bool = False


def increment_of(older: LoopState | None, state: LoopState) -> Increment:
    """What a state has beyond an older state of the same run; all of it, if there is none."""
    if older is None:
        return Increment(state)
    old, new = older.transcript, state.transcript
    messages, steps = len(old.messages), len(old.steps)
    keeps_base = new.base is not None and new.base is old.base
    cut = evolve(
        new,
        messages=new.messages[messages:],
        steps=new.steps[steps:],
        base=None if keeps_base else new.base,
    )
    return Increment(evolve(state, transcript=cut), messages, steps, keeps_base)


def restored(increments: Sequence[Increment]) -> LoopState:
    """The state that the last of a run's increments was made of; they are given from the first on.

    Raises:
        UsageError: there are none, or the first lacks what was before it.
    """
    if not increments or increments[0].messages or increments[0].steps:
        raise UsageError("restored: expected the increments of a run from the first on")
    messages: list[Message] = []
    steps: list[StepResult] = []
    base: tuple[Message, ...] | None = None
    for increment in increments:
        cut = increment.state.transcript
        del messages[increment.messages :], steps[increment.steps :]
        messages += cut.messages
        steps += cut.steps
        base = base if increment.keeps_base else cut.base
    last = increments[-1].state
    whole = evolve(last.transcript, messages=tuple(messages), steps=tuple(steps), base=base)
    return with_call_ids(evolve(last, transcript=whole))
