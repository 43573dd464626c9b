"""Tools: typed functions that stay callable.

The parameters and the returned type of the function are kept in the type of the tool; what the
results are is read off the returned type where results are asked for.
"""

import functools
import inspect
import types
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import (
    Concatenate,
    Generic,
    Never,
    ParamSpec,
    Protocol,
    Self,
    TypeVar,
    cast,
    final,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from attrs import field, frozen
from typing_extensions import TypeVar as TypeVarWithDefault
from typing_extensions import override

from stepfold.loop import NO_CONTEXT, Limits, ToolSpec
from stepfold.loop.events import Spending
from stepfold.schema import (
    Parameters,
    object_form_of,
    parameters_of,
    parameters_of_schema,
)
from stepfold.shell._approval import NeedsApproval
from stepfold.shell._children import ChildRuns
from stepfold.shell._tool_spec import ToolOptions, is_async, name_of, spec_of
from stepfold.values import (
    NO_USAGE,
    Instant,
    JsonObject,
    JsonText,
    Message,
    Outcome,
    Usage,
    UsageError,
)

D = TypeVar("D")
D_co = TypeVar("D_co", covariant=True)
D_contra = TypeVar("D_contra", contravariant=True)
I = TypeVar("I")  # noqa: E741 - the instance that a method is bound to
P = ParamSpec("P")
Q = ParamSpec("Q")
S = TypeVarWithDefault("S", default=Never)
X = TypeVarWithDefault("X", default=Never)
T = TypeVar("T")
Returned = TypeVar("Returned")
Returned_co = TypeVar("Returned_co", covariant=True)


class CallsWithin(Protocol):
    """What a call of a tool may call in its turn."""

    async def call(
        self,
        tool: "AnyTool[Never, object]",
        arguments: Mapping[str, object],
        context: "ToolContext[object]",
    ) -> object:
        """Run one call, and give what it gave."""
        ...


@final
@frozen(order=False)
class ToolContext(Generic[D_co]):
    """What a tool may know of the run that calls it.

    A tool says by the type of `deps` which part of them it needs: where that is a Protocol, deps of
    any class that has it will do, and two tools of one agent may ask for different parts. That is
    what the AI SDK's `contextSchema` and `toolsContext` are for, checked by types.

    `messages` is the history before the reply that called it; `idempotency_key` is the same each
    time that this very call is run, also after a crash; at `deadline` (nanoseconds) the call has
    failed. `runtime_context` is what the run was given, or what its prepare function made of it.
    """

    deps: D_co
    call_id: str
    step: int
    messages: tuple[Message, ...]
    idempotency_key: str
    deadline: Instant | None = None
    runtime_context: JsonObject = NO_CONTEXT
    children: ChildRuns | None = field(default=None, kw_only=True, eq=False, repr=False)
    within: CallsWithin | None = field(default=None, kw_only=True, eq=False, repr=False)

    @overload
    async def call(
        self, tool: "AnyTool[D_co, AsyncIterator[T]]", arguments: Mapping[str, object], /
    ) -> T: ...
    @overload
    async def call(
        self, tool: "AnyTool[D_co, Iterator[T]]", arguments: Mapping[str, object], /
    ) -> T: ...
    @overload
    async def call(
        self, tool: "AnyTool[D_co, Awaitable[Outcome[S, X]]]", arguments: Mapping[str, object], /
    ) -> S: ...
    @overload
    async def call(
        self, tool: "AnyTool[D_co, Awaitable[T]]", arguments: Mapping[str, object], /
    ) -> T: ...
    @overload
    async def call(
        self, tool: "AnyTool[D_co, Outcome[S, X]]", arguments: Mapping[str, object], /
    ) -> S: ...
    @overload
    async def call(self, tool: "AnyTool[D_co, T]", arguments: Mapping[str, object], /) -> T: ...
    async def call(
        self, tool: "AnyTool[D_co, object]", arguments: Mapping[str, object], /
    ) -> object:
        """Call another tool from within this call: one of those that `calls=[…]` names.

        The arguments are checked by its schema, it is counted as a tool call of the run, and it
        gets this call's deps. The model is told nothing of it, and no event either: after a crash
        this call is what is closed as interrupted, or run again.

        Raises:
            ToolFault: the arguments do not fit, no tool call is left, or the tool failed or took
                too long; raised on, it is this tool's own failure.
            UsageError: this tool did not name that one.
        """
        if self.within is None:
            msg = f"call: expected a tool that may call {tool.name}: declare it as @tool(calls=[…])"
            raise UsageError(msg)
        return await self.within.call(tool, arguments, self)

    @property
    def grant(self) -> Limits | None:
        """What runs that this call begins may spend together; `None` if the tool has no grant.

        Give the context itself to them, as `parent=`: they keep to what is left of the grant, and
        what they spend counts in the run that called the tool.
        """
        return None if self.children is None else self.children.limits

    def report(self, usage: Usage = NO_USAGE, *, cost: int | None = 0) -> None:
        """Tell what this call spent beside runs begun with `parent=`; `report()` is nothing.

        `cost` is in micro-units; `None` is unknown. A call with a grant that begins no run and
        reports nothing counts as having spent all of it.

        Raises:
            UsageError: the tool has no grant.
        """
        if self.children is None:
            msg = "report: expected a tool with a grant, as @tool(grant=Limits(…)), got none"
            raise UsageError(msg)
        self.children.report(Spending(usage, usage.total_tokens or 0, cost, cost or 0))


class AnyTool(Generic[D_contra, Returned_co]):
    """All that an agent needs of a tool: what the model is told, and how it is run.

    Made by `tool`, `client_tool` and `dynamic_tool`, not directly. A tool that is a method is read
    when it is bound to an object.
    """

    def __init__(self, function: object, options: ToolOptions) -> None:
        self.function: object = function
        self.options: ToolOptions = options
        if not is_unbound_method(function):
            _ = self.spec  # a mistake in the signature shows where the tool is made

    @functools.cached_property
    def takes_context(self) -> bool:
        """Whether the first parameter is a `ToolContext`, which the run supplies."""
        return self.options.input_schema is not None or _context_of(self.function) is not None

    @functools.cached_property
    def deps_type(self) -> object:
        """What the context has to hold: the type in `ToolContext[…]`, or `object`."""
        found: tuple[object, ...] = get_args(_context_of(self.function))
        return found[0] if found else object

    @functools.cached_property
    def is_async(self) -> bool:
        """Whether calling the function gives something to await; any other runs in a thread."""
        return is_async(self.function)

    @functools.cached_property
    def parameters(self) -> Parameters:
        """What the function takes and returns."""
        schema = self.options.input_schema
        if schema is None:
            return parameters_of(self.function, skip_first=self.takes_context)
        where = f"dynamic_tool {self.options.name}, input_schema"
        return parameters_of_schema(object_form_of(schema, where=where), self.function)

    @functools.cached_property
    def spec(self) -> ToolSpec:
        """The tool as the loop sees it."""
        _require_calls(self.function, self.options)
        return spec_of(self.function, self.options, self.parameters)

    def invoke(self, args: Sequence[object], keywords: Mapping[str, object]) -> object:
        """Call the function with arguments that were bound to its parameters."""
        function = self.function
        if not callable(function):
            msg = f"tool: expected a function, got {function!r}"
            raise UsageError(msg)
        result: object = function(*args, **keywords)
        return result

    def describe(self, deps: object) -> object:
        """Ask for the description that holds for these deps; `None` if it is always the same."""
        describe: Callable[[Never], object] | None = self.options.describe
        return None if describe is None else describe(cast("Never", deps))

    def show(self, value: object) -> object:
        """Ask `to_model_output` what the model sees of a returned value."""
        show: Callable[[Never], object] | None = self.options.to_model_output
        return None if show is None else show(cast("Never", value))  # the decorator tied the two

    @property
    def approval_rule(self) -> NeedsApproval | None:
        """What says of a call whether a person must approve it, if that depends on the call."""
        needs = self.options.needs_approval
        return None if isinstance(needs, bool) else needs

    @property
    def name(self) -> str:
        """The name that the model knows."""
        return self.spec.name

    @property
    def description(self) -> str:
        """What the model is told that the tool does."""
        return self.spec.definition.description

    @property
    def input_schema(self) -> JsonText:
        """The JSON Schema of the arguments (draft 2020-12)."""
        return self.spec.definition.input_schema


@final
class Tool(AnyTool[D_contra, Returned_co], Generic[D_contra, P, Returned_co]):
    """A function that a model may call, and that you may still call yourself."""

    def __init__(self, function: Callable[P, Returned_co], options: ToolOptions) -> None:
        functools.update_wrapper(self, function)  # first, since it brings attributes of its own
        super().__init__(function, options)
        self._call: Callable[P, Returned_co] = function

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Returned_co:
        """Call the function, as if it were no tool."""
        return self._call(*args, **kwargs)

    @overload
    def __get__(self, instance: None, owner: type[object], /) -> Self: ...
    @overload
    def __get__(
        self: "Tool[D, Concatenate[I, Q], Returned]",
        instance: I,
        owner: type[object] | None = None,
        /,
    ) -> "Tool[D, Q, Returned]": ...
    def __get__(
        self: AnyTool[Never, object],
        instance: object | None,
        owner: type[object] | None = None,
        /,
    ) -> object:
        """Bind a tool that is a method, as functions are bound."""
        if instance is None or not callable(self.function):
            return self
        return Tool[object, [], object](types.MethodType(self.function, instance), self.options)

    @override
    def __repr__(self) -> str:
        return f"<tool {name_of(self.function)}>"


def is_unbound_method(function: object) -> bool:
    """Whether this is a function in a class body, whose first parameter is yet to be bound."""
    if not inspect.isfunction(function):
        return False
    first = next(iter(inspect.signature(function).parameters.values()), None)
    return first is not None and first.name in {"self", "cls"} and first.annotation is first.empty


def _context_of(function: object) -> object | None:
    """The annotation of the first parameter if it is the context; elsewhere it is refused."""
    plain: object = function
    while isinstance(plain, functools.partial):
        plain = plain.func
    if not inspect.isroutine(plain) and not inspect.isclass(plain):
        plain = getattr(type(plain), "__call__", None)  # noqa: B004 - the function, not whether
    if not callable(function):
        return None
    try:
        hints: dict[str, object] = get_type_hints(plain)
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError, NameError):
        return None  # `parameters_of` says what is wrong, in the user's words
    places = [index for index, one in enumerate(parameters) if _is_context(hints.get(one.name))]
    if not places:
        return None
    first = parameters[places[0]]
    if places != [0] or first.kind is first.KEYWORD_ONLY:
        msg = (
            f"{name_of(function)}(), parameter {parameters[places[-1]].name!r}: expected the "
            "ToolContext as the first, positional parameter, got it elsewhere; move it there"
        )
        raise UsageError(msg)
    return hints[first.name]


def _is_context(annotation: object) -> bool:
    return annotation is ToolContext or get_origin(annotation) is ToolContext


def _require_calls(function: object, options: ToolOptions) -> None:
    """Refuse calls of other tools for which the run's own rules could not hold."""
    if not options.calls:
        return
    if not is_async(function) or _context_of(function) is None:
        msg = (
            f"tool {name_of(function)}, calls: expected an async function that takes a "
            "ToolContext, since others are called by `await context.call(…)`"
        )
        raise UsageError(msg)
