from collections.abc import Sequence
from typing import Final
from typing_extensions import TypeVar
from stepfold.pipeline import Stage
from stepfold.testing.conformance._findings import StatedLaw
from hypothesis.strategies import SearchStrategy

A = TypeVar("A")
B = TypeVar("B")
E = TypeVar("E")
_ASYNCIO: Final = ("asyncio",)
_EQUAL: Final = StatedLaw(
    "a stage is equal to itself with identity() before or after, and hashed alike",
    "a callable object without a hash",
)
_FORM: Final = StatedLaw(
    "what goes into a kept stage and comes out has a JSON form", "a missing annotation"
)
_ENDS: Final = StatedLaw("a stage ends", "waiting for what never comes")
_RAISES: Final = StatedLaw("a stage gives a value or a failure, and raises nothing", "`words[0]`")
_LEAVES: Final = StatedLaw("a stage leaves its input as it was", "`items.sort()`")
_BLOCKS: Final = StatedLaw(
    "a stage does not block the event loop", "a client that is not async, in an async function"
)
_CANCELLED: Final = StatedLaw(
    "a stage ends promptly when it is cancelled", "`except BaseException`"
)
_PURE: Final = StatedLaw(
    "one input has one outcome", "a clock; say `is_pure=False` where a model or the world is asked"
)
_COMPOSES: Final = StatedLaw(
    "an outcome does not depend on what a stage is put together with", "a counter of its runs"
)
_OF_RUNS: Final = (_ENDS, _RAISES, _LEAVES, _BLOCKS, _PURE, _CANCELLED, _COMPOSES)
STAGE_LAWS: Final = (_EQUAL, _FORM, *_OF_RUNS)

def check_stage(
    stage: Stage[A, B, E],
    *,
    given: "Sequence[A] | SearchStrategy[A]" = (),
    execute: bool = False,
    examples: int = 25,
    is_pure: bool = True,
    is_kept: bool = False,
    backends: Sequence[str] = _ASYNCIO,
) -> None: ...
