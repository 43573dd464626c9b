from stepfold.ports import Middleware
from stepfold.testing.conformance._request_laws import HELLO
from stepfold.values import ModelRequest

def check_middleware(
    middleware: Middleware,
    *,
    is_transparent: bool = False,
    request: ModelRequest = HELLO,
    examples: int = 60,
) -> None: ...
