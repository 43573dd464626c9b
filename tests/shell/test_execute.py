"""Running tools: whatever a tool does becomes an outcome, and the run goes on."""

import asyncio
import functools
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import final

import anyio
import anyio.lowlevel
import attrs
import pytest
import trio
from attrs import field, frozen
from typing_extensions import override

from stepfold.agent import Agent
from stepfold.ports import BLOCKING
from stepfold.shell import AnyTool, ToolContext, ToolProgressed, tool
from stepfold.shell._execute import encoded_outcome
from stepfold.testing import ScriptedModel, VirtualClock, call, reply
from stepfold.values import (
    Failure,
    JsonOutput,
    JsonText,
    Outcome,
    Success,
    TextOutput,
    ToolCall,
    ToolError,
    ToolFault,
    ToolResult,
    UserMessage,
)
from tests.shell._runs import DONE, agent_of, model_calling, ran, settled


@final
@frozen
class Forecast:
    city: str
    celsius: float


@final
@frozen
class NoSuchCity:
    city: str


def cancellation() -> BaseException:
    """What coroutines are cancelled with on this event loop; made by a tool, not by the loop."""
    if anyio.get_cancelled_exc_class() is asyncio.CancelledError:
        return asyncio.CancelledError()
    return trio.Cancelled._create(source="unknown")


# --- kinds of functions -----------------------------------------------------------------------


async def test_a_sync_tool_runs_in_a_worker_thread() -> None:
    """A function that blocks does not block the event loop."""
    threads: list[threading.Thread] = []

    @tool
    def here(number: int) -> int:
        threads.append(threading.current_thread())
        return number + 1

    part = await ran(here, {"number": 1})

    assert isinstance(part, ToolResult)
    assert part.output == JsonOutput(JsonText("2"))
    assert threads != [threading.current_thread()]


async def test_an_async_tool_runs_in_the_event_loop() -> None:
    """A coroutine is awaited where the run is."""
    threads: list[threading.Thread] = []

    @tool
    async def here() -> str:
        await anyio.lowlevel.checkpoint()
        threads.append(threading.current_thread())
        return "here"

    part = await ran(here)

    assert isinstance(part, ToolResult)
    assert part.output == TextOutput("here")
    assert threads == [threading.current_thread()]


async def test_each_item_of_an_async_generator_is_shown_as_it_comes() -> None:
    """Progress is shown before the next item is there; the last item is the result."""
    shown: list[str] = []
    ready = anyio.Event()

    @tool
    async def count() -> AsyncIterator[int]:
        yield 1
        await ready.wait()
        yield 2

    async with agent_of(count).stream("Go.") as stream:
        async for part in stream:
            if isinstance(part, ToolProgressed):
                shown.append(part.value.text)
                ready.set()
        run = await stream.run()

    assert shown == ["1", "2"]
    assert run.results_of(count) == (2,)


async def test_an_async_generator_without_items_gives_nothing() -> None:
    """As in the AI SDK; in JSON, nothing is null."""

    @tool
    async def silent() -> AsyncIterator[int]:
        for number in list[int]():
            yield number

    part = await ran(silent)

    assert isinstance(part, ToolResult)
    assert part.output == JsonOutput(JsonText("null"))


async def test_an_async_generator_that_is_cancelled_is_closed() -> None:
    """A time-out leaves no generator to the garbage collector."""
    closed: list[bool] = []

    @tool(timeout=0.02)
    async def slow() -> AsyncIterator[int]:
        try:
            yield 1
            await anyio.sleep_forever()
        finally:
            closed.append(True)

    part = await ran(slow)

    assert isinstance(part, ToolError)
    assert part.kind == "timeout"
    assert closed == [True]


async def test_an_item_without_json_form_is_not_shown() -> None:
    """Only the last item decides."""

    @tool
    async def odd() -> AsyncIterator[object]:
        yield object()
        yield "fine"

    async with agent_of(odd).stream("Go.") as stream:
        shown = [part async for part in stream if isinstance(part, ToolProgressed)]
        run = await stream.run()

    assert [part.value.text for part in shown] == ['"fine"']
    assert run.results_of(odd) == ("fine",)


async def test_partials_callables_and_awaitables_are_functions_too() -> None:
    """What can be called and described is a tool."""

    def add(left: int, right: int) -> int:
        return left + right

    @final
    class Doubler:
        async def __call__(self, number: int) -> int:
            return number * 2

    def later(number: int) -> Awaitable[int]:
        async def work() -> int:
            return number * 3

        return work()

    results = [
        await ran(tool(name="add_one")(functools.partial(add, 1)), {"right": 2}),
        await ran(tool(name="double")(Doubler()), {"number": 2}),
        await ran(tool(later), {"number": 2}),
    ]

    assert [part.json.text for part in results if isinstance(part, ToolResult)] == ["3", "4", "6"]


async def test_a_method_is_bound_to_its_object() -> None:
    """`self` is not in the schema, and the object is the one that the tool was read from."""

    @final
    class Store:
        def __init__(self, name: str) -> None:
            self.name = name

        @tool
        def find(self, key: str) -> str:
            return f"{self.name}/{key}"

        @tool
        async def whose(self, context: ToolContext[int], key: str) -> str:
            return f"{self.name}/{key}/{context.deps}"

        @staticmethod
        @tool
        def plain(key: str) -> str:
            return key

    store = Store("a")
    agent = Agent(
        model=ScriptedModel(
            [
                reply(
                    *(call(one, {"key": "k"}) for one in (store.find, store.whose, Store.plain)),
                ),
                DONE,
            ]
        ),
        deps_type=int,
        tools=[store.find, store.whose, store.plain],
    )
    run = await agent.generate("Go.", deps=7)

    assert run.results_of(store.find) == ("a/k",)
    assert run.results_of(store.whose) == ("a/k/7",)
    assert run.results_of(store.plain) == ("k",)
    assert '"self"' not in store.find.input_schema.text
    assert store.find("x") == "a/x"


# --- the context ------------------------------------------------------------------------------


async def test_the_context_tells_of_the_run() -> None:
    """Deps, call id, step, history, a key that stays the same, and the deadline."""
    contexts: list[ToolContext[str]] = []

    @tool(timeout=5)
    async def look(context: ToolContext[str]) -> str:
        contexts.append(context)
        return context.deps

    model = ScriptedModel([reply(call("look", id="c")), reply(call("look")), DONE])
    clock = VirtualClock()
    agent = Agent(model=model, deps_type=str, tools=[look])
    run = await agent.generate("Go.", deps="deps", run_id="r", clock=clock)

    first, second = contexts
    assert (first.call_id, first.step, first.idempotency_key) == ("c", 0, "r/0/0")
    assert (second.call_id, second.step, second.idempotency_key) == ("r/1/0", 1, "r/1/0")
    assert first.messages == (UserMessage("Go."),)
    assert second.messages == run.messages[:3]
    assert first.deadline == clock.now() + 5_000_000_000
    assert run.results_of(look) == ("deps", "deps")
    assert "context" not in look.input_schema.text


# --- what tools return ------------------------------------------------------------------------


async def test_a_result_is_encoded_and_read_back_typed() -> None:
    """The history holds JSON; `results_of` gives the type that the tool returned."""

    @tool
    async def weather(city: str) -> Forecast:
        return Forecast(city, 7.5)

    run = await Agent(
        model=model_calling(weather, input={"city": "Oslo"}), tools=[weather]
    ).generate("Go.")

    assert run.results_of(weather) == (Forecast("Oslo", 7.5),)
    assert settled(run)[0] == ToolResult(
        settled(run)[0].tool_call_id,
        "weather",
        JsonOutput(JsonText('{"city":"Oslo","celsius":7.5}')),
    )


async def test_an_outcome_is_a_result_or_a_typed_failure() -> None:
    """A failure is told to the model in words, and kept for the program as JSON."""

    @tool
    async def weather(city: str) -> Outcome[Forecast, NoSuchCity]:
        return Success(Forecast(city, 1.0)) if city == "Oslo" else Failure(NoSuchCity(city))

    good = await ran(weather, {"city": "Oslo"})
    bad = await ran(weather, {"city": "Atlantis"})

    assert isinstance(good, ToolResult)
    assert isinstance(bad, ToolError)
    assert bad.error == 'NoSuchCity: {"city":"Atlantis"}'
    assert bad.value == JsonText('{"city":"Atlantis"}')


@pytest.mark.parametrize(
    ("given", "text", "value"),
    [
        (Failure("no \ud800"), "no �", JsonText('"no �"')),
        (Failure(object), "type: ", None),
        (Success(Failure("inner")), "inner", JsonText('"inner"')),
        (object(), "the tool's result has no JSON form: ", None),
        ({"a": [float("nan")]}, "the tool's result has no JSON form at /a/0: ", None),
    ],
)
def test_what_cannot_be_a_result_is_a_failure(
    given: object, text: str, value: JsonText | None
) -> None:
    """It is told to the model, and never raised."""
    outcome = encoded_outcome(given)

    assert getattr(outcome, "message", "").startswith(text)
    assert getattr(outcome, "value", None) == value


def test_text_is_not_quoted() -> None:
    """A model reads text as it is; lone surrogates have no UTF-8 form."""
    assert getattr(encoded_outcome("é\ud800"), "output", None) == TextOutput("é�")


# --- what tools raise -------------------------------------------------------------------------


class MuteError(Exception):
    """An error that cannot even be told."""

    @override
    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (KeyError("city"), "KeyError: 'city'"),
        (ToolFault("the station is closed"), "the station is closed"),
        (MuteError(), "MuteError: (its text cannot be shown)"),
        (RecursionError("deep"), "RecursionError: deep"),
        (StopIteration(), "RuntimeError: "),
    ],
)
@pytest.mark.parametrize("is_async", [True, False])
async def test_an_error_is_told_to_the_model(error: Exception, text: str, is_async: bool) -> None:
    """The run goes on: the model may know better."""

    @tool(name="fail")
    async def fail_async() -> str:
        raise error

    @tool(name="fail")
    def fail() -> str:
        raise error

    part = await ran(fail_async if is_async else fail)

    assert isinstance(part, ToolError)
    assert part.error.startswith(text)
    assert part.kind == "failed"


def _raise_cancellation() -> str:
    raise asyncio.CancelledError


@pytest.mark.parametrize("kind", ["async", "after a scope of its own", "sync", "generator"])
async def test_a_cancellation_that_nobody_asked_for_is_interrupted(kind: str) -> None:
    """It does not end the run, whether or not the tool was ever cancelled in earnest."""

    @tool(name="odd")
    async def plain() -> str:
        raise cancellation()

    @tool(name="odd")
    async def scoped() -> str:
        with anyio.move_on_after(0.01):
            await anyio.sleep_forever()
        raise cancellation()

    @tool(name="odd")
    async def items() -> AsyncIterator[int]:
        yield 1
        raise cancellation()

    tools: dict[str, AnyTool[object, object]] = {
        "async": plain,
        "after a scope of its own": scoped,
        "sync": tool(name="odd")(_raise_cancellation),
        "generator": items,
    }
    part = await ran(tools[kind])

    assert isinstance(part, ToolError)
    assert part.kind == "interrupted"
    assert "nobody had asked for" in part.error


# --- time -------------------------------------------------------------------------------------


async def test_an_async_tool_is_cancelled_at_its_deadline() -> None:
    """The model is told, and the run goes on."""
    ended: list[str] = []

    @tool(timeout=0.02)
    async def hang() -> str:
        try:
            await anyio.sleep_forever()
        finally:
            ended.append("cancelled")
        return "never"

    part = await ran(hang)

    assert isinstance(part, ToolError)
    assert part.kind == "timeout"
    assert part.error == "the tool did not end within 0.02 seconds"
    assert ended == ["cancelled"]


async def test_a_tool_that_shrugs_off_its_deadline_has_failed_all_the_same() -> None:
    """A time-out is enforced, not suggested."""

    @tool(timeout=0.02)
    async def stubborn() -> str:
        with anyio.CancelScope(shield=True):
            await anyio.sleep(0.05)
        return "late"

    part = await ran(stubborn)

    assert isinstance(part, ToolError)
    assert part.kind == "timeout"


async def test_a_thread_that_hangs_is_left_behind() -> None:
    """The run goes on at the deadline, and says that the thread may still be running."""
    release = threading.Event()

    @tool(timeout=0.02)
    def hang() -> str:
        release.wait(5)
        return "late"

    try:
        part = await ran(hang)
    finally:
        release.set()

    assert isinstance(part, ToolError)
    assert part.kind == "timeout"
    assert part.error.endswith("; its thread may still be running")


# --- arguments --------------------------------------------------------------------------------


@final
@attrs.frozen
class Order:
    amount: int = field()

    @amount.validator
    def _positive(self, attribute: object, value: int) -> None:
        if value <= 0:
            msg = f"expected more than 0, got {value}"
            raise ValueError(msg)


async def test_the_users_validators_refuse_arguments_before_anything_runs() -> None:
    """Their words are told to the model, under the place of the fault."""
    ran_with: list[Order] = []

    @tool
    async def buy(order: Order) -> str:
        ran_with.append(order)
        return "bought"

    refused = await ran(buy, {"order": {"amount": 0}})
    accepted = await ran(buy, {"order": {"amount": 3}})

    assert isinstance(refused, ToolError)
    assert refused.kind == "invalid"
    assert refused.error == (
        "the arguments are refused by buy: /order: ValueError: expected more than 0, got 0"
    )
    assert isinstance(accepted, ToolResult)
    assert ran_with == [Order(3)]


async def test_many_calls_with_validators_run_side_by_side() -> None:
    """Bindings are commands too: nothing runs before all of them are done."""

    @tool
    async def buy(order: Order) -> int:
        await anyio.lowlevel.checkpoint()
        return order.amount

    calls = [call("buy", {"order": {"amount": amount}}) for amount in (1, 0, 2, -1, 3)]
    run = await agent_of(buy, script=[reply(*calls), DONE]).generate("Go.")

    assert run.results_of(buy) == (1, 2, 3)
    assert [type(part) for part in settled(run)] == [
        ToolResult,
        ToolError,
        ToolResult,
        ToolError,
        ToolResult,
    ]


async def test_a_validator_that_changes_its_mind_is_told() -> None:
    """Validators run again when the tool runs; a refusal then is a refusal still."""
    seen: list[int] = []

    def once(_: object, __: object, value: int) -> None:
        seen.append(value)
        if len(seen) > 1:
            msg = "not twice"
            raise ValueError(msg)

    @final
    @attrs.frozen
    class Moody:
        amount: int = field(validator=once)

    @tool
    async def buy(order: Moody) -> int:
        return order.amount

    part = await ran(buy, {"order": {"amount": 1}})

    assert isinstance(part, ToolError)
    assert part.kind == "invalid"
    assert "not twice" in part.error


@pytest.mark.parametrize("text", ["", "  ", "{}"])
async def test_blank_arguments_are_an_empty_object(text: str) -> None:
    """Models leave them out where there are none to give."""

    @tool
    async def ping() -> str:
        return "pong"

    part = await ran(ping, text)

    assert isinstance(part, ToolResult)
    assert part.output == TextOutput("pong")


async def test_defaults_and_positional_parameters_are_filled() -> None:
    """What the model leaves out is what the function says."""

    @tool
    def power(base: int, /, exponent: int = 2, *, minus: bool = False) -> int:
        result = int(base**exponent)
        return -result if minus else result

    part = await ran(power, {"base": 3, "minus": True})

    assert isinstance(part, ToolResult)
    assert part.json.text == "-9"


# --- side by side -----------------------------------------------------------------------------


async def test_one_failure_leaves_the_others_alone() -> None:
    """Results stand in call order, whoever ended first."""

    def make(name: str, work: Callable[[], Awaitable[str]]) -> AnyTool[object, object]:
        async def run() -> str:
            return await work()

        return tool(name=name)(run)

    async def slow() -> str:
        await anyio.sleep(0.01)
        return "slow"

    async def wrong() -> str:
        raise KeyError

    async def quick() -> str:
        return "quick"

    tools = [make("slow", slow), make("wrong", wrong), make("quick", quick)]
    run = await agent_of(*tools).generate("Go.")

    assert [type(part) for part in settled(run)] == [ToolResult, ToolError, ToolResult]
    assert [part.tool_name for part in settled(run)] == ["slow", "wrong", "quick"]


def test_blocking_is_not_inherited_by_threads() -> None:
    """A tool in a thread may run an event loop of its own."""
    assert not BLOCKING.get()


async def test_a_hundred_tools_run_at_once() -> None:
    """All of them suspend until the last has begun."""
    begun = 0
    all_begun = anyio.Event()

    @tool
    async def wait(number: int) -> int:
        nonlocal begun
        begun += 1
        if begun == 100:
            all_begun.set()
        await all_begun.wait()
        return number

    calls = [call("wait", {"number": number}) for number in range(100)]
    with anyio.fail_after(10):
        run = await agent_of(wait, script=[reply(*calls), DONE]).generate("Go.")

    assert run.results_of(wait) == tuple(range(100))
    assert isinstance(run.steps[0].tool_calls[0], ToolCall)
