"""What the model sees of a result, what the program keeps, and what people are shown of a call."""

import re
from collections.abc import AsyncIterator, Iterator

import pytest
from attrs import frozen

from stepfold.agent import Agent, Run, deny
from stepfold.loop import begin, replay
from stepfold.shell import AnyTool, MemoryJournal, ToolContext, ToolProgressed, drive_sync, tool
from stepfold.testing import ScriptedModel, VirtualClock, call, reply
from stepfold.values import (
    ContentOutput,
    Failure,
    File,
    FileBytes,
    JsonText,
    Outcome,
    Success,
    Text,
    TextOutput,
    ToolCall,
    ToolError,
    ToolMessage,
    ToolOutput,
    ToolResult,
    UsageError,
)

DONE = reply("done")


@frozen
class Chart:
    title: str
    png: bytes


def show(chart: Chart) -> ToolOutput:
    """Show the picture."""
    return ContentOutput((Text(chart.title), File(FileBytes(chart.png), "image/png")))


CHART = Chart("Rain", b"png")


@tool(to_model_output=show)
async def coroutine(city: str) -> Chart:
    return CHART


@tool(to_model_output=show)
def function(city: str) -> Chart:
    return CHART


@tool(to_model_output=show)
def outcome(city: str) -> Outcome[Chart, str]:
    return Success(CHART)


@tool(to_model_output=show)
async def items(city: str) -> AsyncIterator[Chart]:
    yield Chart("Wait", b"")
    yield CHART


@tool(to_model_output=show)
def sync_items(city: str) -> Iterator[Chart]:
    yield Chart("Wait", b"")
    yield CHART


@tool(to_model_output=show)
async def with_context(context: ToolContext[object], city: str) -> Outcome[Chart, str]:
    return Success(CHART)


async def run_of(made: AnyTool[object, object]) -> Run[str]:
    model = ScriptedModel([reply(call(made.name, {"city": "Oslo"}, id="a")), DONE])
    return await Agent(model=model, tools=[made]).generate("Go.")


TOOLS = (coroutine, function, outcome, items, sync_items, with_context)


@pytest.mark.parametrize("made", TOOLS, ids=lambda made: made.name)
async def test_the_model_sees_what_the_tool_shows(made: AnyTool[object, object]) -> None:
    """Whatever kind of function it is; the program has the value."""
    run = await run_of(made)
    told = run.messages[-2]

    assert isinstance(told, ToolMessage)
    [part] = told.content
    assert isinstance(part, ToolResult)
    assert part.output == show(CHART)
    assert run.results_of(made) == (CHART,)


def test_without_an_event_loop_it_is_the_same() -> None:
    """There, everything happens in one thread."""
    for made in (function, sync_items):
        model = ScriptedModel([reply(call(made.name, {"city": "Oslo"}, id="a")), DONE])
        agent = Agent(model=model, tools=[made])
        first = begin(agent.program, "Go.", run="r", seed=0, at=0)
        run = agent.run_of(drive_sync(agent.program, first, agent.runtime(clock=VirtualClock())))

        assert run.results_of(made) == (CHART,)
        assert run.steps[0].tool_results[0].output == show(CHART)


async def test_what_is_shown_is_journaled() -> None:
    """A replay asks no function of the user's."""
    journal = MemoryJournal()
    model = ScriptedModel([reply(call("function", {"city": "Oslo"})), DONE])
    agent = Agent(model=model, tools=[function])
    run = await agent.generate("Go.", journal=journal, clock=VirtualClock())

    assert replay(agent.program, journal.header, journal.entries) == Success(run.state)


async def test_a_failure_is_not_shown() -> None:
    """It is told as any failure."""

    @tool(to_model_output=show)
    def fails(city: str) -> Outcome[Chart, str]:
        return Failure("no such city")

    run = await run_of(fails)
    assert [error.error for error in run.steps[0].tool_errors] == ["no such city"]


async def test_a_result_without_a_json_form_is_not_shown() -> None:
    """The program could not keep it."""

    def text_of(given: object) -> ToolOutput:
        return TextOutput("an object")

    @tool(to_model_output=text_of)
    def gives(city: str) -> object:
        return object()

    run = await run_of(gives)
    [error] = run.steps[0].tool_errors
    assert "no JSON form" in error.error


async def test_what_says_the_same_is_kept_once() -> None:
    """A function that shows a text as it is changes nothing."""

    @tool(to_model_output=TextOutput)
    def echo(city: str) -> str:
        return city

    run = await run_of(echo)
    assert run.steps[0].tool_results[0].value is None
    assert run.results_of(echo) == ("Oslo",)


def raises(given: object) -> ToolOutput:
    """Fail."""
    raise LookupError("no picture")


def lies(given: object) -> ToolOutput:
    """Give something else."""
    return str(given)  # type: ignore[return-value]


def half(given: object) -> ToolOutput:
    """Give what cannot be written down."""
    return TextOutput(given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("shown", "text"),
    [
        (raises, "to_model_output of plain failed: LookupError: no picture"),
        (lies, "to_model_output of plain failed: expected a ToolOutput, got str"),
        (half, "to_model_output of plain failed: "),
    ],
)
@pytest.mark.parametrize("is_async", [True, False])
async def test_code_that_shows_may_be_wrong(shown: object, text: str, is_async: bool) -> None:
    """That is a tool error, and no exception."""

    async def plain(city: str) -> int:
        return 3

    def plain_sync(city: str) -> int:
        return 3

    options: dict[str, object] = {"to_model_output": shown, "name": "plain"}
    decorate = tool(**options)  # type: ignore[call-overload]
    made: AnyTool[object, object] = decorate(plain if is_async else plain_sync)
    run = await run_of(made)

    [error] = run.steps[0].tool_errors
    assert error.error.startswith(text)
    assert error.kind == "failed"


# --- items of a plain generator ---------------------------------------------------------------


async def test_items_of_a_plain_generator_are_shown_too() -> None:
    """As those of an async one; without any item the result is `None`."""

    @tool
    def nothing() -> Iterator[int]:
        yield from ()

    @tool
    def breaks() -> Iterator[int]:
        yield 1
        raise LookupError("gone")

    model = ScriptedModel(
        [reply(call("sync_items", {"city": "Oslo"}), call(nothing), call(breaks)), DONE]
    )
    agent = Agent(model=model, tools=[sync_items, nothing, breaks])
    async with agent.stream("Go.") as stream:
        shown = [part async for part in stream if isinstance(part, ToolProgressed)]
        run = await stream.run()

    assert [part.value.text for part in shown if part.call.tool_name == "sync_items"] == [
        '{"title":"Wait","png":""}',
        '{"title":"Rain","png":"cG5n"}',
    ]
    assert [part.value.text for part in shown if part.call.tool_name == "breaks"] == ["1"]
    assert run.steps[0].tool_results[1].json.text == "null"
    assert run.steps[0].tool_errors[0].error == "LookupError: gone"


# --- title and metadata -----------------------------------------------------------------------


@tool(title="Look", metadata={"icon": "eye"}, provider_options={"acme": {"cache": True}})
async def look(place: str) -> AsyncIterator[str]:
    if place == "nowhere":
        raise LookupError(place)
    yield "…"
    yield place


@tool(title="Pay", metadata={"icon": "coin"}, needs_approval=True)
def pay(amount: int) -> int:
    return amount


def marks(part: ToolCall | ToolResult | ToolError) -> tuple[str | None, JsonText | None]:
    return part.title, part.tool_metadata


async def test_what_people_are_shown_is_on_every_path() -> None:
    """Invalid, denied, failed, preliminary and final; no model is told it."""
    model = ScriptedModel(
        [
            reply(
                call(look, {"place": "here"}, id="a"),
                call(look, {"place": "nowhere"}, id="b"),
                call(look, {"plaice": "here"}, id="c"),
                call(pay, {"amount": 1}, id="d"),
            ),
            DONE,
        ]
    )
    agent = Agent(model=model, tools=[look, pay])
    eye, coin = ("Look", JsonText('{"icon":"eye"}')), ("Pay", JsonText('{"icon":"coin"}'))
    async with agent.stream("Go.") as stream:
        shown = [part async for part in stream if isinstance(part, ToolProgressed)]
        blocked = await stream.run()
    [request] = blocked.open_approvals
    run = await agent.answer(blocked, [deny(request)])
    parts = [
        part
        for message in run.messages
        if not isinstance(message.content, str)
        for part in message.content
        if isinstance(part, ToolCall | ToolResult)
    ]

    assert {marks(part.call) for part in shown} == {eye}
    assert marks(request.call) == coin
    assert [(part.tool_call_id, marks(part)) for part in parts] == [
        ("a", eye), ("b", eye), ("c", eye), ("d", coin),
        ("a", eye), ("b", eye), ("c", eye), ("d", coin),
    ]  # fmt: skip
    assert [marks(error) for error in run.steps[0].tool_errors] == [eye, eye]
    [definition, _] = model.requests[0].tools
    assert definition.provider_options == JsonText('{"acme":{"cache":true}}')
    assert "eye" not in repr(definition)


def test_options_that_nobody_reads_are_refused() -> None:
    """Types say so too."""
    with pytest.raises(UsageError, match=re.escape("tool: expected options among async_only")):
        tool(titel="Look")  # type: ignore[call-overload]
