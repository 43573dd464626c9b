from typing import final
from attrs import field, frozen
from stepfold.loop._figures import OfTools

def _tools_by_name(given: OfTools[float]) -> tuple[tuple[str, float], ...]: ...

@final
@frozen(order=False, kw_only=True)
class Timeouts:
    total: float | None = None
    step: float | None = None
    first_chunk: float | None = None
    chunk: float | None = None
    tool: float | None = None
    tools: tuple[tuple[str, float], ...] = field(default=(), converter=_tools_by_name)

    def __attrs_post_init__(self) -> None: ...
    @property
    def of_chunks(self) -> bool: ...

NO_TIMEOUTS = Timeouts()
