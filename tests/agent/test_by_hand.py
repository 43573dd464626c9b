"""An agent driven by hand: its program, what the program's names stand for, and the run."""

from typing import final

import pytest
from attrs import frozen

from stepfold.agent import Agent, object_of
from stepfold.loop import begin
from stepfold.shell import MemoryJournal, ToolContext, drive_sync, tool
from stepfold.testing import ScriptedModel, VirtualClock, call, reply
from stepfold.values import Completed, UsageError


@final
@frozen
class Deps:
    city: str


@final
@frozen
class Report:
    city: str


@tool
def where(context: ToolContext[Deps]) -> str:
    return context.deps.city


SCRIPT = [reply(call(where)), reply('{"city":"Oslo"}')]


def agent_of() -> Agent[Deps, Report]:
    return Agent(
        model=ScriptedModel(SCRIPT),
        deps_type=Deps,
        tools=[where],
        output=object_of(Report),
        concurrency=3,
    )


def test_it_drives_without_naming_anything_twice() -> None:
    """The run is the one that the agent itself comes to, and as typed."""
    agent = agent_of()
    clock = VirtualClock()
    first = begin(agent.program, "Go.", run="r", seed=7, at=clock.now())
    runtime = agent.runtime(deps=Deps("Oslo"), clock=clock)
    run = agent.run_of(drive_sync(agent.program, first, runtime))
    same = agent_of().generate_sync(
        "Go.", deps=Deps("Oslo"), run_id="r", seed=7, clock=VirtualClock()
    )

    assert run.end == Completed(Report("Oslo"))
    assert run.results_of(where) == ("Oslo",)
    assert run.state == same.state


def test_a_runtime_is_what_the_agent_was_given() -> None:
    """Its models and tools under their names, the deps, and how much may be at work at once."""
    deps, clock, journal = Deps("Oslo"), VirtualClock(), MemoryJournal()
    runtime = agent_of().runtime(deps=deps, clock=clock, journal=journal)

    assert list(runtime.models) == ["scripted/model"]
    assert dict(runtime.tools) == {"where": where}
    assert (runtime.deps, runtime.clock, runtime.journal) == (deps, clock, journal)
    assert runtime.concurrency == 3


def test_deps_are_not_forgotten() -> None:
    """Type checkers say so too."""
    with pytest.raises(UsageError, match="deps: expected Deps, got nothing: give deps=…"):
        agent_of().runtime()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]


def test_a_run_that_goes_on_is_none_yet() -> None:
    """It would look like one that is blocked."""
    agent = agent_of()
    first = begin(agent.program, "Go.", run="r", seed=7, at=0)

    with pytest.raises(UsageError, match="at rest or at its end, got one in Calling: `drive` it"):
        agent.run_of(first.state)
