"""What observers are told is the run, in order, and nothing else."""

from collections.abc import Sequence

from stepfold.loop import LoopState, Program, step
from stepfold.loop.commands import CallKey, ModelCallKey
from stepfold.shell import (
    EventHappened,
    ModelCallEnded,
    ModelCallStarted,
    Observation,
    RunTakenUp,
    ToolExecutionEnded,
    ToolExecutionStarted,
)
from stepfold.testing.laws._equal import require, require_equal


def observations_are_the_run(observations: Sequence[Observation], state: LoopState) -> None:
    """Law: an observer of a run is told all of it, once and in order.

    Folding the observed events leads to the state that the run reached; what ends has started,
    and its end is told right before the event that it is. `observations` are those of one driver
    from the beginning, or from where a run at rest was taken up; `state` is where it is now.

    Raises:
        AssertionError: it does not hold.
    """
    first = observations[0] if observations else None
    if not isinstance(first, RunTakenUp):
        msg = f"the first observation is RunTakenUp, not {first!r:.200}"
        raise AssertionError(msg)  # noqa: TRY004 - a law that does not hold
    program, here = first.program, first.transition.state
    started: dict[CallKey | ModelCallKey, ModelCallStarted | ToolExecutionStarted] = {}
    ended: ModelCallEnded | ToolExecutionEnded | None = None
    for seen in observations[1:]:
        require_equal(seen.run, first.run, "all observations of a run name it")
        require(ended is None or isinstance(seen, EventHappened), "an end is told with its event")
        match seen:
            case ModelCallStarted(_, key) | ToolExecutionStarted(_, key):
                started[key] = seen
            case ModelCallEnded() | ToolExecutionEnded():
                _ended_what_started(seen, started)
                ended = seen
            case EventHappened():
                require(ended is None or ended.event is seen.event, "an end is told of its event")
                ended = None
                here = _next(program, here, seen)
            case _:
                msg = f"a run has no observation like {seen!r:.200}"
                raise AssertionError(msg)
    require_equal(here, state, "folding the observed events leads to the state of the run")


def _next(program: Program, here: LoopState, seen: EventHappened) -> LoopState:
    transition = step(program, here, seen.event)
    require_equal(transition, seen.transition, "an observed transition is that of its event")
    return transition.state


def _ended_what_started(
    ended: ModelCallEnded | ToolExecutionEnded,
    started: dict[CallKey | ModelCallKey, ModelCallStarted | ToolExecutionStarted],
) -> None:
    begun = started.pop(ended.key, None)
    match ended, begun:
        case ModelCallEnded(_, _, request), ModelCallStarted():
            require_equal(request, begun.request, "a model call ends with its request")
        case ToolExecutionEnded(_, _, call, context), ToolExecutionStarted():
            require_equal((call, context), (begun.call, begun.context), "a tool ends with its call")
        case _:
            raise AssertionError(f"what ends has started: {ended!r:.200}")
