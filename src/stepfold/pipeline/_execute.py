"""Running a pipeline in memory."""

import secrets
from collections.abc import Mapping, Sequence

from typing_extensions import TypedDict

from stepfold.loop import Limits
from stepfold.loop.commands import Grant
from stepfold.pipeline._checks import require_made, require_seconds
from stepfold.pipeline._driver import Driver
from stepfold.pipeline._ending import Ending
from stepfold.pipeline._ends import Crashed, Finished
from stepfold.pipeline._nodes import Node
from stepfold.pipeline._run import PipelineCancelled, PipelineRun, StageCrashed
from stepfold.pipeline._setting import Setting
from stepfold.pipeline._step import begin
from stepfold.pipeline._wiring import Wiring
from stepfold.pipeline.notes import Note, Tell
from stepfold.ports import Clock
from stepfold.shell import CancelHandle, ChildRuns, SystemClock
from stepfold.values import Cancelled, Outcome, Price, UsageError


class StartOptions(TypedDict, total=False):
    """What belongs to one run of a pipeline beside its name; see `PipelineOptions`."""

    observers: Sequence[Tell]
    parts: bool
    limits: Limits | None
    prices: Mapping[str, Price] | None
    clock: Clock | None
    seed: int | None
    cancel: CancelHandle | None
    timeout: float | None


class PipelineOptions(StartOptions, total=False):
    """What belongs to one run of a pipeline.

    `observers` are told each note, in order, before the run goes on; what they raise ends it. With
    `parts`, agents are asked for streams, and each part of theirs is told too (`AgentSaid`); an
    agent that is taken up from a journal tells none.
    `clock` is where the time of events comes from. `run_id` names the run, and `seed` decides
    the jitter of pauses; both are new by default. `limits` are what all agents within may spend
    together of tokens, cost and tool calls: each takes what it may spend when it begins, and puts
    back what it left, so side by side the first takes all, unless agents have limits of their own.
    `prices` says what tokens cost, by ids of models, beside what the agents know. In a journal,
    limits and prices are kept, and what was spent counts after any number of crashes.

    `cancel` is a handle by which the run can be ended from beside it: what is in flight is
    cancelled and awaited, and the run ends in `Cancelled(reason)`. With `after_step=True` the
    stages in flight come to their end first, and no other begins. `timeout` does the same after
    so many seconds of this call; time in which a suspended run rests does not count. A sync stage
    cannot be interrupted.
    """

    run_id: str | None


_CLOCK = SystemClock()


async def run_in_memory(
    node: Node, wiring: Wiring, given: object, options: PipelineOptions
) -> Outcome[object, object]:
    """Run a pipeline to its end.

    Raises:
        StageCrashed: a stage raised.
        PipelineCancelled: it was ended from outside, or took too long.
        UsageError: an option is wrong, or the pipeline waits for inputs.
    """
    require_known("run", options)
    for name in wiring.inputs:
        raise UsageError(
            f"run: the pipeline waits for the input {name!r}, which may take longer than this "
            "process lives: begin it by start(…, journal=…)"
        )
    clock, run_id, seed = clock_of(options), options.get("run_id"), options.get("seed")
    run_id = f"run-{secrets.token_hex(8)}" if run_id is None else run_id
    seed = secrets.randbits(63) if seed is None else seed
    tell = telling(options.get("observers", ()))
    first = begin(wiring, given, run=run_id, seed=seed, at=clock.now(), tells=tell is not None)
    children = children_of(run_id, options.get("limits"), options.get("prices") or {})
    parts = options.get("parts", False)
    setting = Setting(clock, tell, children, ending_of(options, clock), parts=parts)
    driver = Driver(wiring, first, setting)
    await driver.run()
    end = driver.state.end
    match end:
        case Finished(outcome):
            return outcome
        case Crashed(_, exception, message):
            crashed = StageCrashed(PipelineRun(run_id, end=end))
            raise crashed from driver.cause_of(exception, message)
        case Cancelled():
            raise PipelineCancelled(PipelineRun(run_id, end=end))
        case _:
            raise AssertionError(driver.state)


def require_known(where: str, options: StartOptions) -> None:
    """Refuse an option that is none.

    Raises:
        UsageError: there is one.
    """
    for option in options.keys() - PipelineOptions.__annotations__.keys():
        known = ", ".join(sorted(PipelineOptions.__annotations__))
        raise UsageError(f"{where}: expected one of {known}, got the option {option!r}")


def clock_of(options: StartOptions) -> Clock:
    """Where the time of events comes from."""
    clock = options.get("clock")
    return _CLOCK if clock is None else clock


def ending_of(options: StartOptions, clock: Clock) -> Ending | None:
    """What may end the run before its time, if anything may.

    Raises:
        UsageError: it is no handle, or no time.
    """
    cancel, seconds = options.get("cancel"), options.get("timeout")
    if cancel is None and seconds is None:
        return None
    if cancel is not None:
        require_made("cancel", cancel, CancelHandle, "a CancelHandle")
    if seconds is not None:
        require_seconds("timeout", seconds)
    return Ending(cancel, seconds, clock)


def children_of(
    run_id: str, limits: Limits | None, prices: Mapping[str, Price]
) -> ChildRuns | None:
    """What the agents within may spend, if there is a limit.

    Raises:
        UsageError: it is a limit that agents cannot share.
    """
    if limits is None:
        return None
    if limits.steps is not None or limits.calls_of or limits.wrap_up_tokens is not None:
        raise UsageError(
            "run, limits: expected tokens, cost or tool_calls, which agents can share, got "
            f"{limits!r}: give steps, calls_of and wrap_up_tokens to the agents"
        )
    grant = Grant(limits.tokens, limits.cost, limits.tool_calls)
    return ChildRuns(run_id, limits, grant, prices)


def telling(observers: Sequence[Tell]) -> Tell | None:
    """One function that tells all observers."""
    if not observers:
        return None
    if len(observers) == 1:
        return observers[0]

    def tell(note: Note) -> None:
        for observer in observers:
            observer(note)

    return tell
