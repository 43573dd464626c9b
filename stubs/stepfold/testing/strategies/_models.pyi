from collections.abc import Sequence
from hypothesis.strategies import SearchStrategy
from stepfold.ports import Middleware
from stepfold.testing._scripted import Scripted
from stepfold.testing.strategies._programs import TOOL_NAMES

def scripts(
    *,
    tools: Sequence[str] = TOOL_NAMES,
    min_replies: int = 1,
    max_replies: int = 4,
    failing: int = 15,
    hostile: int = 15,
    cut: int = 15,
) -> SearchStrategy[list[Scripted]]: ...
def middlewares(*, min_layers: int = 0, max_layers: int = 3) -> SearchStrategy[Middleware]: ...
def byte_chunkings(
    *, data: bytes, min_cuts: int = 0, max_cuts: int = 8
) -> SearchStrategy[tuple[bytes, ...]]: ...
