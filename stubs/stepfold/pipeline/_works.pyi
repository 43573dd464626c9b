import enum
from collections.abc import Callable
from typing import final
from attrs import field, frozen

AnyFunction = Callable[[object], object]

@final
class Reading(enum.Enum):
    VALUE = "value"
    OUTCOME = "outcome"
    EITHER = "either"
    IGNORED = "ignored"
    CHOICE = "choice"

@final
@frozen(order=False)
class Work:
    name: str
    function: AnyFunction
    reading: Reading
    may_wait: bool = False
    wants_context: bool = field(default=False, kw_only=True)
    is_plain: bool = field(default=False, kw_only=True)
    takes: object = field(default=None, kw_only=True)
    gives: object = field(default=None, kw_only=True)
