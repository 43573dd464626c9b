"""A model's stream that is open, and what has come of it."""

from collections.abc import AsyncIterator
from typing import final

from stepfold.loop import ReplyFold
from stepfold.loop.commands import CallModel
from stepfold.ports import ModelStream
from stepfold.values import (
    File,
    Instant,
    ReasoningDelta,
    ReasoningFile,
    StreamPart,
    TextDelta,
    ToolCall,
    ToolInputDelta,
)

OUTPUT = (TextDelta, ReasoningDelta, ToolInputDelta, ToolCall, File, ReasoningFile)
"""The parts that count as output; `times` of an open reply are those of each."""


@final
class OpenReply:
    """A reply on its way: the parts that come, their fold so far, and when output came."""

    __slots__ = ("command", "fold", "manager", "parts", "started", "times")

    def __init__(
        self,
        command: CallModel,
        manager: ModelStream,
        parts: AsyncIterator[StreamPart],
        fold: ReplyFold,
        started: Instant,
    ) -> None:
        self.command = command
        self.manager = manager
        self.parts = parts
        self.fold = fold
        self.started = started
        self.times: list[Instant] = []

    async def close(self) -> None:
        """Close the model's stream."""
        await self.manager.__aexit__(None, None, None)
