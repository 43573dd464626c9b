"""Approvals: asked for exactly these arguments, answered live or in the history."""

import pytest
from attrs import evolve

from stepfold.agent import Agent, Answer, Run, RunFailed, approve, deny
from stepfold.loop import begin, convert_to_model_prompt, replay, step
from stepfold.loop.commands import ModelCallKey
from stepfold.loop.events import ModelReplied
from stepfold.shell import CancelHandle, MemoryJournal, tool
from stepfold.testing import Scripted, ScriptedModel, VirtualClock, call, reply
from stepfold.values import (
    ApprovalResponse,
    Blocked,
    Cancelled,
    Completed,
    DeniedOutput,
    JsonOutput,
    JsonText,
    ModelErrorReason,
    OpenApproval,
    OpenCall,
    Success,
    ToolMessage,
    ToolResult,
    UserMessage,
)

DONE = reply("done")


@tool(needs_approval=True)
async def pay(amount: int) -> int:
    return amount


@tool
async def look(place: str) -> str:
    return place


def agent_of(*script: Scripted) -> Agent:
    return Agent(model=ScriptedModel(list(script)), tools=[pay, look])


TWO = reply(
    call(pay, {"amount": 1}, id="a"),
    call(look, {"place": "here"}, id="b"),
    call(pay, {"amount": 2}, id="c"),
)


def open_in(run: Run[object]) -> tuple[OpenApproval, ...]:
    assert isinstance(run.end, Blocked)
    return run.open_approvals


def outputs(run: Run[object]) -> dict[str, object]:
    return {
        part.tool_call_id: part.output
        for message in run.messages
        if isinstance(message, ToolMessage)
        for part in message.content
        if isinstance(part, ToolResult)
    }


async def test_what_needs_no_approval_runs_at_once() -> None:
    """The run rests with the others open, and keeps the given arguments."""
    run = await agent_of(TWO, DONE).generate("Go.")

    assert [request.call.input for request in open_in(run)] == ['{"amount":1}', '{"amount":2}']
    assert run.results_of(look) == ("here",)
    assert run.results_of(pay) == ()


async def test_what_a_client_owes_is_no_approval() -> None:
    """It is in `Blocked.open`, and not among what people are asked."""
    agent = agent_of()
    tools = {"pay": pay.spec, "look": evolve(look.spec, executes=False)}
    program = evolve(agent.program, tools=tools)
    first = begin(program, "Go.", run="r", seed=0, at=0)
    replied = ModelReplied(ModelCallKey(0, 0), TWO, 0, started=0)
    run = agent.run_of(step(program, first.state, replied).state)

    assert isinstance(run.end, Blocked)
    assert [type(request) for request in run.end.open] == [OpenApproval, OpenCall, OpenApproval]
    assert run.open_approvals == (run.end.open[0], run.end.open[2])


async def test_approved_and_denied() -> None:
    """The approved call runs, the denied one is told why; the given run is unchanged."""
    agent = agent_of(TWO, DONE)
    blocked = await agent.generate("Go.")
    first, second = open_in(blocked)
    run = await agent.answer(blocked, [approve(first), deny(second, reason="too much")])

    assert run.end == Completed("done")
    assert run.results_of(pay) == (1,)
    assert outputs(run)["a"] == JsonOutput(JsonText("1"))
    assert outputs(run)["c"] == DeniedOutput("too much")
    assert isinstance(blocked.end, Blocked)
    assert blocked.messages == run.messages[: len(blocked.messages)]


async def test_some_of_them() -> None:
    """While others stay open the run stays blocked, and nothing has run."""
    agent = agent_of(TWO, DONE)
    blocked = await agent.generate("Go.")
    first, second = open_in(blocked)
    half = await agent.answer(blocked, [approve(first)])
    whole = await agent.answer(half, [approve(second)])

    assert open_in(half) == (second,)
    assert whole.open_approvals == ()
    assert half.results_of(pay) == ()
    assert whole.end == Completed("done")
    assert whole.results_of(pay) == (1, 2)


async def test_an_answer_counts_once() -> None:
    """The first one; a second answer to the same request changes nothing."""
    agent = agent_of(TWO, DONE)
    blocked = await agent.generate("Go.")
    first, second = open_in(blocked)
    run = await agent.answer(blocked, [deny(first), approve(first), approve(second)])
    again = await agent.answer(run, [approve(first)])

    assert run.results_of(pay) == (2,)
    assert again.state == run.state


async def test_an_answer_for_other_arguments_is_none() -> None:
    """The digest binds it."""
    agent = agent_of(TWO, DONE)
    blocked = await agent.generate("Go.")
    first, second = open_in(blocked)
    forged = Answer(evolve(first, digest=JsonText('{"amount":1000}').digest()), approved=True)
    run = await agent.answer(blocked, [forged, approve(second)])

    assert isinstance(run.end, Blocked)
    assert run.results_of(pay) == ()


async def test_answers_are_journaled() -> None:
    """One journal holds the run from its beginning to its end."""
    journal = MemoryJournal()
    agent = agent_of(TWO, DONE)
    blocked = await agent.generate("Go.", journal=journal, clock=VirtualClock())
    run = await agent.answer(
        blocked,
        [approve(request) for request in open_in(blocked)],
        journal=journal,
        clock=VirtualClock(),
    )

    assert replay(agent.program, journal.header, journal.entries) == Success(run.state)


async def test_a_failure_after_answers_is_raised() -> None:
    """As by `generate`."""
    agent = agent_of(TWO, ModelErrorReason("quota", "no money left"))
    blocked = await agent.generate("Go.")
    with pytest.raises(RunFailed, match="no money left"):
        await agent.answer(blocked, [approve(request) for request in open_in(blocked)])


async def test_answering_can_be_cancelled() -> None:
    """The handle belongs to this part of the run."""
    agent = agent_of(TWO, DONE)
    blocked = await agent.generate("Go.")
    handle = CancelHandle()
    handle("enough")
    run = await agent.answer(blocked, [approve(one) for one in open_in(blocked)], cancel=handle)

    assert run.end == Cancelled("enough")


@pytest.mark.parametrize("agreed", [(True, True), (True, False), (False, True), (False, False)])
async def test_live_and_in_the_history_lead_to_the_same_prompt(agreed: tuple[bool, bool]) -> None:
    """Law 19."""
    live = ScriptedModel([TWO, DONE])
    agent = Agent(model=live, tools=[pay, look])
    blocked = await agent.generate("Go.")
    requests = open_in(blocked)
    answers = list(zip(requests, agreed, strict=True))
    run = await agent.answer(
        blocked, [approve(one) if yes else deny(one, reason="no") for one, yes in answers]
    )

    later = ScriptedModel([DONE])
    responses = ToolMessage(
        [
            ApprovalResponse(one.approval_id, yes, reason=None if yes else "no")
            for one, yes in answers
        ]
    )
    other = await Agent(model=later, tools=[pay, look]).generate([*blocked.messages, responses])

    assert run.end == other.end == Completed("done")
    assert convert_to_model_prompt(live.requests[-1].messages) == convert_to_model_prompt(
        later.requests[-1].messages
    )
    assert run.results_of(pay) == other.results_of(pay)


async def test_a_conversation_that_went_on_closes_the_request() -> None:
    """Nobody will answer it any more."""
    blocked = await agent_of(TWO, DONE).generate("Go.")
    run = await agent_of(DONE).generate([*blocked.messages, UserMessage("Never mind.")])

    assert run.end == Completed("done")
    assert run.results_of(pay) == ()
