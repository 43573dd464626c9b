from collections.abc import Callable, Sequence
from typing import Concatenate, ParamSpec, Protocol, TypeVar, overload
from typing_extensions import TypedDict, Unpack
from stepfold.loop import Limits
from stepfold.shell._tool import AnyTool, Tool, ToolContext

D = TypeVar("D")
I = TypeVar("I")
P = ParamSpec("P")
Q = ParamSpec("Q")
Returned = TypeVar("Returned")

class ClientToolKeywords(TypedDict, total=False):
    needs_approval: bool
    strict: bool | None
    examples: Sequence[object]

class ToolKeywords(ClientToolKeywords, total=False):
    idempotent: bool
    timeout: float | None
    async_only: bool
    grant: Limits | None

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
    **options: Unpack[ToolKeywords],
) -> ToolDecorator: ...

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
