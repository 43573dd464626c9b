from collections.abc import Callable
from stepfold.ports import Clock, Middleware

def _hide_secrets(text: str) -> str: ...
def logged(
    log: Callable[[str], object],
    /,
    *,
    text_length: int = 80,
    redact: Callable[[str], str] = _hide_secrets,
    clock: Clock | None = None,
) -> Middleware: ...
