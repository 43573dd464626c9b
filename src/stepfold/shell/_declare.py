"""How tools are declared.

`tool` makes one of a function, `client_tool` one that somebody else runs, `dynamic_tool` one that
is known by its JSON Schema alone.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Concatenate, Generic, Never, ParamSpec, Protocol, final, overload

from typing_extensions import TypedDict, TypeVar, Unpack

from stepfold.loop import Limits
from stepfold.shell._approval import NeedsApproval
from stepfold.shell._shown import ShownToolDecorator
from stepfold.shell._tool import AnyTool, Tool, ToolContext
from stepfold.shell._tool_spec import ToolOptions, is_mapping
from stepfold.values import Failure, JsonText, ToolOutput, UsageError, parse_json

D = TypeVar("D")
Deps = TypeVar("Deps", default=object)
Given = TypeVar("Given", default=object)
I = TypeVar("I")  # noqa: E741 - the instance that a method is bound to
P = ParamSpec("P")
Q = ParamSpec("Q")
Returned = TypeVar("Returned")
T = TypeVar("T")


class ClientToolKeywords(TypedDict, total=False):
    """What any tool may be told of itself; see `tool`."""

    needs_approval: bool | NeedsApproval
    strict: bool | None
    examples: Sequence[object]
    title: str | None
    metadata: Mapping[str, object] | None
    provider_options: Mapping[str, object] | None
    max_retries: int | None
    defer_loading: bool


class ToolKeywords(ClientToolKeywords, total=False):
    """What a tool that runs here may be given; see `tool`."""

    idempotent: bool
    timeout: float | None
    async_only: bool
    grant: Limits | None
    calls: Sequence[AnyTool[Never, object]]


@final
class DescribedToolDecorator(Generic[D]):
    """What `tool(description=…)` gives where the description is computed from deps."""

    def __init__(self, decorate: Callable[[object], object]) -> None:
        self._decorate = decorate

    @overload
    def __call__(
        self, function: Callable[Concatenate[ToolContext[D], Q], Returned], /
    ) -> Tool[D, Concatenate[ToolContext[D], Q], Returned]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[I, ToolContext[D], Q], Returned], /
    ) -> Tool[D, Concatenate[I, ToolContext[D], Q], Returned]: ...
    @overload
    def __call__(self, function: Callable[P, Returned], /) -> Tool[D, P, Returned]: ...
    def __call__(self, function: object, /) -> object:
        """Make a tool of the function."""
        return self._decorate(function)


class ToolDecorator(Protocol):
    """What `tool(...)` with options gives: a decorator."""

    @overload
    def __call__(
        self, function: Callable[Concatenate[ToolContext[D], Q], Returned], /
    ) -> Tool[D, Concatenate[ToolContext[D], Q], Returned]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[I, ToolContext[D], Q], Returned], /
    ) -> Tool[D, Concatenate[I, ToolContext[D], Q], Returned]: ...
    @overload
    def __call__(self, function: Callable[P, Returned], /) -> Tool[object, P, Returned]: ...


@overload
def tool(
    function: Callable[Concatenate[ToolContext[D], Q], Returned], /
) -> Tool[D, Concatenate[ToolContext[D], Q], Returned]: ...
@overload
def tool(
    function: Callable[Concatenate[I, ToolContext[D], Q], Returned], /
) -> Tool[D, Concatenate[I, ToolContext[D], Q], Returned]: ...
@overload
def tool(function: Callable[P, Returned], /) -> Tool[object, P, Returned]: ...
@overload
def tool(
    function: None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    to_model_output: None = None,
    **options: Unpack[ToolKeywords],
) -> ToolDecorator: ...
@overload
def tool(
    function: None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    to_model_output: Callable[[T], ToolOutput],
    **options: Unpack[ToolKeywords],
) -> ShownToolDecorator[T]: ...
@overload
def tool(
    function: None = None,
    /,
    *,
    name: str | None = None,
    description: Callable[[D], str],
    to_model_output: None = None,
    **options: Unpack[ToolKeywords],
) -> DescribedToolDecorator[D]: ...
def tool(
    function: object = None,
    /,
    *,
    name: str | None = None,
    description: str | Callable[[Never], str] | None = None,
    to_model_output: Callable[[Never], ToolOutput] | None = None,
    **options: Unpack[ToolKeywords],
) -> object:
    """Make a tool of a function: `@tool`, or `@tool(needs_approval=True, …)`.

    The function may be sync (it then runs in a worker thread), async, or a generator of either
    kind. It may return a value, an `Outcome`, or raise; a raised error is told to the model. A
    first parameter annotated `ToolContext[Deps]` is supplied by the run and is no part of the
    schema.

    Each item of a generator is shown as a preliminary result (`ToolProgressed`) when it comes, the
    last one too, since nothing tells that it is the last before the generator ends. It is the
    result as well; without any item the result is `None`.

    Args:
        function: The function; its docstring describes the tool and, under `Args:`, the
            parameters.
        name: What the model calls it; by default the name of the function.
        description: What the model is told; by default the docstring. A plain function of the
            deps computes it before each step; what it gives is part of the plan of the step
            (`StepPlan.descriptions`), so that a replay asks nobody. If it raises, the run has
            failed. A wrap-up has no plan: there, the model is told the docstring.
        to_model_output: What the model sees of a result: a plain function of the value that the
            function gives in the end (awaited, the last item, in a `Success`). By default it sees
            text as it is, and anything else as JSON. `Run.results_of` gives the value itself. If
            it raises, the call has failed, and the model is told so.
        options: `needs_approval`: whether a person must approve each call, or a function (sync or
            async) that says so of a call; one that fails denies it, and an agent's `tool_approval`
            comes before either. `idempotent`: whether
            running a call twice does no harm, so that it may run again after a crash. `timeout`:
            seconds after which a call has failed, whether or not the function has ended. `strict`:
            whether the provider shall enforce the schema; by default its own choice. `examples`:
            inputs to show to the model; each has to fit the schema. `max_retries`: how many errors
            of the tool in a row the model may answer by calling it again, before the run stops in
            `limit-retries`. `defer_loading`: whether the tool is hidden from the model until it has
            found it by a `tool_search`. `async_only`: whether the function needs an event loop;
            `drive_sync` then refuses it. `grant`: the most that a call may spend by runs that it
            begins with `parent=`, of what the run that calls it has left; `Limits()` is as much as
            there is. `calls`: tools that this one calls by itself, with `context.call(…)`; they
            need not be among the tools of the agent, and are hidden from the model then. `title`
            and `metadata`: what people are shown of the tool, and whatever else belongs to it, as
            JSON; both are on the parts of its calls and results, and no model is told them.
            `provider_options`: what only one provider understands of a tool, by provider.

    Raises:
        UsageError: the signature has no JSON form, or an option is wrong; the text says which.
    """
    _require_known("tool", options, ToolKeywords.__annotations__)
    kept = ToolOptions(
        name=name,
        description=description if isinstance(description, str) else None,
        describe=None if isinstance(description, str) else description,
        to_model_output=to_model_output,
        **options,
    )

    def decorate(function: object) -> object:
        if isinstance(function, AnyTool):
            function = function.function  # the same function, offered otherwise
        if not callable(function):
            msg = f"tool: expected a function, got {function!r}; options are given by keyword"
            raise UsageError(msg)
        return Tool[object, [], object](function, kept)

    if function is not None:
        return decorate(function)
    return decorate if kept.describe is None else DescribedToolDecorator[object](decorate)


# --- tools without code -----------------------------------------------------------------------


class ClientToolDecorator(Protocol):
    """What `client_tool(...)` with options gives: a decorator."""

    def __call__(self, function: Callable[P, Returned], /) -> AnyTool[object, Returned]: ...


@overload
def client_tool(function: Callable[P, Returned], /) -> AnyTool[object, Returned]: ...
@overload
def client_tool(
    function: None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    **options: Unpack[ClientToolKeywords],
) -> ClientToolDecorator: ...
def client_tool(
    function: object = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    **options: Unpack[ClientToolKeywords],
) -> object:
    """Declare a tool that somebody else runs: a browser, an app, a person.

    Only the signature, the returned type and the docstring of the function are read; its body is
    never run, so let it `raise NotImplementedError`. A call of it makes the run rest in `Blocked`
    with an `OpenCall`, which `Agent.answer` takes up with `tool_output` or `tool_error`, or which
    is answered by a `ToolResult` in the history. The result has to fit the returned type, and
    `Run.results_of` gives it in that type.

    Args:
        function: The function; its docstring describes the tool and its parameters.
        name: What the model calls it; by default the name of the function.
        description: What the model is told; by default the docstring.
        options: As for `tool`: `needs_approval`, `strict`, `examples`, `max_retries`,
            `defer_loading`, `title`, `metadata`, `provider_options`.

    Raises:
        UsageError: the signature has no JSON form, or takes a `ToolContext`, which nobody would
            supply; or an option is wrong. The text says which.
    """
    _require_known("client_tool", options, ClientToolKeywords.__annotations__)
    kept = ToolOptions(name=name, description=description, executes=False, **options)

    def decorate(function: object) -> object:
        if isinstance(function, AnyTool):
            function = function.function  # the same function, run by somebody else
        if not callable(function):
            msg = f"client_tool: expected a function, got {function!r}; give options by keyword"
            raise UsageError(msg)
        made = AnyTool[object, object](function, kept)
        if made.takes_context:
            raise UsageError(
                f"client_tool {made.name}: expected only parameters that the model fills, got a "
                "ToolContext; drop it, or make it a tool that runs here"
            )
        return made

    return decorate if function is None else decorate(function)


# --- tools known by their schema --------------------------------------------------------------


def dynamic_tool(
    *,
    name: str,
    description: str = "",
    input_schema: Mapping[str, object] | JsonText | str,
    execute: Callable[[ToolContext[Deps], Mapping[str, object]], Given],
    to_model_output: Callable[[Never], ToolOutput] | None = None,
    **options: Unpack[ToolKeywords],
) -> AnyTool[Deps, Given]:
    """Make a tool whose input is known by a JSON Schema alone, such as one of a server.

    The schema (draft 2020-12) has to describe an object. Calls are checked by a decoder that is
    compiled from it and accepts exactly what it accepts, before anything runs; so a keyword that
    restricts and is not understood is an error here, not a gap: `stepfold.schema` lists them.

    Args:
        name: What the model calls it.
        description: What the model is told.
        input_schema: The schema: a mapping, or its JSON text.
        execute: Called with the context and the arguments, a dict of plain JSON. It may be all
            that a `tool` may be: sync, async, a generator. `Run.results_of` is typed by what it
            returns.
        to_model_output: As for `tool`; what its argument is, is up to `execute`.
        options: As for `tool`.

    Raises:
        UsageError: the schema is none, is none of an object, or restricts by a keyword that is not
            understood; or an option is wrong. The text says which, and where.
    """
    _require_known("dynamic_tool", options, ToolKeywords.__annotations__)
    if not callable(execute):
        raise UsageError(f"dynamic_tool {name}: expected a function to execute, got {execute!r}")
    kept = ToolOptions(
        name=name,
        description=description,
        to_model_output=to_model_output,
        input_schema=_schema_text(name, input_schema),
        **options,
    )
    return AnyTool[Deps, Given](execute, kept)


def _schema_text(name: str, given: object) -> JsonText:
    if isinstance(given, JsonText):
        return given
    where = f"dynamic_tool {name}, input_schema"
    if isinstance(given, str):
        parsed = parse_json(given)
        if isinstance(parsed, Failure):
            raise UsageError(f"{where}: expected JSON, got {parsed.failure().message}")
        return JsonText(given)
    if not is_mapping(given):
        raise UsageError(f"{where}: expected a JSON Schema, got {given!r:.100}")
    try:
        return JsonText.of(given)
    except (TypeError, ValueError) as error:
        raise UsageError(f"{where}: expected what has a JSON form, got {error}") from error


# --- what they share --------------------------------------------------------------------------


def _require_known(maker: str, given: Iterable[str], known: Iterable[str]) -> None:
    for option in given:
        if option not in known:
            names = ", ".join(sorted({"name", "description", *known}))
            raise UsageError(f"{maker}: expected options among {names}, got {option!r}")
