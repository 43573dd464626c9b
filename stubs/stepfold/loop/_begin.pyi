from collections.abc import Sequence
from stepfold.loop._granted import Granted
from stepfold.loop._program import Program
from stepfold.loop._state import Transition
from stepfold.values import EMPTY_OBJECT, Instant, JsonText, Message

def begin(
    program: Program,
    prompt: str | Sequence[Message],
    *,
    run: str,
    seed: int,
    at: Instant,
    runtime_context: JsonText = EMPTY_OBJECT,
    granted: Granted | None = None,
) -> Transition: ...
