from collections.abc import Callable, Iterable
from typing import Protocol, TypeAlias, final
from attrs import frozen
from stepfold.shell import CancelHandle, RunPart

@final
@frozen(order=False)
class Pause:
    duration: int

@final
class StreamControl:
    def __init__(self, cancel: CancelHandle) -> None: ...
    def stop_stream(self, reason: str = "stopped by a transform") -> None: ...

PartTransform: TypeAlias = Callable[[RunPart], Iterable[RunPart | Pause]]
StreamTransform: TypeAlias = Callable[[StreamControl], PartTransform]

class Parts(Protocol):
    async def pull(self) -> RunPart: ...
