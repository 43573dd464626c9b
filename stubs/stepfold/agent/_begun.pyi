from typing import Generic, TypeVar, final
from attrs import frozen
from stepfold.loop import JournalHeader, Program, Transition
from stepfold.shell import CancelHandle, ChildRun, Runtime, Steering

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
