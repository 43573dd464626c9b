"""The type of `tool(to_model_output=…)`: it ties what a tool gives to what shows it to the model.

A decorator does not see a function before it is called, and its own types are solved by then; so
what the function gives has to be written out, once for each way of giving it.
"""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from typing import Concatenate, Never, ParamSpec, Protocol, TypeAlias, TypeVar, overload

from stepfold.shell._tool import Tool, ToolContext
from stepfold.values import Outcome

D = TypeVar("D")
I = TypeVar("I")  # noqa: E741 - the instance that a method is bound to
P = ParamSpec("P")
Q = ParamSpec("Q")
T = TypeVar("T")
X = TypeVar("X")

Async: TypeAlias = Coroutine[object, Never, T]
"""What calling an async function gives; `Any` in it would leak into the results."""


class ShownToolDecorator(Protocol[T]):
    """What `tool(to_model_output=…)` gives: a decorator of functions that give a `T` in the end.

    One overload for each way of giving one, with and without a context.
    """

    @overload
    def __call__(
        self,
        function: Callable[Concatenate[ToolContext[D], Q], Async[Outcome[T, X]]],
        /,
    ) -> Tool[D, Concatenate[ToolContext[D], Q], Async[Outcome[T, X]]]: ...
    @overload
    def __call__(
        self,
        function: Callable[Concatenate[I, ToolContext[D], Q], Async[Outcome[T, X]]],
        /,
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
