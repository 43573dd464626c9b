"""Transforms: functions between a run and whoever watches its stream.

A transform changes what is shown. What is recorded is the loop's: history, journal and the run are
the same with it and without. It is a plain function of one part after another, made anew for each
stream, so there is nothing to close when the stream is left early; a pause is a value that the
stream carries out on the clock of the run.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import Final, Protocol, TypeAlias, final

from attrs import frozen

from stepfold.ports import Clock
from stepfold.shell import CancelHandle, RunPart
from stepfold.values import UsageError


@final
@frozen(order=False)
class Pause:
    """Wait so many nanoseconds before the next part is shown."""

    duration: int


@final
class StreamControl:
    """What a transform can do to the run of its stream."""

    def __init__(self, cancel: CancelHandle) -> None:
        self._cancel = cancel

    def stop_stream(self, reason: str = "stopped by a transform") -> None:
        """End the run, as its cancel handle does: it becomes `Cancelled(reason)`.

        What was finished is kept. The notes of the end are shown, through the transforms.
        """
        self._cancel(reason)


PartTransform: TypeAlias = Callable[[RunPart], Iterable[RunPart | Pause]]
"""Takes the parts of a stream in order, and gives for each those that are shown."""
StreamTransform: TypeAlias = Callable[[StreamControl], PartTransform]
"""Makes the transform of one stream. The last part of a stream is `RunEnded` or `RunBlocked`."""


def checked_transforms(
    given: StreamTransform | Sequence[StreamTransform],
) -> tuple[StreamTransform, ...]:
    """One transform, or several in their order.

    Raises:
        UsageError: something is no function.
    """
    several = (given,) if callable(given) else tuple(given)
    for one in several:
        if not callable(one):
            raise UsageError(f"transform: expected a function, got {one!r:.200}")
    return several


class Parts(Protocol):
    """A stream of parts that can be pulled."""

    async def pull(self) -> RunPart:
        """Give the next part.

        Raises:
            StopAsyncIteration: there is none.
        """
        ...


@final
class TransformedParts:
    """The parts of a run as its transforms show them, the first transform being the first to see.

    A part that was taken is shown, whoever stops waiting in between.
    """

    def __init__(
        self,
        inner: Parts,
        transforms: Iterable[StreamTransform],
        clock: Clock,
        control: StreamControl,
    ) -> None:
        self._inner: Final = inner
        self._clock: Final = clock
        self._transforms: Final = [make(control) for make in transforms]
        self._shown: Final[deque[RunPart | Pause]] = deque()

    async def pull(self) -> RunPart:
        """Give the next part that is shown.

        Raises:
            StopAsyncIteration: there is none.
        """
        while True:
            if self._shown:
                item = self._shown.popleft()
                if not isinstance(item, Pause):
                    return item
                await self._clock.sleep_until(self._clock.now() + item.duration)
                continue
            self._shown.extend(self._transformed(await self._inner.pull()))

    def _transformed(self, part: RunPart) -> Iterable[RunPart | Pause]:
        items: list[RunPart | Pause] = [part]
        for transform in self._transforms:
            items = _through(transform, items)
        return items


def _through(transform: PartTransform, items: Iterable[RunPart | Pause]) -> list[RunPart | Pause]:
    shown: list[RunPart | Pause] = []
    for item in items:
        if isinstance(item, Pause):
            shown.append(item)
        else:
            shown.extend(transform(item))
    return shown
