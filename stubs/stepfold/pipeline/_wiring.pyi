import enum
from typing import final
from attrs import field, frozen
from stepfold.loop import RetryPolicy
from stepfold.pipeline._nodes import Awaited
from stepfold.pipeline._works import Work

@final
class Op(enum.Enum):
    SUCCEED = "succeed"
    FAIL = "fail"
    WORK = "work"
    CHOOSE = "choose"
    ENTER = "enter"
    LEAVE = "leave"
    RESTORE = "restore"
    HOLD = "hold"
    AGAIN = "again"
    TURN = "turn"
    JUDGE = "judge"
    COUNT = "count"
    FORK = "fork"
    RACE = "race"
    EACH = "each"
    SLEEP = "sleep"
    ASK = "ask"
    PAIR = "pair"

@final
@frozen(order=False, eq=False)
class Instruction:
    op: Op
    title: str
    then: int
    failed: int
    work: Work | None = None
    arms: tuple[int, ...] = ()
    bound: int = 0
    seconds: float | None = None
    policy: RetryPolicy | None = field(default=None, kw_only=True)
    settles: bool = field(default=False, kw_only=True)
    asked: Awaited | None = field(default=None, kw_only=True)
    repeats: bool = field(default=False, kw_only=True)

@final
@frozen(order=False, eq=False)
class Wiring:
    code: tuple[Instruction, ...] = field()
    entry: int

    @property
    def inputs(self) -> tuple[str, ...]: ...
