from typing import final
from attrs import field, frozen
from stepfold.loop._figures import OfTools

def _calls_by_name(given: OfTools[int]) -> tuple[tuple[str, int], ...]: ...

@final
@frozen(order=False, kw_only=True)
class Limits:
    steps: int | None = None
    tokens: int | None = None
    tool_calls: int | None = None
    calls_of: tuple[tuple[str, int], ...] = field(default=(), converter=_calls_by_name)
    wrap_up_tokens: int | None = None
    cost: int | None = None

    def __attrs_post_init__(self) -> None: ...

NO_LIMITS = Limits()
