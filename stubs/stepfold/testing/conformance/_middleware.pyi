from typing import Final
from stepfold.ports import Middleware
from stepfold.testing.conformance._findings import StatedLaw
from stepfold.testing.conformance._request_laws import HELLO
from stepfold.values import ModelRequest

_NAMES: Final = StatedLaw(
    "a model has two names, and can generate and stream", "a class without `model_id`"
)
_ENDS: Final = StatedLaw("a model ends in a reply or a ModelError", "`raise TimeoutError`")
_FOLD: Final = StatedLaw(
    "what a model generates is the fold of what it streams", "changing one of the two"
)
_CLOSED: Final = StatedLaw(
    "a stream that was left leaves nothing open", "entering a stream without leaving it"
)
_APART: Final = StatedLaw(
    "two models behind one middleware do not get each other's answers",
    "a cache that does not look at the name of the model",
)
_UNSEEN: Final = StatedLaw(
    "a transparent middleware can be left out", "a name of its own; leaving out empty parts"
)
MIDDLEWARE_LAWS: Final = (_NAMES, _ENDS, _FOLD, _CLOSED, _APART, _UNSEEN)

def check_middleware(
    middleware: Middleware,
    *,
    is_transparent: bool = False,
    request: ModelRequest = HELLO,
    examples: int = 60,
) -> None: ...
