from collections.abc import Sequence
from typing import TypeVar
from stepfold.loop import LoopState, Program, Transition
from stepfold.loop.events import Event
from stepfold.shell._cancel import CancelHandle
from stepfold.shell._children import ChildRun
from stepfold.shell._driver import Driver
from stepfold.shell._runtime import Runtime
from stepfold.shell._steering import Steering

D = TypeVar("D")

async def drive(
    program: Program,
    first: Transition,
    runtime: Runtime[D],
    *,
    cancel: CancelHandle | None = None,
    steering: Steering | None = None,
) -> LoopState: ...
async def driven(
    program: Program,
    first: Transition,
    runtime: Runtime[D],
    cancel: CancelHandle | None,
    steering: Steering | None = None,
    events: Sequence[Event] = (),
    child: ChildRun | None = None,
) -> Driver[D]: ...
def drive_sync(
    program: Program,
    first: Transition,
    runtime: Runtime[D],
    *,
    cancel: CancelHandle | None = None,
    steering: Steering | None = None,
) -> LoopState: ...
def driven_sync(
    program: Program,
    first: Transition,
    runtime: Runtime[D],
    cancel: CancelHandle | None = None,
    steering: Steering | None = None,
) -> Driver[D]: ...
