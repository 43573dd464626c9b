from collections.abc import Callable, Mapping, Sequence
from typing import Concatenate, Generic, Never, ParamSpec, Protocol, final, overload
from typing_extensions import TypedDict, TypeVar, Unpack
from stepfold.loop import Limits
from stepfold.shell._approval import NeedsApproval
from stepfold.shell._shown import ShownToolDecorator
from stepfold.shell._tool import AnyTool, Tool, ToolContext
from stepfold.values import JsonText, ToolOutput

D = TypeVar("D")
Deps = TypeVar("Deps", default=object)
Given = TypeVar("Given", default=object)
I = TypeVar("I")
P = ParamSpec("P")
Q = ParamSpec("Q")
Returned = TypeVar("Returned")
T = TypeVar("T")

class ClientToolKeywords(TypedDict, total=False):
    needs_approval: bool | NeedsApproval
    strict: bool | None
    examples: Sequence[object]
    title: str | None
    metadata: Mapping[str, object] | None
    provider_options: Mapping[str, object] | None
    max_retries: int | None
    defer_loading: bool

class ToolKeywords(ClientToolKeywords, total=False):
    idempotent: bool
    timeout: float | None
    async_only: bool
    grant: Limits | None
    calls: Sequence[AnyTool[Never, object]]

@final
class DescribedToolDecorator(Generic[D]):
    def __init__(self, decorate: Callable[[object], object]) -> None: ...
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

class ToolDecorator(Protocol):
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

class ClientToolDecorator(Protocol):
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
def dynamic_tool(
    *,
    name: str,
    description: str = "",
    input_schema: Mapping[str, object] | JsonText | str,
    execute: Callable[[ToolContext[Deps], Mapping[str, object]], Given],
    to_model_output: Callable[[Never], ToolOutput] | None = None,
    **options: Unpack[ToolKeywords],
) -> AnyTool[Deps, Given]: ...
