"""What a run shows while it goes on, beside the engine: parts of replies, progress of tools.

None of it is part of the run. What is published may come twice or not at all: where a worker was
lost, its command is begun again, with a higher `attempt` or as another command, and what the lost
one showed stays shown.
"""

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from types import TracebackType
from typing import Final, Protocol, Self, TypeAlias, final

from attrs import frozen

from stepfold.loop.notes import Note
from stepfold.shell import RunPart, ToolProgressed
from stepfold.values import StreamPart

ShownPart: TypeAlias = StreamPart | ToolProgressed
"""What is shown of a reply, or of a tool that is still at work."""


@final
@frozen(order=False)
class StreamedPart:
    """One thing that a run has shown.

    `command` is what it came of, such as `CallModel/0/1`: the step, and the attempt at its model
    call. `attempt` grows each time that the engine begins the command; `index` counts what that
    attempt has shown, from 0. Who sees a higher attempt, or a higher number at the end of
    `CallModel/…`, forgets what the one before it has shown.
    """

    command: str
    attempt: int
    index: int
    part: ShownPart


class StreamChannel(Protocol):
    """Brings what runs show from workers to whoever watches; a worker and its clients have one."""

    def publish(self, run: str, parts: Sequence[StreamedPart], /) -> Awaitable[None]:
        """Show parts of a run, in this order."""
        ...

    def read(self, run: str, place: int, /) -> Awaitable[tuple[Sequence[StreamedPart], int]]:
        """Give what a run has shown after a place, and the place after that.

        The first place is 0. May wait a moment where there is nothing, and gives nothing then.
        """
        ...


@final
class Publisher:
    """Publishes what one attempt at a command shows, as fast as the channel takes it.

    That it cannot is reported to the logger `stepfold`, and changes nothing for the run.
    """

    def __init__(self, channel: StreamChannel, run: str, command: str, attempt: int) -> None:
        self._channel: Final = channel
        self._run: Final = run
        self._command: Final = command
        self._attempt: Final = attempt
        self._count = 0
        self._waiting: list[StreamedPart] = []
        self._news: Final = asyncio.Event()
        self._is_over = False
        self._is_broken = False
        self._task: asyncio.Task[None] | None = None

    def show(self, part: RunPart) -> None:
        """Take a part; what the loop notes is told by the engine."""
        if isinstance(part, Note):
            return
        shown = StreamedPart(self._command, self._attempt, self._count, part)
        self._count += 1
        self._waiting.append(shown)
        self._news.set()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._publish())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_over = True
        self._news.set()
        if self._task is not None:
            await self._task

    async def _publish(self) -> None:
        while not (self._is_over and not self._waiting):
            await self._news.wait()
            self._news.clear()
            parts, self._waiting = self._waiting, []
            if parts and not self._is_broken:
                await self._publish_all(parts)

    async def _publish_all(self, parts: Sequence[StreamedPart]) -> None:
        try:
            await self._channel.publish(self._run, parts)
        except Exception:  # what is shown is no part of the run
            self._is_broken = True
            logging.getLogger("stepfold").exception(
                "what %s of the run %r shows cannot be published", self._command, self._run
            )
