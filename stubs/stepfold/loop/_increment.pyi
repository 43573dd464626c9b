from collections.abc import Sequence
from typing import final
from attrs import frozen
from stepfold.loop._state import LoopState

@final
@frozen(order=False)
class Increment:
    state: LoopState
    messages: int = 0
    steps: int = 0
    keeps_base: bool = False

def increment_of(older: LoopState | None, state: LoopState) -> Increment: ...
def restored(increments: Sequence[Increment]) -> LoopState: ...
