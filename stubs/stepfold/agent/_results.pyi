from collections.abc import AsyncIterator, Awaitable, Iterator
from typing import Never, overload
from typing_extensions import TypeVar
from stepfold.agent._output import Output
from stepfold.shell import AnyTool
from stepfold.values import Outcome

S = TypeVar("S", default=Never)
X = TypeVar("X", default=Never)
T = TypeVar("T")

@overload
def result_of(tool: AnyTool[Never, AsyncIterator[T]], /, *, retries: int = 0) -> Output[T]: ...
@overload
def result_of(tool: AnyTool[Never, Iterator[T]], /, *, retries: int = 0) -> Output[T]: ...
@overload
def result_of(
    tool: AnyTool[Never, Awaitable[Outcome[S, X]]], /, *, retries: int = 0
) -> Output[S]: ...
@overload
def result_of(tool: AnyTool[Never, Awaitable[T]], /, *, retries: int = 0) -> Output[T]: ...
@overload
def result_of(tool: AnyTool[Never, Outcome[S, X]], /, *, retries: int = 0) -> Output[S]: ...
@overload
def result_of(tool: AnyTool[Never, T], /, *, retries: int = 0) -> Output[T]: ...
