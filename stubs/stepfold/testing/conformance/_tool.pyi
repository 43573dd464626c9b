from collections.abc import Mapping, Sequence
from typing import Final, Never, TypeAlias
from stepfold.shell import AnyTool
from stepfold.testing.conformance._findings import StatedLaw
from hypothesis.strategies import SearchStrategy

_Arguments: TypeAlias = Mapping[str, object]
_NONE_GIVEN: Final[Sequence[_Arguments]] = ...
_ASYNCIO: Final = ("asyncio",)
_TOLD: Final = StatedLaw("a tool tells the model what it does", "no docstring and no description")
_ACCEPTS: Final = StatedLaw(
    "a tool accepts its arguments", "arguments that are given and that its schema excludes"
)
_BINDS: Final = StatedLaw(
    "arguments are bound alike each time", "a converter that counts; a validator with a clock"
)
_ENDS: Final = StatedLaw("a tool ends", "waiting for what never comes")
_RETURNS: Final = StatedLaw("a tool returns, or raises an Exception", "`sys.exit()`")
_JSON: Final = StatedLaw(
    "what a tool returns has a JSON form, preliminary results included", "a file handle; NaN"
)
_SHOWN: Final = StatedLaw(
    "what a tool returns can be shown to the model", "a `to_model_output` that raises"
)
_IDEMPOTENT: Final = StatedLaw(
    "an idempotent tool gives the same when it is run again", "a counter; a new id each time"
)
_BLOCKS: Final = StatedLaw(
    "an async tool does not block the event loop", "a client that is not async; `time.sleep()`"
)
_CANCELLED: Final = StatedLaw(
    "an async tool ends promptly when it is cancelled", "`except BaseException`"
)
_LOOPS: Final = StatedLaw(
    "a tool ends alike on each event loop it is for", "`asyncio.sleep()`, on trio"
)
_OF_RUNS: Final = (_ENDS, _RETURNS, _JSON, _SHOWN, _IDEMPOTENT, _BLOCKS, _CANCELLED, _LOOPS)
TOOL_LAWS: Final = (_TOLD, _ACCEPTS, _BINDS, *_OF_RUNS)

def check_tool(
    tool: AnyTool[Never, object],
    *,
    arguments: "Sequence[_Arguments] | SearchStrategy[_Arguments]" = _NONE_GIVEN,
    deps: object = None,
    execute: bool = False,
    examples: int = 100,
    backends: Sequence[str] = _ASYNCIO,
) -> None: ...
