"""Tools that answer with what was recorded."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path

import pytest
from attrs import frozen

import stepfold as sf
from stepfold import durable
from stepfold.shell import AnyTool
from stepfold.testing import (
    NeverRecorded,
    Scripted,
    ScriptedModel,
    ScriptRecorder,
    call,
    laws,
    mock_tool,
    reply,
)
from stepfold.values import ContentOutput, StepResult, Text, ToolOutput


@frozen
class Forecast:
    city: str
    celsius: float


@frozen
class Refused:
    reason: str


ran: list[str] = []


@sf.tool
async def weather(context: sf.ToolContext[dict[str, float]], city: str, day: int = 0) -> Forecast:
    """Ask for the weather."""
    ran.append(city)
    return Forecast(city, context.deps[city] + day)


@sf.tool(needs_approval=False, timeout=5)
def book(city: str) -> sf.Outcome[str, Refused]:
    """Book a flight."""
    ran.append(city)
    return sf.Failure(Refused("no seats")) if city == "Rome" else sf.Success(f"to {city}")


@sf.tool
async def count(to: int) -> AsyncIterator[int]:
    """Count."""
    for number in range(to):
        yield number


@sf.tool
def roll() -> int:
    """Roll a die."""
    return len(ran.__iadd__(["die"]))


@sf.tool
def fail(text: str) -> str:
    """Fail."""
    raise ValueError(text)


def shown(value: str) -> ToolOutput:
    return ContentOutput((Text(value.upper()),))


@sf.tool(to_model_output=shown)
def show(text: str) -> str:
    """Show a text."""
    return text


TOOLS = (weather, book, count, roll, fail, show)
CALLS: list[Scripted] = [
    reply(call(weather, {"city": "Oslo"}), call(weather, {"city": "Rome", "day": 1})),
    reply(call(book, {"city": "Oslo"}), call(book, {"city": "Rome"}), call(count, {"to": 3})),
    reply(call(roll), call(roll), call(fail, {"text": "broken"}), call(show, {"text": "so"})),
    reply(call(weather, "{"), call(weather, {"town": "Oslo"}), call("nothing")),
    reply("Done."),
]


@pytest.fixture(autouse=True)
def _nothing_ran() -> None:
    ran.clear()


async def recorded() -> sf.Run[str]:
    agent = sf.Agent(model=ScriptedModel(CALLS), tools=TOOLS, deps_type=dict[str, float])
    deps = {"Oslo": 17.3, "Rome": 28.0}
    return await agent.generate("Go.", deps=deps, run_id="run", seed=0)


def mocked(steps: tuple[StepResult, ...]) -> list[AnyTool[dict[str, float], object]]:
    tools: tuple[AnyTool[dict[str, float], object], ...] = TOOLS
    return [mock_tool(one, steps) for one in tools]


async def test_a_run_on_mocks_is_the_run_that_was_recorded() -> None:
    first = await recorded()
    ran.clear()
    agent = sf.Agent(
        model=ScriptedModel(CALLS), tools=mocked(first.steps), deps_type=dict[str, float]
    )
    again = await agent.generate("Go.", deps={}, run_id="run", seed=0)

    laws.same_history(first.state, again.state)
    assert [step.content for step in again.steps] == [step.content for step in first.steps]
    assert not ran


async def test_results_stay_typed() -> None:
    first = await recorded()
    tools = mocked(first.steps)
    agent = sf.Agent(model=ScriptedModel(CALLS), tools=tools, deps_type=dict[str, float])
    run = await agent.generate("Go.", deps={})

    assert run.results_of(weather) == (Forecast("Oslo", 17.3), Forecast("Rome", 29.0))
    assert run.results_of(mock_tool(weather, first.steps)) == run.results_of(weather)
    assert run.results_of(count) == (2,)


def test_the_program_is_the_same() -> None:
    def program(tools: list[AnyTool[dict[str, float], object]]) -> sf.Program:
        model = ScriptedModel(CALLS)
        return sf.Agent(model=model, tools=tools, deps_type=dict[str, float]).program

    assert program(mocked(())).fingerprint == program([*TOOLS]).fingerprint


async def test_so_a_journal_is_replayed_with_mocks(tmp_path: Path) -> None:
    agent = sf.Agent(model=ScriptedModel(CALLS), tools=TOOLS, deps_type=dict[str, float])
    async with durable.record(tmp_path / "run.jsonl") as journal:
        first = await agent.generate("Go.", deps={"Oslo": 1.0, "Rome": 2.0}, journal=journal)
    recording = durable.read_recording(tmp_path / "run.jsonl").unwrap()
    mocks = sf.Agent(
        model=ScriptedModel(CALLS), tools=mocked(recording.steps), deps_type=dict[str, float]
    )
    again = await mocks.generate("Go.", deps={})

    assert durable.replayed(mocks.program, recording).unwrap() == first.state
    assert again.results_of(weather) == first.results_of(weather)


async def test_a_script_tells_what_models_were_told() -> None:
    recorder = ScriptRecorder(ScriptedModel(CALLS))
    agent = sf.Agent(model=recorder, tools=TOOLS, deps_type=dict[str, float])
    first = await agent.generate("Go.", deps={"Oslo": 1.0, "Rome": 2.0}, run_id="run")
    ran.clear()
    tools: tuple[AnyTool[dict[str, float], object], ...] = (weather, book, count, roll, fail)
    mocks: list[AnyTool[dict[str, float], object]] = [
        *(mock_tool(one, recorder.script) for one in tools),
        show,
    ]
    again = await sf.Agent(
        model=ScriptedModel(CALLS), tools=mocks, deps_type=dict[str, float]
    ).generate("Go.", deps={}, run_id="run")

    laws.same_history(first.state, again.state)
    assert not ran


async def test_equal_calls_get_the_results_in_their_order_in_each_run() -> None:
    first = await recorded()
    one, two = first.results_of(roll)
    die = mock_tool(roll, first.steps)
    agent = sf.Agent(
        model=ScriptedModel([reply(call(roll), call(roll), call(roll)), reply("Done.")]),
        tools=[die],
    )

    for run_id in ("first", "second"):
        run = await agent.generate("Go.", run_id=run_id)
        assert run.results_of(die) == (one, two, two)


async def test_a_script_tells_each_result_once() -> None:
    rolls: list[Scripted] = [reply(call(roll), call(roll)), reply(call(roll)), reply("Done.")]
    recorder = ScriptRecorder(ScriptedModel(rolls))
    first = await sf.Agent(model=recorder, tools=[roll]).generate("Go.")
    one, two, three = first.results_of(roll)
    die = mock_tool(roll, recorder.script)
    many: list[Scripted] = [reply(*[call(roll)] * 4), reply("Done.")]
    run = await sf.Agent(model=ScriptedModel(many), tools=[die]).generate("Go.")

    assert sorted([one, two, three]) == [1, 2, 3]
    assert run.results_of(die) == (one, two, three, three)


async def test_a_call_that_never_ran_was_not_recorded() -> None:
    calls = reply(call(book, {"city": "Oslo"}), call(book, {"city": "Bern"}))
    limited = sf.Agent(
        model=ScriptedModel([calls, reply("Done.")]),
        tools=[book],
        limits=sf.Limits(tool_calls=1),
    )
    first = await limited.generate("Go.")
    run = await sf.Agent(
        model=ScriptedModel([calls, reply("Done.")]), tools=[mock_tool(book, first.steps)]
    ).generate("Go.")
    (error,) = run.steps[0].tool_errors

    assert run.results_of(book) == ("to Oslo",)
    assert error.error.startswith("NeverRecorded: book: ")


async def test_defaults_are_filled_in_before_calls_are_compared() -> None:
    first = await recorded()
    spelt_out = reply(call(weather, {"day": 0, "city": "Oslo"}))
    agent = sf.Agent(
        model=ScriptedModel([spelt_out, reply("Done.")]),
        tools=[mock_tool(weather, first.steps)],
        deps_type=dict[str, float],
    )

    assert (await agent.generate("Go.", deps={})).results_of(weather) == (Forecast("Oslo", 17.3),)


async def test_refined_arguments_are_those_that_count() -> None:
    def refined(arguments: sf.JsonObject) -> Mapping[str, object]:
        return {**arguments, "day": 7}

    def agent(tool: AnyTool[dict[str, float], object]) -> sf.Agent[dict[str, float], str]:
        return sf.Agent(
            model=ScriptedModel([reply(call(weather, {"city": "Oslo"})), reply("Done.")]),
            tools=[tool],
            deps_type=dict[str, float],
            refine_tool_input={"weather": refined},
        )

    first = await agent(weather).generate("Go.", deps={"Oslo": 1.0})
    again = await agent(mock_tool(weather, first.steps)).generate("Go.", deps={})

    assert again.results_of(weather) == first.results_of(weather) == (Forecast("Oslo", 8.0),)


async def test_a_tool_without_types_is_mocked_as_well() -> None:
    def look_up(context: sf.ToolContext[object], arguments: object) -> object:
        return [arguments, 1]

    schema = {"type": "object", "properties": {"key": {"type": "string"}}}
    made = sf.dynamic_tool(name="look_up", input_schema=schema, execute=look_up)
    script: list[Scripted] = [reply(call("look_up", {"key": "a"})), reply("Done.")]
    first = await sf.Agent(model=ScriptedModel(script), tools=[made]).generate("Go.")
    mock = mock_tool(made, first.steps)
    again = await sf.Agent(model=ScriptedModel(script), tools=[mock]).generate("Go.")

    assert again.results_of(mock) == first.results_of(made) == ([{"key": "a"}, 1],)


async def error_of(tool: AnyTool[dict[str, float], object], arguments: dict[str, object]) -> str:
    model = ScriptedModel([reply(call(tool, arguments)), reply("Done.")])
    run = await sf.Agent(model=model, tools=[tool], deps_type=dict[str, float]).generate(
        "Go.", deps={}
    )
    (error,) = run.steps[0].tool_errors
    return error.error


async def test_a_call_that_was_never_recorded_says_what_the_closest_was() -> None:
    first = await recorded()

    assert await error_of(mock_tool(weather, first.steps), {"city": "Rome", "day": 2}) == (
        'NeverRecorded: weather: expected a call that was recorded, got {"city":"Rome","day":2}; '
        "the closest one differs at day: expected 1, got 2. Record a run that makes this call, "
        "or change the script"
    )
    assert "no call of it was. Record" in await error_of(mock_tool(weather, ()), {"city": "Rome"})


async def test_the_error_is_typed() -> None:
    first = await recorded()
    mock = mock_tool(book, first.steps)
    context = sf.ToolContext(None, "c", 0, (), "run/0/0")
    with pytest.raises(NeverRecorded) as caught:
        mock.invoke((context,), {"city": "Oslo "})

    assert caught.value.tool == "book"
    assert caught.value.divergence is not None
    assert caught.value.divergence.path == "city"
    with pytest.raises(NeverRecorded) as caught:
        mock_tool(book, ()).invoke((context,), {"city": "Oslo"})
    assert caught.value.divergence is None


async def test_the_output_may_be_a_mocked_tools_result() -> None:
    first = await recorded()
    agent = sf.Agent(
        model=ScriptedModel([reply(call(weather, {"city": "Oslo"}))]),
        tools=[mock_tool(weather, first.steps)],
        deps_type=dict[str, float],
        output=sf.result_of(weather),
    )

    assert (await agent.generate("Go.", deps={})).unwrap() == Forecast("Oslo", 17.3)


async def test_a_result_of_another_type_is_refused_at_once() -> None:
    @sf.tool(name="weather")
    def other(city: str, day: int = 0) -> int:
        """Ask for the weather."""
        return 0

    first = await recorded()
    with pytest.raises(sf.UsageError, match=r"does not fit its returned type.*record the run anew"):
        mock_tool(other, first.steps)


def test_what_a_client_answers_is_not_mocked() -> None:
    @sf.client_tool
    def locate() -> str:
        """Where are you?"""
        return ""

    with pytest.raises(sf.UsageError, match="got locate, which a client answers"):
        mock_tool(locate, ())
