from collections.abc import Sequence
from typing import Generic, TypeVar, final
from attrs import frozen
from stepfold.agent._options import RunOptions
from stepfold.loop import Granted, JournalHeader, LoopState, Program, Transition
from stepfold.shell import CancelHandle, ChildRun, Runtime, Steering
from stepfold.values import Message

D = TypeVar("D")

@final
@frozen(eq=False)
class Begun(Generic[D]):
    program: Program
    first: Transition
    runtime: Runtime[D]
    header: JournalHeader
    cancel: CancelHandle | None
    child: ChildRun | None
    steering: Steering | None

def begun(
    program: Program, prompt: str | Sequence[Message], runtime: Runtime[D], options: RunOptions
) -> Begun[D]: ...
def newly_granted(child: ChildRun | None, state: LoopState) -> Granted | None: ...
def child_of(
    parent: object, program: Program, taken_up: LoopState | None = None
) -> ChildRun | None: ...
