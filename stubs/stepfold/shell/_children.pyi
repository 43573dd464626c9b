from collections.abc import Mapping
from typing import final
from stepfold.loop import Limits, LoopState
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

    def begin(self, own: Limits, taken_up: LoopState | None = None) -> "ChildRun": ...
    def end(self, child: "ChildRun", state: LoopState) -> None: ...
    def take_call(self, tool: str) -> None: ...
    def report(self, spent: Spending) -> None: ...
    def close(self) -> Spending | None: ...

@final
class ChildRun:
    def __init__(
        self, parent: ChildRuns, run: str, limits: Limits, taken: Grant, before: Spending
    ) -> None: ...
    run: str
    limits: Limits
    taken: Grant
    before: Spending
    prices: Mapping[str, Price]

    def end(self, state: LoopState) -> None: ...

def spent_by(state: LoopState) -> Spending: ...
