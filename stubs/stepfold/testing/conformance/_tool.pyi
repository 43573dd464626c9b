from collections.abc import Mapping, Sequence
from typing import Final, Never, TypeAlias
from stepfold.shell import AnyTool
from hypothesis.strategies import SearchStrategy

_Arguments: TypeAlias = Mapping[str, object]
_NONE_GIVEN: Final[Sequence[_Arguments]] = ...
_ASYNCIO: Final = ("asyncio",)

def check_tool(
    tool: AnyTool[Never, object],
    *,
    arguments: "Sequence[_Arguments] | SearchStrategy[_Arguments]" = _NONE_GIVEN,
    deps: object = None,
    execute: bool = False,
    examples: int = 100,
    backends: Sequence[str] = _ASYNCIO,
) -> None: ...
