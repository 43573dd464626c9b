from collections.abc import Mapping
from typing import final
from attrs import frozen
from stepfold.loop._limits import Limits
from stepfold.loop._program import Program
from stepfold.values import Price

@final
@frozen(order=False)
class Granted:
    limits: Limits
    prices: tuple[tuple[str, Price], ...] = ()

def granted_to(program: Program, limits: Limits, prices: Mapping[str, Price]) -> Granted: ...
def limits_of(program: Program, granted: Granted | None) -> Limits: ...
def prices_of(program: Program, granted: Granted | None) -> Mapping[str, Price]: ...
