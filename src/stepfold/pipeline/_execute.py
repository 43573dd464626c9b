"""Running a pipeline in memory."""

import secrets
from collections.abc import Mapping, Sequence

from typing_extensions import TypedDict

from stepfold.loop import Limits
from stepfold.loop.commands import Grant
from stepfold.pipeline._driver import Driver
from stepfold.pipeline._ends import Crashed, Finished
from stepfold.pipeline._nodes import Node
from stepfold.pipeline._run import PipelineRun, StageCrashed
from stepfold.pipeline._step import begin
from stepfold.pipeline._wiring import Wiring
from stepfold.pipeline.notes import Note, Tell
from stepfold.ports import Clock
from stepfold.shell import ChildRuns, SystemClock
from stepfold.values import Outcome, Price, UsageError


class StartOptions(TypedDict, total=False):
    """What belongs to one run of a pipeline beside its name; see `PipelineOptions`."""

    observers: Sequence[Tell]
    limits: Limits | None
    prices: Mapping[str, Price] | None
    clock: Clock | None
    seed: int | None


class PipelineOptions(StartOptions, total=False):
    """What belongs to one run of a pipeline.

    `observers` are told each note, in order, before the run goes on; what they raise ends it.
    `clock` is where the time of events comes from. `run_id` names the run, and `seed` decides
    the jitter of pauses; both are new by default. `limits` are what all agents within may spend
    together of tokens, cost and tool calls: each takes what it may spend when it begins, and puts
    back what it left, so side by side the first takes all, unless agents have limits of their own.
    `prices` says what tokens cost, by ids of models, beside what the agents know.
    """

    run_id: str | None


_CLOCK = SystemClock()


async def run_in_memory(
    node: Node, wiring: Wiring, given: object, options: PipelineOptions
) -> Outcome[object, object]:
    """Run a pipeline to its end.

    Raises:
        StageCrashed: a stage raised.
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
    first = begin(wiring, given, run=run_id, seed=seed, at=clock.now())
    children = children_of(run_id, options)
    driver = Driver(wiring, first, clock, telling(options.get("observers", ())), children)
    await driver.run()
    end = driver.state.end
    if isinstance(end, Finished):
        return end.outcome
    if end is None:
        raise AssertionError(driver.state)
    crashed = StageCrashed(PipelineRun(run_id, end=end))
    raise crashed from (
        driver.cause_of(end.exception, end.message) if isinstance(end, Crashed) else None
    )


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


def children_of(run_id: str, options: StartOptions) -> ChildRuns | None:
    """What the agents within may spend, if there is a limit."""
    limits = options.get("limits")
    if limits is None:
        return None
    if limits.steps is not None or limits.calls_of or limits.wrap_up_tokens is not None:
        raise UsageError(
            "run, limits: expected tokens, cost or tool_calls, which agents can share, got "
            f"{limits!r}: give steps, calls_of and wrap_up_tokens to the agents"
        )
    grant = Grant(limits.tokens, limits.cost, limits.tool_calls)
    return ChildRuns(run_id, limits, grant, options.get("prices") or {})


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
