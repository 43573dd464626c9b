"""`Run`: whole however it ended, and typed by the tools and the output of its program."""

import pickle
from collections.abc import AsyncIterator
from typing import final

import pytest
from attrs import frozen

from stepfold.agent import Agent, Run, RunFailed, approve, object_of
from stepfold.agent._run import failure_text
from stepfold.loop import Limits, RetryPolicy, is_step_count
from stepfold.shell import CancelHandle, tool
from stepfold.testing import ScriptedModel, VirtualClock, call, reply
from stepfold.values import (
    Blocked,
    Cancelled,
    Completed,
    Failed,
    Failure,
    ModelErrorReason,
    ModelWarning,
    NamedTool,
    NoOutput,
    Outcome,
    Stopped,
    Success,
    ToolChoiceViolated,
    UnpairedPrompt,
    Usage,
    UsageError,
    UserMessage,
)

DONE = reply("done")


@final
@frozen
class Report:
    city: str
    celsius: float


@final
@frozen
class NoSuchCity:
    city: str


@tool
def plain(city: str) -> Report:
    return Report(city, 1.0)


@tool
async def coroutine(city: str) -> Report:
    return Report(city, 2.0)


@tool
def outcome(city: str) -> Outcome[Report, NoSuchCity]:
    return Success(Report(city, 3.0)) if city == "Oslo" else Failure(NoSuchCity(city))


@tool
async def async_outcome(city: str) -> Outcome[Report, NoSuchCity]:
    return Success(Report(city, 4.0)) if city == "Oslo" else Failure(NoSuchCity(city))


@tool
async def items(city: str) -> AsyncIterator[Report]:
    yield Report(city, 0.0)
    yield Report(city, 5.0)


@tool
def anything(city: str) -> object:
    return {"city": [city]}


@tool(needs_approval=True)
async def pay(amount: int) -> int:
    return amount


# --- results ----------------------------------------------------------------------------------


async def test_results_are_typed_by_the_tool_that_gave_them() -> None:
    """All five shapes of returned types; failures are left out."""
    tools = (plain, coroutine, outcome, async_outcome, items, anything)
    calls = [call(one, {"city": city}) for one in tools for city in ("Oslo", "Atlantis")]
    model = ScriptedModel([reply(*calls), DONE])
    run = await Agent(model=model, tools=tools).generate("Go.")

    assert run.results_of(plain) == (Report("Oslo", 1.0), Report("Atlantis", 1.0))
    assert run.results_of(coroutine) == (Report("Oslo", 2.0), Report("Atlantis", 2.0))
    assert run.results_of(outcome) == (Report("Oslo", 3.0),)
    assert run.results_of(async_outcome) == (Report("Oslo", 4.0),)
    assert run.results_of(items) == (Report("Oslo", 5.0), Report("Atlantis", 5.0))
    assert run.results_of(anything) == ({"city": ["Oslo"]}, {"city": ["Atlantis"]})
    assert run.results_of(pay) == ()


async def test_results_of_other_runs_are_not_this_runs() -> None:
    """A history goes on; each run tells of its own steps, in order."""
    script = [reply(call(plain, {"city": "Oslo"})), reply(call(plain, {"city": "Rome"})), DONE]
    agent = Agent(model=ScriptedModel(script), tools=[plain])
    first = await agent.generate("Go.")
    second = await Agent(
        model=ScriptedModel([reply(call(plain, {"city": "Bonn"})), DONE]), tools=[plain]
    ).generate([*first.messages, UserMessage("And Bonn?")])

    assert [report.city for report in first.results_of(plain)] == ["Oslo", "Rome"]
    assert [report.city for report in second.results_of(plain)] == ["Bonn"]


async def test_results_that_came_late_count() -> None:
    """An approved call is settled after its step."""
    script = [reply(call(pay, {"amount": 5}), call(plain, {"city": "Oslo"})), DONE]
    agent = Agent(model=ScriptedModel(script), tools=[pay, plain])
    blocked = await agent.generate("Go.")
    answers = [approve(request) for request in blocked.open_approvals]
    run = await agent.answer(blocked, answers)
    last = await Agent(
        model=ScriptedModel(script), tools=[pay, plain], stop_when=is_step_count(1)
    ).answer(blocked, answers)

    assert blocked.results_of(pay) == ()
    assert run.results_of(pay) == (5,)
    assert last.results_of(pay) == (5,)
    assert isinstance(last.end, Stopped)


async def test_a_result_of_another_type_is_a_mistake() -> None:
    """A tool of the same name that returned something else."""

    @tool(name="plain")
    def other(city: str) -> int:
        return len(city)

    run = await Agent(
        model=ScriptedModel([reply(call(other, {"city": "Oslo"})), DONE]), tools=[other]
    ).generate("Go.")
    with pytest.raises(UsageError, match="stored result of plain does not fit its returned type"):
        run.results_of(plain)


async def test_results_are_those_of_a_tool() -> None:
    """A name or a plain function would have none, and nobody would notice."""
    run = await Agent(model=ScriptedModel([DONE])).generate("Go.")

    with pytest.raises(UsageError, match="results_of: expected a tool itself, got 'plain'"):
        run.results_of("plain")  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="results_of: expected a tool itself, got <built-in"):
        run.results_of(len)  # type: ignore[call-overload]


async def test_results_without_a_type_are_json() -> None:
    """A function that does not say what it returns gives what the history holds."""

    @tool
    def silent(city: str):  # type: ignore[no-untyped-def]
        return {"city": city}

    run = await Agent(
        model=ScriptedModel([reply(call(silent, {"city": "Oslo"})), DONE]), tools=[silent]
    ).generate("Go.")

    assert run.results_of(silent) == ({"city": "Oslo"},)


# --- what a run tells -------------------------------------------------------------------------


async def test_a_run_is_whole() -> None:
    """Steps, messages, usage, warnings, text, id and end."""
    warning = ModelWarning("unsupported", "top_k")
    first = reply("Hm.", call(plain, {"city": "Oslo"}), usage=(10, 5))
    second = type(first)(
        reply("done").content, reply("done").finish_reason, Usage(20, 7), warnings=(warning,)
    )
    run = await Agent(model=ScriptedModel([first, second]), tools=[plain]).generate(
        "Go.", run_id="r"
    )

    assert run.id == "r"
    assert run.text == "done"
    assert len(run.steps) == 2
    assert len(run.messages) == 4
    assert run.usage == Usage(30, 12)
    assert run.warnings == (warning,)
    assert run.end == Completed("done")
    assert run.output == Success("done")
    assert run.unwrap() == "done"


async def _ended(which: str) -> Run[str]:
    script = [reply(call(plain, {"city": "Oslo"})), DONE]
    match which:
        case "stopped":
            agent = Agent(model=ScriptedModel(script), tools=[plain], stop_when=is_step_count(1))
            return await agent.generate("Go.")
        case "limited":
            agent = Agent(model=ScriptedModel([DONE]), limits=Limits(steps=0))
            return await agent.generate("Go.")
        case "blocked":
            script = [reply(call(pay, {"amount": 1}))]
            return await Agent(model=ScriptedModel(script), tools=[pay]).generate("Go.")
        case _:
            handle = CancelHandle()
            handle("enough")
            return await Agent(model=ScriptedModel([DONE])).generate("Go.", cancel=handle)


@pytest.mark.parametrize(
    ("which", "kind", "text"),
    [
        ("stopped", Stopped, "the run has no output: it was stopped by is_step_count"),
        ("limited", Stopped, "the run has no output: it was stopped by limit-steps"),
        ("blocked", Blocked, "the run has no output: it is blocked on 1 open requests"),
        ("cancelled", Cancelled, "the run has no output: it was cancelled: enough"),
    ],
)
async def test_a_run_without_output_says_why(which: str, kind: type[object], text: str) -> None:
    """As a value, and raised where it is unwrapped."""
    run = await _ended(which)

    assert isinstance(run.end, kind)
    assert isinstance(run.output, Failure)
    assert run.output.failure().message == text
    with pytest.raises(RunFailed) as caught:
        run.unwrap()
    assert str(caught.value) == text
    assert caught.value.run is run
    assert caught.value.error is None


async def test_a_failed_run_is_raised_in_another_process_as_well() -> None:
    """The run comes along, as far as its output can be pickled; tracebacks show `stepfold`."""
    reason = ModelErrorReason("quota", "no money left")
    given = await Agent(model=ScriptedModel([reason])).try_generate("Go.")
    assert isinstance(given, Failure)
    failed = given.failure()
    copy: object = pickle.loads(pickle.dumps(failed))

    assert RunFailed.__module__ == "stepfold"
    assert isinstance(copy, RunFailed)
    assert (str(copy), copy.error) == (str(failed), reason)
    assert copy.run.state == failed.run.state


async def test_a_run_without_steps_has_no_text() -> None:
    """It is empty rather than wrong."""
    assert (await _ended("limited")).text == ""


async def test_a_failure_can_be_had_as_a_value() -> None:
    """`try_generate` gives what `generate` raises."""
    reason = ModelErrorReason("quota", "no money left", status=429)
    agent = Agent(model=ScriptedModel([reason]))
    given = await agent.try_generate("Go.")
    fine = await Agent(model=ScriptedModel([DONE])).try_generate("Go.")

    assert isinstance(given, Failure)
    failed = given.failure()
    assert isinstance(failed, RunFailed)
    assert str(failed) == "the model gave no reply: quota (429): no money left"
    assert failed.run.end == Failed(reason)
    assert failed.run.output == Failure(NoOutput("no money left"))
    with pytest.raises(RunFailed, match="no money left"):
        failed.run.unwrap()
    assert isinstance(fine, Success)
    assert fine.unwrap().text == "done"


def test_a_prompt_that_cannot_be_sent_is_told() -> None:
    """In words, like every other reason."""
    assert failure_text(UnpairedPrompt("x")) == "the prompt cannot be sent: x"


async def test_a_violated_choice_is_told() -> None:
    """The model called a tool although it was to call another."""
    agent = Agent(
        model=ScriptedModel([DONE]), tools=[plain, coroutine], tool_choice=NamedTool("plain")
    )
    with pytest.raises(RunFailed, match="the tool choice was not honoured: expected a call of pl"):
        await agent.generate("Go.")
    given = await agent.try_generate("Go.")

    assert isinstance(given, Failure)
    assert isinstance(given.failure().error, ToolChoiceViolated)


async def test_a_history_that_cannot_be_sent_is_repaired() -> None:
    """A run that failed, and whose messages are sent again, goes on."""
    broken = ScriptedModel([reply(call("nobody")), ModelErrorReason("quota", "none left")])
    agent = Agent(model=broken, tools=[plain], retry=RetryPolicy(max_retries=0))
    given = await agent.try_generate("Go.", clock=VirtualClock())
    assert isinstance(given, Failure)
    again = await Agent(model=ScriptedModel([DONE]), tools=[plain]).generate(
        [*given.failure().run.messages, UserMessage("Again.")]
    )

    assert again.end == Completed("done")


async def test_the_output_of_a_wrap_up_counts() -> None:
    """A run that was stopped may have what was promised."""
    agent = Agent(
        model=ScriptedModel(
            [reply(call(plain, {"city": "Oslo"})), reply('{"city":"Oslo","celsius":1.0}')]
        ),
        tools=[plain],
        output=object_of(Report),
        limits=Limits(steps=2, wrap_up_tokens=100),
    )
    run = await agent.generate("Go.")

    assert isinstance(run.end, Stopped)
    assert run.output == Success(Report("Oslo", 1.0))
    assert run.unwrap() == Report("Oslo", 1.0)
