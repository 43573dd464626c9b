from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import final
from stepfold.loop import Granted, Limits, LoopState, Program
from stepfold.loop.commands import Grant
from stepfold.loop.events import Spending
from stepfold.shell._cancel import CancelHandle
from stepfold.values import Price

@final
class ChildRuns:
    def __init__(
        self,
        key: str,
        declared: Limits,
        grant: Grant,
        prices: Mapping[str, Price],
        handle: CancelHandle | None = None,
    ) -> None: ...
    handle: CancelHandle | None
    thread: int
    is_left: bool
    prices: Mapping[str, Price]
    limits: Limits

    def begin(self, program: Program, taken_up: LoopState | None = None) -> "ChildRun": ...
    def end(self, child: "ChildRun", state: LoopState) -> None: ...
    def take_call(self, tool: str) -> None: ...
    def report(self, spent: Spending) -> None: ...
    def close(self) -> Spending | None: ...

@final
class ChildRun:
    def __init__(
        self, parent: ChildRuns, run: str, granted: Granted, taken: Grant, before: Spending
    ) -> None: ...
    run: str
    granted: Granted
    taken: Grant
    before: Spending

    @property
    def is_to_leave(self) -> bool: ...
    def following(self, handle: CancelHandle) -> AbstractContextManager[None]: ...
    def leave(self) -> None: ...
    def end(self, state: LoopState) -> None: ...

def spent_by(state: LoopState) -> Spending: ...
