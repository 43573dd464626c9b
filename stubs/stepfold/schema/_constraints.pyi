from typing import final
from attrs import frozen

@final
@frozen(order=False)
class Description:
    text: str

@final
@frozen(order=False, kw_only=True)
class Constraint:
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    multiple_of: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None

def describe(text: str) -> Description: ...
def bounded(
    *,
    ge: float | None = None,
    gt: float | None = None,
    le: float | None = None,
    lt: float | None = None,
    multiple_of: float | None = None,
    min_length: int | None = None,
    max_length: int | None = None,
) -> Constraint: ...
def pattern(expression: str) -> Constraint: ...
