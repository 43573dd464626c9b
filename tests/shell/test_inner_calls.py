"""Tools that call other tools: checked by schema, counted, and within their own call."""

from collections.abc import AsyncIterator, Callable

import anyio
import pytest
from attrs import frozen

import stepfold as sf
from stepfold.testing import ScriptedModel, call, reply


@frozen
class Deps:
    unit: str


@frozen
class Forecast:
    celsius: int


@sf.tool
async def weather(context: sf.ToolContext[Deps], city: str) -> Forecast:
    """Look up the weather."""
    if city == "Atlantis":
        raise sf.ToolFault("it is under water")
    return Forecast(len(city))


@sf.tool
def count(text: str) -> sf.Outcome[int, str]:
    """Count letters."""
    return sf.Success(len(text)) if text else sf.Failure("there are none")


@sf.tool
async def pages(number: int) -> AsyncIterator[str]:
    """Read pages."""
    for page in range(number):
        yield f"page {page}"


@sf.tool(timeout=0.01)
async def slow() -> str:
    """Take too long."""
    await anyio.sleep_forever()
    return "never"


@sf.tool(calls=[weather, count, pages, slow])
async def script(context: sf.ToolContext[Deps], cities: list[str]) -> list[int]:
    """Look up the weather of several cities."""
    return [(await context.call(weather, {"city": city})).celsius for city in cities]


def agent_of(
    tool: sf.AnyTool[Deps, object], *, limits: sf.Limits | None = None, **arguments: object
) -> sf.Agent[Deps]:
    model = ScriptedModel([reply(call(tool.name, arguments)), reply("Done.")])
    return sf.Agent(model=model, deps_type=Deps, tools=[tool], limits=limits)


def error_of(run: sf.Run[str]) -> str:
    [error] = run.steps[0].tool_errors
    return error.error


async def test_a_tool_calls_others_and_the_model_is_told_of_none() -> None:
    """Their results are typed, and only what the calling tool makes of them is told."""
    agent = agent_of(script, cities=["Oslo", "Rome", "Berlin"])
    run = await agent.generate("Go.", deps=Deps("C"))

    assert run.results_of(script) == ([4, 4, 6],)
    assert [one.name for one in agent.program.tools.values()] == ["script"]
    assert len(run.steps[0].tool_calls) == 1
    assert run.state.ledger.total_issued == 1 + 3
    assert run.state.ledger.reserved_calls == 0


async def test_the_runs_limit_of_tool_calls_holds_for_them() -> None:
    """They are granted what is left; the next one is refused, as an error of the calling tool."""
    agent = agent_of(script, limits=sf.Limits(tool_calls=3), cities=["Oslo", "Rome", "Berlin"])
    run = await agent.generate("Go.", deps=Deps("C"))

    assert "no tool calls are left for weather" in error_of(run)
    assert run.state.ledger.total_issued == 3


async def test_its_own_grant_holds_for_them() -> None:
    @sf.tool(name="few", calls=[count], grant=sf.Limits(tool_calls=1))
    async def few(context: sf.ToolContext[object]) -> int:
        """Count twice."""
        return await context.call(count, {"text": "a"}) + await context.call(count, {"text": "b"})

    run = await agent_of(few).generate("Go.", deps=Deps("C"))

    assert "no tool calls are left for count" in error_of(run)


def failing(make: Callable[[sf.ToolContext[Deps]], object]) -> sf.AnyTool[Deps, object]:
    """A tool that makes one call."""

    @sf.tool(name="outer", calls=[weather, count, slow])
    async def outer(context: sf.ToolContext[Deps]) -> str:
        """Call."""
        try:
            await make(context)  # type: ignore[misc]
        except sf.ToolFault as fault:
            return str(fault)
        return "nothing failed"

    return outer


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda one: one.call(weather, {"town": "Oslo"}), "do not fit the schema of weather"),
        (lambda one: one.call(weather, {"city": object()}), "expected arguments with a JSON form"),
        (lambda one: one.call(weather, {"city": "Atlantis"}), "weather: it is under water"),
        (lambda one: one.call(count, {"text": ""}), "count: there are none"),
        (lambda one: one.call(slow, {}), "did not end within 0.01 seconds"),
    ],
)
async def test_what_goes_wrong_is_a_fault_that_the_calling_tool_may_mend(
    make: Callable[[sf.ToolContext[Deps]], object], told: str
) -> None:
    run = await agent_of(failing(make)).generate("Go.", deps=Deps("C"))
    [said] = run.steps[0].tool_results

    assert isinstance(said.output, sf.TextOutput)
    assert told in said.output.value


async def test_only_the_tools_that_it_names_can_be_called() -> None:
    @sf.tool
    async def other() -> str:
        """Do something else."""
        return "done"

    run = await agent_of(failing(lambda one: one.call(other, {}))).generate("Go.", deps=Deps("C"))

    assert "expected one of the tools in calls=[…] (weather, count, slow), got other" in error_of(
        run
    )


async def test_the_last_item_of_a_generator_is_its_result_and_each_call_has_its_own_key() -> None:
    keys: list[str] = []

    @sf.tool
    async def keyed(context: sf.ToolContext[object]) -> str:
        """Tell the key."""
        keys.append(context.idempotency_key)
        return context.call_id

    @sf.tool(calls=[pages, keyed], grant=sf.Limits(tokens=0))
    async def outer(context: sf.ToolContext[object]) -> list[str]:
        """Call twice."""
        return [
            await context.call(pages, {"number": 2}),
            await context.call(keyed, {}),
        ]

    run = await agent_of(outer).generate("Go.", deps=Deps("C"), run_id="r")

    assert run.results_of(outer) == (["page 1", "r/0/0/1"],)
    assert keys == ["r/0/0/1"]


def test_it_works_without_an_event_loop() -> None:
    @sf.tool(calls=[count])
    async def outer(context: sf.ToolContext[object]) -> int:
        """Count."""
        return await context.call(count, {"text": "four"})

    agent = sf.Agent(model=ScriptedModel([reply(call(outer)), reply("Done.")]), tools=[outer])
    first = sf.begin(agent.program, "Go.", run="r", seed=0, at=0)
    run = agent.run_of(sf.drive_sync(agent.program, first, agent.runtime()))

    assert run.results_of(outer) == (4,)


async def test_a_context_of_another_tool_calls_nothing() -> None:
    @sf.tool
    async def outer(context: sf.ToolContext[object]) -> int:
        """Count."""
        return await context.call(count, {"text": "four"})

    run = await agent_of(outer).generate("Go.", deps=Deps("C"))

    assert "declare it as @tool(calls=[…])" in error_of(run)


def declared(inner: sf.AnyTool[object, object]) -> object:
    @sf.tool(calls=[inner])
    async def outer(context: sf.ToolContext[object]) -> None:
        """Call."""

    return outer


def without_context() -> object:
    @sf.tool(calls=[count])
    async def outer() -> None:
        """Call."""

    return outer


def in_a_thread() -> object:
    @sf.tool(calls=[count])
    def outer(context: sf.ToolContext[object]) -> None:
        """Call."""

    return outer


@sf.tool(needs_approval=True)
async def pay() -> str:
    """Pay."""
    return "paid"


@sf.client_tool
def choose() -> str:
    """Choose."""
    raise NotImplementedError


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: declared(pay), "pay needs an approval, and nobody could be asked"),
        (lambda: declared(choose), "choose is run by a client"),
        (lambda: declared(5), "expected tools, got 5"),  # type: ignore[arg-type]
        (without_context, "expected an async function that takes a ToolContext"),
        (in_a_thread, "expected an async function that takes a ToolContext"),
        (
            lambda: sf.Agent(
                model=ScriptedModel([]),
                tools=[declared(count)],  # type: ignore[list-item]
                tool_approval=lambda _: sf.Verdict("approved"),
            ),
            "tool_approval: expected none beside outer",
        ),
    ],
)
def test_what_cannot_be_kept_is_refused_where_it_is_declared(
    make: Callable[[], object], told: str
) -> None:
    with pytest.raises(sf.UsageError, match=told):
        make()
