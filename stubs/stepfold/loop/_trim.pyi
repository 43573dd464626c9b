from collections.abc import Callable, Sequence
from stepfold.values import Message

def trim_messages(
    messages: Sequence[Message],
    *,
    max_messages: int | None = None,
    max_tokens: int | None = None,
    count: Callable[[Message], int] | None = None,
    keep_instructions: bool = True,
    keep_first_user: bool = False,
) -> tuple[Message, ...]: ...
