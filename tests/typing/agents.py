"""Agents tie deps to tools, and runs to outputs."""

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, TypedDict, assert_type, final

from attrs import frozen

from stepfold import (
    Agent,
    Blocked,
    CancelHandle,
    Cancelled,
    Completed,
    Failed,
    LanguageModel,
    LoopState,
    NoOutput,
    OpenCall,
    Outcome,
    Output,
    Run,
    RunFailed,
    RunStream,
    Runtime,
    Stopped,
    SystemClock,
    ToolContext,
    UserMessage,
    approve,
    begin,
    drive_sync,
    generate_text,
    object_of,
    provider_tool,
    stream_text,
    text,
    tool,
)


@final
@frozen
class Deps:
    city: str


@final
@frozen
class Other:
    city: str


class HasCity(Protocol):
    @property
    def city(self) -> str: ...


@final
@frozen
class Report:
    city: str


@final
@frozen
class Refusal:
    reason: str


@final
@dataclass(frozen=True)
class Plain:
    city: str


class Typed(TypedDict):
    city: str


@tool
async def free(city: str) -> str:
    return city


@tool
async def of_deps(context: ToolContext[Deps]) -> str:
    return context.deps.city


@tool
async def of_city(context: ToolContext[HasCity]) -> str:
    return context.deps.city


@tool
async def of_other(context: ToolContext[Other]) -> str:
    return context.deps.city


# --- making -----------------------------------------------------------------------------------

simple = Agent(model="openai/gpt-5.4")
reporting = Agent(model="openai/gpt-5.4", output=object_of(Report))
SEARCH = provider_tool("openai.web_search")
SEARCHING = Agent(model="openai/gpt-5.4", deps_type=Deps, tools=[of_deps, SEARCH])
assert_type(SEARCHING, Agent[Deps, str])
with_deps = Agent(
    model="openai/gpt-5.4", deps_type=Deps, tools=[free, of_deps, of_city], output=object_of(Report)
)
ReportAgent: TypeAlias = Agent[Deps, Report]


def agents_are_exact() -> None:
    assert_type(simple, Agent[object, str])
    assert_type(reporting, Agent[object, Report])
    assert_type(with_deps, Agent[Deps, Report])
    _named: ReportAgent = with_deps
    _wider: Agent[Deps, object] = with_deps
    _of_text: Agent[Deps] = Agent(model="openai/gpt-5.4", deps_type=Deps)
    _bare: Agent = simple
    _wrong: Agent[Deps, Refusal] = with_deps  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]
    _needs_less: Agent[object, Report] = with_deps  # type: ignore[assignment]  # pyright: ignore[reportAssignmentType]


def tools_fit_the_deps() -> None:
    Agent(model="a/b", deps_type=Deps, tools=[free, of_other])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    Agent(model="a/b", deps_type=HasCity, tools=[of_deps])  # type: ignore[misc]  # pyright: ignore[reportArgumentType]
    Agent(model="a/b", tools=[len])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    Agent(model="a/b", tools=free)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Agent(model="a/b", output=Report)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Agent(modle="a/b")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    Agent(model="a/b", concurency=3)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    Agent(model="a/b", tool_choice="always")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    Agent(model=3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


# --- running ----------------------------------------------------------------------------------


async def runs_are_exact(deps: Deps, cancel: CancelHandle) -> None:
    assert_type(await simple.generate("Go."), Run[str])
    assert_type(await reporting.generate([UserMessage("Go.")], cancel=cancel), Run[Report])
    assert_type(await with_deps.generate("Go.", deps=deps, seed=1), Run[Report])
    assert_type(with_deps.generate_sync("Go.", deps=deps), Run[Report])
    assert_type(reporting.generate_sync("Go."), Run[Report])
    assert_type(await with_deps.try_generate("Go.", deps=deps), Outcome[Run[Report], RunFailed])
    assert_type(await reporting.try_generate("Go."), Outcome[Run[Report], RunFailed])
    assert_type(with_deps.stream("Go.", deps=deps), RunStream[Report])
    assert_type(simple.stream("Go."), RunStream[str])
    run = await with_deps.generate("Go.", deps=deps)
    assert_type(await with_deps.answer(run, [], deps=deps), Run[Report])
    assert_type(await simple.answer(run, []), Run[str])
    assert_type(run.unwrap(), Report)
    assert_type(run.output, Outcome[Report, NoOutput])
    assert_type(run.end, Completed[Report] | Stopped | Blocked | Failed | Cancelled)


def driving_by_hand_is_exact(
    deps: Deps, other: Other, state: LoopState, model: LanguageModel
) -> None:
    assert_type(simple.runtime(), Runtime[object])
    assert_type(with_deps.runtime(deps=deps, clock=SystemClock()), Runtime[Deps])
    assert_type(with_deps.run_of(state), Run[Report])
    first = begin(with_deps.program, "Go.", run="r", seed=0, at=0)
    assert_type(drive_sync(with_deps.program, first, with_deps.runtime(deps=deps)), LoopState)
    with_deps.runtime()  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    with_deps.runtime(deps=other)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

    assert_type(Runtime(models=[model]), Runtime[object])
    assert_type(Runtime(models=[model], tools=[free]), Runtime[object])
    assert_type(Runtime(models=[model], deps=deps, tools=[free, of_deps]), Runtime[Deps])
    assert_type(Runtime(models=[model], deps=deps), Runtime[Deps])
    Runtime(models=[model], tools=[of_deps])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    Runtime(models=[model], deps=other, tools=[of_deps])  # type: ignore[misc]  # pyright: ignore[reportArgumentType]


async def deps_are_not_forgotten(deps: Deps, other: Other) -> None:
    await with_deps.generate("Go.")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    await with_deps.generate("Go.", deps=other)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    await with_deps.try_generate("Go.")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    with_deps.generate_sync("Go.")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    with_deps.stream("Go.")  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
    with_deps.stream("Go.", deps=other)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def arguments_are_not_misspelt(deps: Deps) -> None:
    await simple.generate("Go.", temprature=1)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    await simple.generate("Go.", seed="1")  # type: ignore[call-overload]  # pyright: ignore[reportArgumentType]
    await simple.generate(prompt="Go.")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    await simple.generate(["Go."])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    simple.generate("Go.")  # type: ignore[unused-coroutine]  # pyright: ignore[reportUnusedCoroutine]


# --- ends -------------------------------------------------------------------------------------


def all_ends_are_enough(run: Run[Report]) -> str:
    match run.end:
        case Completed(report):
            assert_type(report, Report)
            return report.city
        case Stopped() | Blocked() as at_rest:
            assert_type(at_rest, Stopped | Blocked)
            return ""
        case Failed(error):
            return error.message
        case Cancelled(reason):
            return reason


def some_ends_are_not(run: Run[Report]) -> str:  # type: ignore[return]  # pyright: ignore[reportReturnType]
    match run.end:  # type: ignore[exhaustive-match]  # pyright: ignore[reportMatchNotExhaustive]
        case Completed(report):
            return report.city
        case Stopped() | Blocked() | Cancelled():
            return ""


def approvals_are_for_approvals(request: OpenCall) -> None:
    approve(request)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


# --- outputs ----------------------------------------------------------------------------------


def outputs_are_exact() -> None:
    assert_type(text(), Output[str])
    assert_type(object_of(Report), Output[Report])
    assert_type(object_of(Report | Refusal), Output[Report | Refusal])
    assert_type(object_of(list[Report]), Output[list[Report]])
    assert_type(object_of(Plain), Output[Plain])
    assert_type(object_of(Typed), Output[Typed])
    assert_type(object_of(Literal["yes", "no"]), Output[Literal["yes", "no"]])
    assert_type(object_of(int | None), Output[int | None])
    object_of(Report("Oslo"))  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
    object_of(3)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


async def unions_are_told_apart() -> None:
    agent = Agent(model="openai/gpt-5.4", output=object_of(Report | Refusal))
    match (await agent.generate("Go.")).unwrap():
        case Report(city):
            assert_type(city, str)
        case Refusal(reason):
            assert_type(reason, str)


# --- without an agent -------------------------------------------------------------------------


async def generate_text_is_exact(deps: Deps) -> None:
    assert_type(await generate_text("Go.", model="a/b"), Run[str])
    assert_type(await generate_text("Go.", model="a/b", tools=[free]), Run[str])
    assert_type(
        await generate_text("Go.", model="a/b", deps=deps, tools=[of_deps, SEARCH, free]), Run[str]
    )
    assert_type(await generate_text("Go.", model="a/b", output=object_of(Report)), Run[Report])
    assert_type(
        await generate_text("Go.", model="a/b", deps=deps, tools=[free, of_deps], seed=1), Run[str]
    )
    assert_type(
        await generate_text(
            "Go.", model="a/b", deps=deps, tools=[of_deps], output=object_of(Report)
        ),
        Run[Report],
    )
    assert_type(stream_text("Go.", model="a/b", output=object_of(Report)), RunStream[Report])
    assert_type(stream_text("Go.", model="a/b"), RunStream[str])
    assert_type(stream_text("Go.", model="a/b", deps=deps, tools=[of_deps]), RunStream[str])

    await generate_text("Go.", model="a/b", tools=[of_deps])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    await generate_text("Go.", model="a/b", deps=deps, tools=[of_other])  # type: ignore[misc]  # pyright: ignore[reportArgumentType]
    await generate_text("Go.")  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
    await generate_text("Go.", model="a/b", temprature=1)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
