"""What law 14 says of a run whose workers were killed, whatever has kept it."""

from collections.abc import Set as AbstractSet
from pathlib import Path

import stepfold as sf
from stepfold.testing import laws
from tests.kill.program import started_in


def faults_of(
    agent: sf.Agent,
    undisturbed: sf.LoopState,
    state: sf.LoopState,
    in_flight: AbstractSet[str],
    world: Path,
) -> list[str]:
    """Compare a run with the one that nobody disturbed; `in_flight` had started at a kill."""
    faults: list[str] = []
    run = agent.run_of(state)
    if not isinstance(run.end, sf.Completed):
        faults.append(f"the run ended in {run.end}")
    interrupted = {
        error.tool_call_id
        for step in run.steps
        for error in step.tool_errors
        if error.kind == "interrupted"
    }
    if interrupted != in_flight:
        told = f"{sorted(interrupted)}, in flight at a kill: {sorted(in_flight)}"
        faults.append(f"closed as interrupted: {told}")
    try:
        laws.resumed_run_is_the_same(undisturbed, state, frozenset(interrupted))
    except AssertionError as error:
        faults.append(str(error)[:500])
    started = started_in(world)
    booked = [key for name, key in started if name == "book"]
    twice = sorted({key for key in booked if booked.count(key) > 1})
    if twice:
        faults.append(f"started twice: {twice}")
    # One whose start was stored and that a kill kept from starting is closed as well.
    never = _calls_of(undisturbed) - {(name, _place(key)) for name, key in started}
    if any(name == "look" for name, _ in never) or len(never) > len(interrupted):
        faults.append(f"never started: {sorted(never)}")
    return faults


def _place(key: str) -> str:
    return key.partition("/")[2]


def _calls_of(state: sf.LoopState) -> set[tuple[str, str]]:
    return {
        (call.tool_name, f"{step.step}/{index}")
        for step in state.steps
        for index, call in enumerate(step.tool_calls)
    }
