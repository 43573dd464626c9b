"""Client tools: declared here, run by somebody else, answered live or in the history."""

import re
from typing import final

import pytest
from attrs import evolve, field, frozen

from stepfold.agent import Agent, Run, approve, deny, tool_error, tool_output
from stepfold.loop import convert_to_model_prompt, replay
from stepfold.shell import MemoryJournal, ToolContext, client_tool, tool
from stepfold.testing import Scripted, ScriptedModel, VirtualClock, call, reply
from stepfold.values import (
    Blocked,
    Completed,
    ContentOutput,
    ErrorTextOutput,
    File,
    FileBytes,
    IllegalEvent,
    JsonOutput,
    JsonText,
    OpenApproval,
    OpenCall,
    Success,
    TextOutput,
    ToolMessage,
    ToolResult,
    UsageError,
    UserMessage,
)

DONE = reply("done")


@final
@frozen
class Place:
    latitude: float
    longitude: float = field(validator=lambda _, __, value: _not_beyond(value))


def _not_beyond(longitude: float) -> None:
    if abs(longitude) > 180:
        raise ValueError(longitude)


@client_tool
def confirm(question: str) -> bool:
    """Ask the person in front of the screen.

    Args:
        question: In one sentence.
    """
    raise NotImplementedError


@client_tool(needs_approval=True, name="where")
async def locate() -> Place:
    """Ask the device where it is."""
    raise NotImplementedError


@client_tool
def pick(options: list[str]):  # type: ignore[no-untyped-def]  # whatever the client gives
    """Let the person pick."""


@tool
async def look(place: str) -> str:
    return place


@tool(needs_approval=True)
async def pay(amount: int) -> int:
    return amount


MIXED = reply(
    call("confirm", {"question": "Sure?"}, id="a"),
    call(look, {"place": "here"}, id="b"),
    call(pay, {"amount": 1}, id="c"),
    call("confirm", {"question": "Really?"}, id="d"),
)


def agent_of(*script: Scripted) -> Agent:
    return Agent(model=ScriptedModel(list(script)), tools=[confirm, locate, pick, look, pay])


def open_calls(run: Run[object]) -> list[OpenCall]:
    assert isinstance(run.end, Blocked)
    return [request for request in run.end.open if isinstance(request, OpenCall)]


def outputs(run: Run[object]) -> dict[str, object]:
    return {
        part.tool_call_id: part.output
        for message in run.messages
        if isinstance(message, ToolMessage)
        for part in message.content
        if isinstance(part, ToolResult)
    }


# --- declaring --------------------------------------------------------------------------------


def test_a_client_tool_is_read_and_never_run() -> None:
    """The model is told what the function says; the loop, that nobody here runs it."""
    assert confirm.name == "confirm"
    assert confirm.description == "Ask the person in front of the screen."
    assert '"description":"In one sentence."' in confirm.input_schema.text
    assert not confirm.spec.executes
    assert locate.name == "where"
    assert locate.spec.approval == "always"
    assert not client_tool(look).spec.executes
    assert look.spec.executes


@pytest.mark.parametrize(
    ("given", "options", "text"),
    [
        (3, {}, "client_tool: expected a function, got 3; give options by keyword"),
        (
            None,
            {"timeout": 3},
            "client_tool: expected options among defer_loading, description",
        ),
    ],
)
def test_what_cannot_be_declared(given: object, options: dict[str, object], text: str) -> None:
    """Types say so too."""
    with pytest.raises(UsageError, match=re.escape(text)):
        client_tool(given, **options)  # type: ignore[call-overload]


def test_nobody_would_supply_a_context() -> None:
    """So there is none."""

    def ask(context: ToolContext[str], question: str) -> bool:
        raise NotImplementedError

    with pytest.raises(UsageError, match=r"client_tool ask: .* got a ToolContext"):
        client_tool(ask)


# --- answering live ---------------------------------------------------------------------------


async def test_a_run_rests_until_the_client_answers() -> None:
    """The result is typed by the declaration, and the given run is unchanged."""
    agent = agent_of(reply(call("confirm", {"question": "Sure?"}, id="a")), DONE)
    blocked = await agent.generate("Go.")
    [request] = open_calls(blocked)
    run = await agent.answer(blocked, [tool_output(request, True)])

    assert request.call.input == '{"question":"Sure?"}'
    assert run.end == Completed("done")
    assert run.results_of(confirm) == (True,)
    assert outputs(run)["a"] == JsonOutput(JsonText("true"))
    assert isinstance(blocked.end, Blocked)


async def test_objects_and_their_json_are_values_alike() -> None:
    """After the approval that the call needs."""
    for value in (Place(59.9, 10.7), {"latitude": 59.9, "longitude": 10.7}):
        agent = agent_of(reply(call("where", {})), DONE)
        blocked = await agent.generate("Go.")
        [asked] = blocked.open_approvals
        opened = await agent.answer(blocked, [approve(asked)])
        [request] = open_calls(opened)
        run = await agent.answer(opened, [tool_output(request, value)])

        assert run.results_of(locate) == (Place(59.9, 10.7),)


async def test_a_denied_call_is_not_opened() -> None:
    """The model is told instead."""
    agent = agent_of(reply(call("where", {})), DONE)
    blocked = await agent.generate("Go.")
    run = await agent.answer(blocked, [deny(request) for request in blocked.open_approvals])

    assert run.end == Completed("done")
    assert run.results_of(locate) == ()


async def test_a_mixed_batch_goes_on_when_all_is_answered() -> None:
    """What runs here runs at once; the answers are written in call order."""
    model = ScriptedModel([MIXED, DONE])
    agent = Agent(model=model, tools=[confirm, look, pay])
    blocked = await agent.generate("Go.")
    first, second = open_calls(blocked)
    half = await agent.answer(blocked, [tool_error(second, "the window was closed")])
    some = await agent.answer(half, [approve(request) for request in half.open_approvals])
    run = await agent.answer(some, [tool_output(first, False)])

    assert blocked.results_of(look) == ("here",)
    assert isinstance(half.end, Blocked)
    assert half.end.open == (first, *blocked.open_approvals)
    assert isinstance(some.end, Blocked)
    assert some.end.open == (first,)
    assert some.results_of(pay) == ()
    assert run.end == Completed("done")
    assert run.results_of(confirm) == (False,)
    assert run.results_of(pay) == (1,)
    assert outputs(run)["d"] == ErrorTextOutput("the window was closed")
    told = convert_to_model_prompt(model.requests[-1].messages)[-1]
    assert isinstance(told, ToolMessage)
    assert [part.tool_call_id for part in told.content if isinstance(part, ToolResult)] == [
        "a", "b", "c", "d",
    ]  # fmt: skip


async def test_the_first_answer_counts() -> None:
    """A second one is stale, at once or later."""
    agent = agent_of(MIXED, DONE)
    blocked = await agent.generate("Go.")
    first, second = open_calls(blocked)
    half = await agent.answer(blocked, [tool_output(first, True), tool_output(first, False)])
    same = await agent.answer(half, [tool_error(first, "late")])
    run = await agent.answer(half, [tool_output(second, True), *map(approve, half.open_approvals)])
    after = await agent.answer(run, [tool_output(first, False)])

    assert same.state == half.state
    assert run.results_of(confirm) == (True, True)
    assert after.state == run.state


async def test_the_model_may_see_something_else() -> None:
    """Such as a file, where the program keeps what the tool was declared to return."""
    picture = ContentOutput((File(FileBytes(b"..."), "image/png"),))
    agent = agent_of(reply(call("pick", {"options": ["a"]}, id="a")), DONE)
    blocked = await agent.generate("Go.")
    [request] = open_calls(blocked)
    run = await agent.answer(blocked, [tool_output(request, "the first", output=picture)])

    assert outputs(run)["a"] == picture
    assert run.results_of(pick) == ("the first",)


async def test_a_text_is_told_as_it_is() -> None:
    """Where nothing is declared, any JSON will do."""
    agent = agent_of(reply(call("pick", {"options": ["a"]}, id="a")), DONE)
    blocked = await agent.generate("Go.")
    [request] = open_calls(blocked)
    run = await agent.answer(blocked, [tool_output(request, "the first")])

    assert outputs(run)["a"] == TextOutput("the first")
    assert run.results_of(pick) == ("the first",)


async def test_a_word_from_the_user_closes_what_is_open() -> None:
    """As a steered message does."""
    blocked = await agent_of(MIXED, DONE).generate("Go.")
    run = await agent_of(DONE).generate([*blocked.messages, UserMessage("Never mind.")])

    assert run.end == Completed("done")
    assert run.results_of(confirm) == ()


async def test_answers_are_journaled() -> None:
    """One journal holds the run from its beginning to its end."""
    journal = MemoryJournal()
    agent = agent_of(reply(call("confirm", {"question": "Sure?"})), DONE)
    blocked = await agent.generate("Go.", journal=journal, clock=VirtualClock())
    answers = [tool_output(request, True) for request in open_calls(blocked)]
    run = await agent.answer(blocked, answers, journal=journal, clock=VirtualClock())

    assert replay(agent.program, journal.header, journal.entries) == Success(run.state)


# --- what is no answer ------------------------------------------------------------------------


async def test_a_value_that_does_not_fit_is_refused_at_once() -> None:
    """By the declared type, validators of the user's included; nothing has happened then."""
    agent = agent_of(reply(call("confirm", {"question": "Sure?"}), call("where", {})), DONE)
    blocked = await agent.generate("Go.")
    opened = await agent.answer(blocked, [approve(request) for request in blocked.open_approvals])
    confirming, locating = open_calls(opened)
    cases = [
        (confirming, "yes", 'tool_output for confirm: expected true or false, got "yes"'),
        (locating, {"latitude": 1}, 'tool_output for where: expected the property "longitude"'),
        (locating, {"latitude": 1.0, "longitude": "E"}, "tool_output for where at /longitude"),
        (locating, {"latitude": 1.0, "longitude": 181.0}, "tool_output for where"),
    ]
    for request, value, text in cases:
        with pytest.raises(UsageError, match=re.escape(text)):
            await agent.answer(opened, [tool_output(confirming, True), tool_output(request, value)])

    assert open_calls(opened) == [confirming, locating]


async def test_a_call_that_was_never_made_cannot_be_answered() -> None:
    """Not even where its place is that of another call."""
    agent = agent_of(reply(call("confirm", {"question": "Sure?"}, id="a")), DONE)
    blocked = await agent.generate("Go.")
    [request] = open_calls(blocked)
    foreign = evolve(request, call=evolve(request.call, tool_call_id="z"))
    beyond = evolve(request, attempt=3)

    with pytest.raises(
        UsageError, match=r"expected an open call of the run .* which it never made"
    ):
        await agent.answer(blocked, [tool_output(foreign, True)])
    assert (await agent.answer(blocked, [tool_output(beyond, True)])).state == blocked.state
    with pytest.raises(IllegalEvent):
        await agent.answer(blocked, [tool_output(evolve(request, step=7), True)])


async def test_answers_answer_what_they_are_for() -> None:
    """Each mistake is named."""
    agent = agent_of(MIXED, DONE)
    blocked = await agent.generate("Go.")
    [asked] = blocked.open_approvals
    request = open_calls(blocked)[0]
    unmade: list[tuple[str, object]] = [
        ("answer it by approve(…) or deny(…)", asked),
        ("answer it by tool_output(…) or tool_error(…)", request),
    ]
    for text, given in unmade:
        with pytest.raises(UsageError, match=re.escape(text)):
            await agent.answer(blocked, [given])  # type: ignore[list-item]
    for make in (tool_output, tool_error):
        with pytest.raises(UsageError, match=f"{make.__name__}: expected an open call"):
            make(asked, "x")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match=r"tool_output: expected a value with a JSON form"):
        tool_output(request, object())


# --- answering in the history (law 19) --------------------------------------------------------


async def test_a_history_that_ends_with_an_open_call_is_open_again() -> None:
    """No model is asked before the client has answered."""
    blocked = await agent_of(MIXED, DONE).generate("Go.")
    first, second = open_calls(blocked)
    result = ToolResult("a", "confirm", JsonOutput(JsonText("true")))
    history = [*blocked.messages, ToolMessage([result])]
    again = await agent_of(DONE).generate(history)

    assert isinstance(again.end, Blocked)
    assert [type(request) for request in again.end.open] == [OpenApproval, OpenCall]
    assert [request.call for request in open_calls(again)] == [second.call]
    assert first.call not in [request.call for request in again.end.open]
    assert again.steps == ()


async def test_live_and_in_the_history_lead_to_the_same_prompt() -> None:
    """Law 19, with one answer that is a failure."""
    script = reply(
        call("confirm", {"question": "Sure?"}, id="a"),
        call(look, {"place": "here"}, id="b"),
        call("confirm", {"question": "Really?"}, id="d"),
    )
    live, later = ScriptedModel([script, DONE]), ScriptedModel([DONE])
    agent = Agent(model=live, tools=[confirm, look])
    blocked = await agent.generate("Go.")
    first, second = open_calls(blocked)
    run = await agent.answer(blocked, [tool_error(second, "gone"), tool_output(first, True)])
    results = ToolMessage(
        [
            ToolResult("a", "confirm", JsonOutput(JsonText("true"))),
            ToolResult("d", "confirm", ErrorTextOutput("gone")),
        ]
    )
    other = await Agent(model=later, tools=[confirm, look]).generate([*blocked.messages, results])

    assert run.end == other.end == Completed("done")
    assert convert_to_model_prompt(live.requests[-1].messages) == convert_to_model_prompt(
        later.requests[-1].messages
    )
