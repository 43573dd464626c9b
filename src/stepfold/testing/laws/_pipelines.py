"""Laws of pipelines: how they compose, and what holds of every run whatever comes first."""

from collections.abc import Callable
from typing import Never, TypeVar

from stepfold.pipeline import (
    Finished,
    PipelineState,
    Stage,
    Strand,
    Transition,
    Wiring,
    begin,
    carried_out,
    identity,
    pending,
    pure,
    step,
)
from stepfold.pipeline.commands import CancelStage, Command, Pause, RunStage
from stepfold.pipeline.events import Event, StageStopped, Waited
from stepfold.testing.laws._equal import require, require_equal
from stepfold.values import Failure, Outcome

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
E = TypeVar("E")
F = TypeVar("F")
G = TypeVar("G")


async def stages_compose(
    first: Stage[A, B, E], second: Stage[B, C, F], third: Stage[C, D, G], given: A
) -> None:
    """Law 17: `then` is associative and `identity()` its unit, in value and in what comes of it."""
    left, right = (first >> second) >> third, first >> (second >> third)
    require_equal(left, right, "then: the brackets change the pipeline")
    require(hash(left) == hash(right), "then: equal pipelines have two hashes")
    require_equal(await left.run(given), await right.run(given), "then is not associative")
    outcome = await first.run(given)
    unit: Stage[A, A, Never] = identity()
    before, after = unit.then(first), first.then(identity())
    require_equal(before, first, "identity() before a stage changes it")
    require_equal(after, first, "identity() after a stage changes it")
    require_equal(await before.run(given), outcome, "identity() before a stage changes its outcome")
    require_equal(await after.run(given), outcome, "identity() after a stage changes its outcome")


async def mapping_fuses(
    stage: Stage[A, B, E], first: Callable[[B], C], second: Callable[[C], D], given: A
) -> None:
    """Law 17: mapping one function after the other is mapping both at once."""

    def both(value: B) -> D:
        return second(first(value))

    apart, at_once = stage.map(first).map(second), stage.map(both)
    require_equal(await apart.run(given), await at_once.run(given), "map does not fuse")
    lifted = stage.then(pure(first)).then(pure(second))
    require_equal(await lifted.run(given), await apart.run(given), "map differs from then(pure)")


async def failures_skip(stage: Stage[A, B, E], given: A) -> None:
    """Law 17: after a failure nothing runs that is not there to catch it."""
    reached: list[object] = []
    outcome = await stage.run(given)
    following = stage.tap(reached.append).map(lambda value: value)
    require_equal(await following.run(given), outcome, "what follows changed the outcome")
    require(
        bool(reached) is not isinstance(outcome, Failure),
        f"after {outcome!r:.200} a stage ran {len(reached)} times",
    )


def pipeline_keeps_its_laws(
    stage: Stage[A, B, E], given: A, choose: Callable[[int], int]
) -> Outcome[object, object]:
    """Laws 1, 2, 3, 8 and 15 for a pipeline whose functions do not wait; gives its outcome.

    It is driven by hand: `choose(n)` says which of `n` open commands is answered next, and
    whether a command that was to be cancelled gets its answer in before (1) or not (0).
    """
    wiring = stage.wiring
    transition = begin(wiring, given, run="run", seed=0, at=0)
    require_equal(
        begin(wiring, given, run="run", seed=0, at=0), transition, "begin is not deterministic"
    )
    open_commands: list[Command] = []
    stopping: set[object] = set()
    seen: list[Event] = []
    while transition.state.end is None:
        for command in transition.commands:
            if isinstance(command, CancelStage):
                stopping.add(command.key)
            else:
                open_commands.append(command)
        _require_pending(wiring, transition.state, open_commands)
        _require_bounds(wiring, transition.state)
        require(open_commands, "the pipeline waits for nothing, and has not ended")
        command = open_commands.pop(choose(len(open_commands)))
        now = len(seen) + 1
        is_stopped = command.key in stopping and not choose(2)
        event = StageStopped(command.key, now) if is_stopped else _answer(wiring, command, now)
        transition = _stepped(wiring, transition.state, event, seen)
        seen.append(event)
    require(not open_commands, f"the pipeline has ended, and {open_commands} still run")
    for event in seen:
        _require_unchanged(wiring, transition.state, event, "after the end an event changes it")
    end = transition.state.end
    outcome = end.outcome if isinstance(end, Finished) else None
    if outcome is None:
        raise AssertionError(f"a pipeline of functions that never raise ended in {end!r:.500}")
    return outcome


def _answer(wiring: Wiring, command: Command, now: int) -> Event:
    if isinstance(command, RunStage):
        return carried_out(wiring, command, now)
    return Waited(command.key, now)


def _stepped(wiring: Wiring, state: PipelineState, event: Event, seen: list[Event]) -> Transition:
    """The transition, twice; and again for an event of before, which changes nothing."""
    transition = step(wiring, state, event)
    require_equal(step(wiring, state, event), transition, "step is not deterministic")
    quiet = step(wiring, state, event, tells=False)
    require_equal(quiet.state, transition.state, "without notes another state is reached")
    require_equal(quiet.commands, transition.commands, "without notes other commands are issued")
    if seen:
        _require_unchanged(wiring, state, seen[-1], "an event that came again changes the state")
    return transition


def _require_unchanged(wiring: Wiring, state: PipelineState, event: Event, law: str) -> None:
    transition = step(wiring, state, event)
    require(transition.state is state, law)
    require(not transition.commands and not transition.notes, law)


def _require_bounds(wiring: Wiring, state: PipelineState) -> None:
    """No more items are at work than `map_each` allows."""
    todo: list[object] = [state.root]
    while todo:
        strand = todo.pop()
        if isinstance(strand, Strand) and strand.fan is not None:
            todo.extend(strand.fan.branches)
            bound = wiring.code[strand.at].bound
            running = strand.fan.running
            require(not bound or running <= bound, f"{running} at work, and at most {bound} may be")


def _require_pending(wiring: Wiring, state: PipelineState, unanswered: list[Command]) -> None:
    """What is pending is what was issued and not answered."""
    found = pending(wiring, state)
    issued = {command.key: command for command in unanswered}
    require_equal(len(found), len(unanswered), "pending is not what is in flight")
    for command in found:
        if isinstance(command, RunStage | Pause):
            require_equal(command, issued.get(command.key), "pending is not what was issued")
