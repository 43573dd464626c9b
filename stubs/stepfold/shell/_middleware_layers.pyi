from collections.abc import Callable
from stepfold.ports import LanguageModel, Middleware
from stepfold.values import ModelReply, ModelRequest

def map_request(function: Callable[[ModelRequest], ModelRequest], /) -> Middleware: ...
def map_reply(function: Callable[[ModelReply], ModelReply], /) -> Middleware: ...
def simulate_streaming() -> Middleware: ...
def wrap_language_model(
    model: LanguageModel,
    /,
    *middleware: Middleware,
    model_id: str | None = None,
    provider: str | None = None,
) -> LanguageModel: ...
