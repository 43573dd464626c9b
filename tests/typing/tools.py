"""A tool keeps the type of its function, and gives results of the type that it returns."""

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import assert_type, final

from attrs import frozen

from stepfold import (
    Limits,
    OpenCall,
    Outcome,
    Run,
    Success,
    TextOutput,
    ToolContext,
    ToolOutput,
    client_tool,
    dynamic_tool,
    tool,
    tool_error,
    tool_output,
)
from stepfold.shell import AnyTool


@final
@frozen
class Deps:
    city: str


@final
@frozen
class Forecast:
    celsius: float


@final
@frozen
class Missing:
    city: str


@tool
def plain(city: str) -> Forecast:
    return Forecast(1.0)


@tool
async def coroutine(city: str) -> Forecast:
    return Forecast(1.0)


@tool
def outcome(city: str) -> Outcome[Forecast, Missing]:
    return Success(Forecast(1.0))


@tool
async def async_outcome(city: str) -> Outcome[Forecast, Missing]:
    return Success(Forecast(1.0))


@tool
async def items(city: str) -> AsyncIterator[Forecast]:
    yield Forecast(1.0)


@tool
async def with_context(context: ToolContext[Deps], city: str, *, days: int = 1) -> Forecast:
    return Forecast(1.0)


@tool
def context_only(context: ToolContext[Deps]) -> str:
    return context.deps.city


@tool(needs_approval=True, idempotent=True, examples=[{"city": "Oslo"}])
def with_options(city: str) -> Forecast:
    return Forecast(1.0)


@tool(name="renamed")
async def with_options_and_context(context: ToolContext[Deps], city: str) -> Forecast:
    return Forecast(1.0)


@tool
def nothing() -> None: ...


def shown(forecast: Forecast) -> ToolOutput:
    return TextOutput(f"{forecast.celsius} °C")


@tool(to_model_output=shown)
def shown_plain(city: str) -> Forecast:
    return Forecast(1.0)


@tool(to_model_output=shown, title="Forecast", metadata={"icon": "sun"})
async def shown_coroutine(city: str) -> Forecast:
    return Forecast(1.0)


@tool(to_model_output=shown)
def shown_outcome(city: str) -> Outcome[Forecast, Missing]:
    return Success(Forecast(1.0))


@tool(to_model_output=shown)
async def shown_async_outcome(context: ToolContext[Deps]) -> Outcome[Forecast, Missing]:
    return Success(Forecast(1.0))


@tool(to_model_output=shown)
async def shown_items(city: str) -> AsyncIterator[Forecast]:
    yield Forecast(1.0)


@tool(to_model_output=shown)
def shown_sync_items(context: ToolContext[Deps], *, days: int) -> Iterator[Forecast]:
    yield Forecast(1.0)


@tool
def sync_items(city: str) -> Iterator[Forecast]:
    yield Forecast(1.0)


@tool(to_model_output=shown)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue, reportUntypedFunctionDecorator]
async def shown_wrongly(city: str) -> str:
    return city


@tool(to_model_output=shown)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType, reportCallIssue, reportUntypedFunctionDecorator]
def shown_wrongly_too(city: str) -> Outcome[str, Missing]:
    return Success(city)


def described(deps: Deps) -> str:
    return deps.city


@tool(description=described)
def described_plain(city: str) -> Forecast:
    return Forecast(1.0)


@tool(description=described, timeout=5)
async def described_with_context(context: ToolContext[Deps], city: str) -> Forecast:
    return Forecast(1.0)


async def with_schema(context: ToolContext[Deps], given: Mapping[str, object]) -> Forecast:
    return Forecast(1.0)


dynamic = dynamic_tool(name="dynamic", input_schema={"type": "object"}, execute=with_schema)
lambda_tool = dynamic_tool(
    name="lambda", input_schema='{"type":"object"}', execute=lambda context, given: len(given)
)


@client_tool
def asked(question: str) -> bool:
    raise NotImplementedError


@client_tool(name="other", needs_approval=True)
async def asked_later(question: str) -> Forecast:
    raise NotImplementedError


class Store:
    @tool
    def find(self, key: str) -> int:
        return len(key)

    @tool(needs_approval=True)
    async def change(self, key: str) -> bool:
        return bool(key)

    @tool
    def whose(self, context: ToolContext[Deps], key: str) -> str:
        return context.deps.city

    @staticmethod
    @tool
    def static(key: str) -> bytes:
        return key.encode()

    def bare(self, key: str) -> float:
        return len(key)

    @classmethod
    def made(cls, key: str) -> "Store":
        return cls()


def results_are_exact(run: Run[str], store: Store) -> None:
    assert_type(run.results_of(plain), tuple[Forecast, ...])
    assert_type(run.results_of(coroutine), tuple[Forecast, ...])
    assert_type(run.results_of(outcome), tuple[Forecast, ...])
    assert_type(run.results_of(async_outcome), tuple[Forecast, ...])
    assert_type(run.results_of(items), tuple[Forecast, ...])
    assert_type(run.results_of(with_context), tuple[Forecast, ...])
    assert_type(run.results_of(context_only), tuple[str, ...])
    assert_type(run.results_of(with_options), tuple[Forecast, ...])
    assert_type(run.results_of(with_options_and_context), tuple[Forecast, ...])
    assert_type(run.results_of(nothing), tuple[None, ...])
    assert_type(run.results_of(sync_items), tuple[Forecast, ...])
    assert_type(run.results_of(shown_plain), tuple[Forecast, ...])
    assert_type(run.results_of(shown_coroutine), tuple[Forecast, ...])
    assert_type(run.results_of(shown_outcome), tuple[Forecast, ...])
    assert_type(run.results_of(shown_async_outcome), tuple[Forecast, ...])
    assert_type(run.results_of(shown_items), tuple[Forecast, ...])
    assert_type(run.results_of(shown_sync_items), tuple[Forecast, ...])
    assert_type(run.results_of(described_plain), tuple[Forecast, ...])
    assert_type(run.results_of(described_with_context), tuple[Forecast, ...])
    assert_type(run.results_of(dynamic), tuple[Forecast, ...])
    assert_type(run.results_of(lambda_tool), tuple[int, ...])
    assert_type(run.results_of(asked), tuple[bool, ...])
    assert_type(run.results_of(asked_later), tuple[Forecast, ...])
    assert_type(run.results_of(store.find), tuple[int, ...])
    assert_type(run.results_of(store.change), tuple[bool, ...])
    assert_type(run.results_of(store.whose), tuple[str, ...])
    assert_type(run.results_of(Store.static), tuple[bytes, ...])
    assert_type(run.results_of(tool(store.bare)), tuple[float, ...])
    assert_type(run.results_of(tool(Store.made)), tuple[Store, ...])
    run.results_of("plain")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    run.results_of(results_are_exact)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]


def tools_know_what_they_need(store: Store) -> None:
    _for_anybody: AnyTool[object, object] = plain
    _for_deps: AnyTool[Deps, object] = with_context
    _also_for_deps: AnyTool[Deps, object] = plain
    _dynamic: AnyTool[Deps, object] = dynamic
    _described: AnyTool[Deps, object] = described_plain
    _described_for_others: AnyTool[object, object] = described_plain  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
    _of_lambda: AnyTool[object, object] = lambda_tool
    _shown: AnyTool[Deps, object] = shown_async_outcome
    _dynamic_for_others: AnyTool[int, object] = dynamic  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
    _for_others: AnyTool[int, object] = with_context  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
    _bound: AnyTool[int, object] = store.whose  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]


async def tools_stay_callable(store: Store, context: ToolContext[Deps]) -> None:
    assert_type(plain("Oslo"), Forecast)
    assert_type(shown_plain("Oslo"), Forecast)
    assert_type(await shown_coroutine("Oslo"), Forecast)
    assert_type(await coroutine("Oslo"), Forecast)
    assert_type(await with_context(context, "Oslo", days=2), Forecast)
    assert_type(outcome("Oslo"), Outcome[Forecast, Missing])
    assert_type(store.find("a"), int)
    assert_type(await store.change("a"), bool)
    async for item in items("Oslo"):
        assert_type(item, Forecast)

    plain(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    plain()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    plain(town="Oslo")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    store.find(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    with_context("Oslo")  # type: ignore[call-arg, arg-type, unused-coroutine]  # pyright: ignore[reportCallIssue]
    coroutine("Oslo")  # type: ignore[unused-coroutine]  # pyright: ignore[reportUnusedCoroutine]
    plain("Oslo").fahrenheit  # type: ignore[attr-defined]  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]


def limits_take_tools_and_names(by_name: dict[str, int], pairs: list[tuple[str, int]]) -> None:
    by_tool = {plain: 1}
    assert_type(Limits(calls_of={plain: 1, coroutine: 2}).calls_of, tuple[tuple[str, int], ...])
    Limits(calls_of={plain: 1, "outcome": 2})
    Limits(calls_of=by_name)
    Limits(calls_of=by_tool)
    Limits(calls_of=pairs)
    Limits(calls_of=(("plain", 1), (coroutine, 2)))
    Limits(calls_of={plain: "1"})  # type: ignore[dict-item]  # pyright: ignore[reportArgumentType]
    Limits(calls_of=["plain"])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    Limits(calls_of=plain)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def only_functions_become_tools() -> None:
    tool(3)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    tool(nam="x")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    tool(timeout="5")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]


def client_tools_are_not_called(request: OpenCall) -> None:
    _for_anybody: AnyTool[object, object] = asked
    asked("Sure?")  # type: ignore[operator]  # pyright: ignore[reportCallIssue]
    client_tool(3)  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType, reportCallIssue]
    client_tool(timeout=5)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    tool_output(request, True)
    tool_error(request, "gone")
    tool_output("a", True)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    tool_error(request, 3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
