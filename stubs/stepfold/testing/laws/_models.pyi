from collections.abc import Container, Iterable, Sequence
from stepfold.ports import LanguageModel, Middleware
from stepfold.values import ModelRequest, StreamPart

async def generate_is_the_folded_stream(model: LanguageModel, request: ModelRequest) -> None: ...
async def models_are_equal(
    one: LanguageModel, other: LanguageModel, request: ModelRequest
) -> None: ...
async def middleware_is_a_monoid(
    first: Middleware,
    second: Middleware,
    third: Middleware,
    model: LanguageModel,
    request: ModelRequest,
) -> None: ...
async def middleware_is_transparent(
    middleware: Middleware, model: LanguageModel, request: ModelRequest
) -> None: ...
def fold_ignores_chunks(one: Iterable[StreamPart], other: Iterable[StreamPart]) -> None: ...
def renaming_is_idempotent(parts: Sequence[StreamPart], seen: Container[str]) -> None: ...
