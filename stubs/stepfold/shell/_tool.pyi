import functools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Concatenate, Generic, Never, ParamSpec, Protocol, Self, TypeVar, final, overload
from attrs import field, frozen
from typing_extensions import TypeVar as TypeVarWithDefault
from typing_extensions import override
from stepfold.loop import NO_CONTEXT, Limits, ToolSpec
from stepfold.schema import Parameters
from stepfold.shell._approval import NeedsApproval
from stepfold.shell._children import ChildRuns
from stepfold.shell._tool_spec import ToolOptions
from stepfold.values import NO_USAGE, Instant, JsonObject, JsonText, Message, Outcome, Usage

D = TypeVar("D")
D_co = TypeVar("D_co", covariant=True)
D_contra = TypeVar("D_contra", contravariant=True)
I = TypeVar("I")
P = ParamSpec("P")
Q = ParamSpec("Q")
S = TypeVarWithDefault("S", default=Never)
X = TypeVarWithDefault("X", default=Never)
T = TypeVar("T")
Returned = TypeVar("Returned")
Returned_co = TypeVar("Returned_co", covariant=True)

class CallsWithin(Protocol):
    async def call(
        self,
        tool: "AnyTool[Never, object]",
        arguments: Mapping[str, object],
        context: "ToolContext[object]",
    ) -> object: ...

@final
@frozen(order=False)
class ToolContext(Generic[D_co]):
    deps: D_co
    call_id: str
    step: int
    messages: tuple[Message, ...]
    idempotency_key: str
    deadline: Instant | None = None
    runtime_context: JsonObject = NO_CONTEXT
    children: ChildRuns | None = field(default=None, kw_only=True)
    within: CallsWithin | None = field(default=None, kw_only=True)

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
    @property
    def grant(self) -> Limits | None: ...
    def report(self, usage: Usage = NO_USAGE, *, cost: int | None = 0) -> None: ...

class AnyTool(Generic[D_contra, Returned_co]):
    def __init__(self, function: object, options: ToolOptions) -> None: ...
    function: object
    options: ToolOptions

    @functools.cached_property
    def takes_context(self) -> bool: ...
    @functools.cached_property
    def deps_type(self) -> object: ...
    @functools.cached_property
    def is_async(self) -> bool: ...
    @functools.cached_property
    def parameters(self) -> Parameters: ...
    @functools.cached_property
    def spec(self) -> ToolSpec: ...
    def invoke(self, args: Sequence[object], keywords: Mapping[str, object]) -> object: ...
    def describe(self, deps: object) -> object: ...
    def show(self, value: object) -> object: ...
    @property
    def approval_rule(self) -> NeedsApproval | None: ...
    @property
    def name(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def input_schema(self) -> JsonText: ...

@final
class Tool(AnyTool[D_contra, Returned_co], Generic[D_contra, P, Returned_co]):
    def __init__(self, function: Callable[P, Returned_co], options: ToolOptions) -> None: ...
    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Returned_co: ...
    @overload
    def __get__(self, instance: None, owner: type[object], /) -> Self: ...
    @overload
    def __get__(
        self: "Tool[D, Concatenate[I, Q], Returned]",
        instance: I,
        owner: type[object] | None = None,
        /,
    ) -> "Tool[D, Q, Returned]": ...
    @override
    def __repr__(self) -> str: ...

def is_unbound_method(function: object) -> bool: ...
