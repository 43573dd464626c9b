from collections.abc import Callable
from typing import Final, Literal, TypeAlias, final
from attrs import frozen

LawStatus: TypeAlias = Literal["held", "broken", "not tried"]

@final
@frozen(order=False)
class StatedLaw:
    says: str
    broken_by: str

@final
@frozen(order=False)
class LawVerdict:
    law: StatedLaw
    status: LawStatus
    told: str = ""

@final
class LawBroken(AssertionError):
    def __init__(self, name: str, law: StatedLaw, counter_example: str) -> None: ...
    name: Final[str]
    law: Final[StatedLaw]
    counter_example: Final[str]

def verdicts_of(
    check: Callable[[], None], *, on_progress: Callable[[int], None] | None = None
) -> tuple[LawVerdict, ...]: ...
