from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Concatenate, Never, ParamSpec, Protocol, TypeAlias, TypeVar, overload
from stepfold.shell._tool import Tool, ToolContext
from stepfold.values import Outcome

D = TypeVar("D")
I = TypeVar("I")
P = ParamSpec("P")
Q = ParamSpec("Q")
T = TypeVar("T")
X = TypeVar("X")
Async: TypeAlias = Coroutine[object, Never, T]

class ShownToolDecorator(Protocol[T]):
    @overload
    def __call__(
        self, function: Callable[Concatenate[ToolContext[D], Q], Async[Outcome[T, X]]], /
    ) -> Tool[D, Concatenate[ToolContext[D], Q], Async[Outcome[T, X]]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[I, ToolContext[D], Q], Async[Outcome[T, X]]], /
    ) -> Tool[D, Concatenate[I, ToolContext[D], Q], Async[Outcome[T, X]]]: ...
    @overload
    def __call__(
        self, function: Callable[P, Async[Outcome[T, X]]], /
    ) -> Tool[object, P, Async[Outcome[T, X]]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[ToolContext[D], Q], Async[T]], /
    ) -> Tool[D, Concatenate[ToolContext[D], Q], Async[T]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[I, ToolContext[D], Q], Async[T]], /
    ) -> Tool[D, Concatenate[I, ToolContext[D], Q], Async[T]]: ...
    @overload
    def __call__(self, function: Callable[P, Async[T]], /) -> Tool[object, P, Async[T]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[ToolContext[D], Q], AsyncIterator[T]], /
    ) -> Tool[D, Concatenate[ToolContext[D], Q], AsyncIterator[T]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[I, ToolContext[D], Q], AsyncIterator[T]], /
    ) -> Tool[D, Concatenate[I, ToolContext[D], Q], AsyncIterator[T]]: ...
    @overload
    def __call__(
        self, function: Callable[P, AsyncIterator[T]], /
    ) -> Tool[object, P, AsyncIterator[T]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[ToolContext[D], Q], Iterator[T]], /
    ) -> Tool[D, Concatenate[ToolContext[D], Q], Iterator[T]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[I, ToolContext[D], Q], Iterator[T]], /
    ) -> Tool[D, Concatenate[I, ToolContext[D], Q], Iterator[T]]: ...
    @overload
    def __call__(self, function: Callable[P, Iterator[T]], /) -> Tool[object, P, Iterator[T]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[ToolContext[D], Q], Outcome[T, X]], /
    ) -> Tool[D, Concatenate[ToolContext[D], Q], Outcome[T, X]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[I, ToolContext[D], Q], Outcome[T, X]], /
    ) -> Tool[D, Concatenate[I, ToolContext[D], Q], Outcome[T, X]]: ...
    @overload
    def __call__(
        self, function: Callable[P, Outcome[T, X]], /
    ) -> Tool[object, P, Outcome[T, X]]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[ToolContext[D], Q], T], /
    ) -> Tool[D, Concatenate[ToolContext[D], Q], T]: ...
    @overload
    def __call__(
        self, function: Callable[Concatenate[I, ToolContext[D], Q], T], /
    ) -> Tool[D, Concatenate[I, ToolContext[D], Q], T]: ...
    @overload
    def __call__(self, function: Callable[P, T], /) -> Tool[object, P, T]: ...
