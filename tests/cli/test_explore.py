import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli._desk import Command

AGENTS = '''
import stepfold as sf
from stepfold.testing import ScriptedModel, Trace
from stepfold.loop.events import ToolStarted


@sf.tool(needs_approval=True)
def pay(to: str, cents: int) -> str:
    """Pay somebody."""
    raise SystemExit("a tool was run")


agent = sf.Agent(model=ScriptedModel([]), tools=[pay])
program = agent.program
number = 3


def never_pays(trace: Trace) -> None:
    started = [moment for moment in trace.moments if isinstance(moment.event, ToolStarted)]
    if started:
        raise AssertionError("somebody was paid")
'''


@pytest.fixture(autouse=True)
def agents(desk: Path) -> Iterator[None]:
    """A module of agents beside the user, in the folder where the command runs."""
    (desk / "agents.py").write_text(AGENTS, "utf-8")
    yield
    sys.modules.pop("agents", None)


@pytest.mark.parametrize("target", ["agents:agent", "agents:program"])
def test_what_was_seen_is_said_and_no_tool_is_run(stepfold: Command, target: str) -> None:
    done = stepfold("explore", target, "--calls", "1", "--steps", "1")

    assert done.code == 0
    assert done.out.startswith("lawful: exhaustive: ")
    assert " Blocked, " in done.out


def test_a_bound_that_was_hit_has_an_exit_code_of_its_own(stepfold: Command) -> None:
    done = stepfold("explore", "agents:agent", "--max-states", "5")

    assert done.code == 3
    assert done.out.startswith("lawful: not exhaustive (max_states=5): ")
    assert "What lies beyond the bound was not seen" in done.out


def test_a_broken_law_is_shown_with_the_way_there(stepfold: Command) -> None:
    done = stepfold("explore", "agents:agent", "--law", "agents:never_pays", "--steps", "1")

    assert done.code == 1
    assert "error: somebody was paid" in done.err
    assert "after 3 events, and no fewer lead there:" in done.err
    assert "3. ToolStarted: call 0 of step 0" in done.err


def test_the_graph_is_written(stepfold: Command) -> None:
    done = stepfold("explore", "agents:agent", "--steps", "1", "--graph", "runs.mmd")

    assert done.code == 0
    assert Path("runs.mmd").read_text().startswith("stateDiagram-v2\n    s0: step 0, Calling\n")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("agents:number",), "expected an Agent or a Program, got an object of the type int"),
        (("agents:nothing",), "the module agents has no 'nothing'"),
        (("nowhere:agent",), "explore: there is no module 'nowhere'"),
        (("agents:agent", "--law", "agents:number"), "--law agents:number: expected a function"),
        (
            ("agents:agent", "--max-states", "1", "--graph", "no/such/folder.mmd"),
            "cannot write no/such/folder.mmd: No such file",
        ),
    ],
)
def test_a_mistake_is_told(stepfold: Command, arguments: tuple[str, ...], told: str) -> None:
    done = stepfold("explore", *arguments)

    assert done.code == 2
    assert told in done.err
