from collections.abc import Callable
from stepfold.ports import Middleware

def extract_reasoning(
    *,
    tag: str | None = None,
    opening: str | None = None,
    closing: str | None = None,
    separator: str = "\n",
    starts_with_reasoning: bool = False,
) -> Middleware: ...
def extract_json(transform: Callable[[str], str] | None = None, /) -> Middleware: ...
