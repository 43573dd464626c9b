from collections.abc import Callable
from typing import Generic, TypeAlias, TypeVar, final
from stepfold.loop import LoopState, Program, Transition
from stepfold.loop.commands import CallKey, Command
from stepfold.loop.events import Event, ToolReturned
from stepfold.shell._runtime import Runtime
from stepfold.shell._stream import RunPart
from stepfold.values import Instant, ModelReply

D = TypeVar("D")
Show: TypeAlias = Callable[[RunPart], None]

@final
class Carrier(Generic[D]):
    def __init__(self, program: Program, runtime: Runtime[D], first: Transition) -> None: ...
    async def carry_out(
        self, state: LoopState, command: Command, *, show: Show | None = None
    ) -> Event | None: ...
    def partial(self) -> ModelReply | None: ...
    async def happened(self, before: LoopState, event: Event, transition: Transition) -> None: ...
    async def aclose(self) -> None: ...

def lost_call(key: CallKey, at: Instant) -> ToolReturned: ...
