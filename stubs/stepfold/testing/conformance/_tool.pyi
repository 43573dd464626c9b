from collections.abc import Mapping, Sequence
from typing import Final, Never
from stepfold.shell import AnyTool

_NONE_GIVEN: Final[Sequence[Mapping[str, object]]] = ...
_ASYNCIO: Final = ("asyncio",)

def check_tool(
    tool: AnyTool[Never, object],
    *,
    arguments: Sequence[Mapping[str, object]] = _NONE_GIVEN,
    deps: object = None,
    execute: bool = False,
    backends: Sequence[str] = _ASYNCIO,
) -> None: ...
