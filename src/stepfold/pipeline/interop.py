"""Railway style: from stages to the containers of the `returns` library, and back.

`as_future_result` makes of a stage what `FutureResult.bind` takes. `from_result` and
`from_future_result` make stages of functions that return what `returns` has.
"""

from collections.abc import Callable
from typing import Generic, TypeVar, final

from attrs import frozen
from returns.future import FutureResult
from returns.io import IOFailure
from returns.result import Result
from returns.unsafe import unsafe_perform_io

from stepfold.pipeline._make import fallible, stage
from stepfold.pipeline._stage import Stage
from stepfold.pipeline._works import name_of
from stepfold.values import Failure, Outcome, Success, settle

A = TypeVar("A")
B = TypeVar("B")
E = TypeVar("E")

__all__ = ("as_future_result", "from_future_result", "from_result")


def as_future_result(stage: Stage[A, B, E], /) -> Callable[[A], FutureResult[B, E]]:
    """Make a function of a stage, for `FutureResult.bind`: each call is a run in memory.

    Await what it gives once: a `FutureResult` runs anew, or not at all, where two tasks await it.
    """

    def run(given: A) -> FutureResult[B, E]:
        async def outcome() -> Result[B, E]:
            return await stage.run(given)

        return FutureResult(outcome())

    return run


def from_result(function: Callable[[A], Result[B, E]], /) -> Stage[A, B, E]:
    """Make a stage of a plain function that returns a `Result`."""
    return fallible(_Settled(function))


def from_future_result(function: Callable[[A], FutureResult[B, E]], /) -> Stage[A, B, E]:
    """Make a stage of a function that returns a `FutureResult`."""
    return stage(_SettledLater(function))


@final
@frozen(order=False)
class _Settled(Generic[A, B, E]):
    """Gives a `Result` as the union that it is."""

    function: Callable[[A], Result[B, E]]

    @property
    def name(self) -> str:
        """What the stage is called."""
        return name_of(self.function, "from_result")

    def __call__(self, given: A) -> Outcome[B, E]:
        """Call the function."""
        return settle(self.function(given))


@final
@frozen(order=False)
class _SettledLater(Generic[A, B, E]):
    """Awaits a `FutureResult`, and gives it as the union that it is."""

    function: Callable[[A], FutureResult[B, E]]

    @property
    def name(self) -> str:
        """What the stage is called."""
        return name_of(self.function, "from_future_result")

    async def __call__(self, given: A) -> Outcome[B, E]:
        """Call the function, and await what it gives."""
        found = await self.function(given)
        if isinstance(found, IOFailure):
            return Failure(unsafe_perform_io(found.failure()))
        return Success(unsafe_perform_io(found.unwrap()))
