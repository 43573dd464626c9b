from collections.abc import Sequence
from stepfold.loop._program import Program
from stepfold.loop._state import Transition
from stepfold.values import Instant, Message

def begin(
    program: Program, prompt: str | Sequence[Message], *, run: str, seed: int, at: Instant
) -> Transition: ...
