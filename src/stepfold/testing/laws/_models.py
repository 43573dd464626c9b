"""Laws of models, of middleware, and of the fold of a stream."""

from collections.abc import Container, Iterable, Sequence

from stepfold.loop import ReplyFold, fold_parts, parts_of
from stepfold.ports import LanguageModel, Middleware, compose
from stepfold.testing.laws._equal import require_equal
from stepfold.values import ModelError, ModelErrorReason, ModelReply, ModelRequest, StreamPart


async def generate_is_the_folded_stream(model: LanguageModel, request: ModelRequest) -> None:
    """Law 7: for every request `generate(request)` equals the fold of `stream(request)`.

    Empty text is dropped from both, and calls are named alike in both.
    """
    require_equal(
        await _streamed(model, request),
        await _generated(model, request),
        "the fold of the stream (one) is not what generate gives (other)",
    )


async def _generated(model: LanguageModel, request: ModelRequest) -> ModelReply | ModelErrorReason:
    try:
        return fold_parts(parts_of(await model.generate(request)))
    except ModelError as error:
        return error.reason


async def _streamed(model: LanguageModel, request: ModelRequest) -> ModelReply | ModelErrorReason:
    try:
        return fold_parts(await _parts(model, request))
    except ModelError as error:
        return error.reason


async def _parts(model: LanguageModel, request: ModelRequest) -> list[StreamPart]:
    async with model.stream(request) as stream:
        return [part async for part in stream]


async def _sent(
    model: LanguageModel, request: ModelRequest
) -> tuple[str, str, ModelReply | ModelErrorReason, list[StreamPart] | ModelErrorReason]:
    """All that can be seen of a model."""
    parts: list[StreamPart] | ModelErrorReason
    try:
        parts = await _parts(model, request)
    except ModelError as error:
        parts = error.reason
    return model.provider, model.model_id, await _generated(model, request), parts


async def models_are_equal(one: LanguageModel, other: LanguageModel, request: ModelRequest) -> None:
    """Two models have one name, and answer this request alike, whole and part by part."""
    require_equal(
        await _sent(one, request), await _sent(other, request), "two models answer differently"
    )


async def middleware_is_a_monoid(
    first: Middleware,
    second: Middleware,
    third: Middleware,
    model: LanguageModel,
    request: ModelRequest,
) -> None:
    """Law 11: `compose()` is the identity, composition is associative, first is outermost."""
    await models_are_equal(compose()(model), model, request)
    await models_are_equal(compose(first)(model), first(model), request)
    await models_are_equal(compose(first, second)(model), first(second(model)), request)
    whole = compose(first, second, third)(model)
    await models_are_equal(compose(compose(first, second), third)(model), whole, request)
    await models_are_equal(compose(first, compose(second, third))(model), whole, request)


async def middleware_is_transparent(
    middleware: Middleware, model: LanguageModel, request: ModelRequest
) -> None:
    """Law 11: a middleware that changes nothing can be left out."""
    await models_are_equal(middleware(model), model, request)


def fold_ignores_chunks(one: Iterable[StreamPart], other: Iterable[StreamPart]) -> None:
    """Two streams that differ in where they are cut fold to the same reply, or the same fault."""
    require_equal(_folded(one), _folded(other), "two ways to cut a stream gave two replies")


def _folded(parts: Iterable[StreamPart]) -> ModelReply | ModelErrorReason:
    try:
        return fold_parts(parts)
    except ModelError as error:
        return error.reason


def renaming_is_idempotent(parts: Sequence[StreamPart], seen: Container[str]) -> None:
    """Parts that a fold has named once are not named otherwise by another, equal fold."""
    first, again = ReplyFold(seen), ReplyFold(seen)
    named = [first.add(part) for part in parts]
    require_equal([again.add(part) for part in named], named, "a fold renamed what it had named")
    require_equal(again.reply(), first.reply(), "a fold of named parts gave another reply")
