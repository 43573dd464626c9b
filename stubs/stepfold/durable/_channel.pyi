from collections.abc import Awaitable, Sequence
from typing import Protocol, TypeAlias, final
from attrs import frozen
from stepfold.shell import ToolProgressed
from stepfold.values import StreamPart

ShownPart: TypeAlias = StreamPart | ToolProgressed

@final
@frozen(order=False)
class StreamedPart:
    command: str
    attempt: int
    index: int
    part: ShownPart

class StreamChannel(Protocol):
    def publish(self, run: str, parts: Sequence[StreamedPart], /) -> Awaitable[None]: ...
    def read(self, run: str, place: int, /) -> Awaitable[tuple[Sequence[StreamedPart], int]]: ...
