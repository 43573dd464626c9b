from collections.abc import Mapping
from typing import final
from stepfold.loop import Granted, Limits, LoopState, Program
from stepfold.loop.commands import Grant
from stepfold.loop.events import Spending
from stepfold.values import Price

@final
class ChildRuns:
    def __init__(
        self, key: str, declared: Limits, grant: Grant, prices: Mapping[str, Price]
    ) -> None: ...
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

    def end(self, state: LoopState) -> None: ...

def spent_by(state: LoopState) -> Spending: ...
