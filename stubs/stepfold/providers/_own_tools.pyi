from collections.abc import Callable, Mapping
from typing import Concatenate, ParamSpec, TypeVar, final, overload
from attrs import field, frozen
from typing_extensions import Unpack
from stepfold.shell import (
    ClientToolDecorator,
    ClientToolKeywords,
    ShownToolDecorator,
    Tool,
    ToolContext,
    ToolDecorator,
    ToolKeywords,
)
from stepfold.values import JsonText, ToolOutput

D = TypeVar("D")
I = TypeVar("I")
P = ParamSpec("P")
Q = ParamSpec("Q")
Returned = TypeVar("Returned")
T = TypeVar("T")

@final
@frozen(order=False, kw_only=True)
class UserLocation:
    city: str | None = None
    region: str | None = None
    country: str | None = None
    timezone: str | None = None

    @property
    def on_the_wire(self) -> Mapping[str, object]: ...

@final
@frozen(order=False, kw_only=True)
class ProviderDefined:
    provider: str
    name: str
    definition: JsonText
    samples: tuple[JsonText, ...] = field(default=())

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
    def with_options(
        self, *, to_model_output: None = None, **options: Unpack[ToolKeywords]
    ) -> ToolDecorator: ...
    @overload
    def with_options(
        self, *, to_model_output: Callable[[T], ToolOutput], **options: Unpack[ToolKeywords]
    ) -> ShownToolDecorator[T]: ...
    def by_client(self, **options: Unpack[ClientToolKeywords]) -> ClientToolDecorator: ...
