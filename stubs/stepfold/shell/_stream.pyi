from types import TracebackType
from typing import Self, TypeAlias, TypeVar, final
from attrs import frozen
from typing_extensions import override
from stepfold.loop import Program, Transition
from stepfold.loop.commands import CallKey, CallModel
from stepfold.loop.notes import Note
from stepfold.shell._cancel import CancelHandle
from stepfold.shell._driver import Driver
from stepfold.shell._runtime import Runtime
from stepfold.shell._steering import Steering
from stepfold.values import JsonText, StreamPart, ToolCall

D = TypeVar("D")

@final
@frozen(order=False)
class ToolProgressed:
    key: CallKey
    value: JsonText
    call: ToolCall

RunPart: TypeAlias = StreamPart | Note | ToolProgressed

class StreamDriver(Driver[D]):
    def __init__(
        self,
        program: Program,
        first: Transition,
        runtime: Runtime[D],
        cancel: CancelHandle | None = None,
        steering: Steering | None = None,
    ) -> None: ...
    cancel_handle: CancelHandle

    @property
    def steering(self) -> Steering: ...
    async def __aenter__(self) -> Self: ...
    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> bool | None: ...
    async def pull(self) -> RunPart: ...
    @override
    async def call_model(self, command: CallModel) -> None: ...
    @override
    def tell(self, notes: tuple[Note, ...]) -> None: ...
    @override
    def show_progress(self, key: CallKey, call: ToolCall, value: JsonText) -> None: ...
