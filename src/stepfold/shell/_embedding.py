"""`embed` and `embed_many`: texts into vectors, in batches that a model can take.

The vectors come in the order of the texts, whichever batch is answered first. The first batch
that fails for good ends the others.
"""

from collections.abc import Iterator, Sequence
from typing import final

import anyio
from attrs import field, frozen
from typing_extensions import Unpack

from stepfold.ports import BLOCKING, Embedding, EmbeddingModel, EmbeddingReply, EmbeddingRequest
from stepfold.shell._asking import Ask, Asking, ModelCallOptions, run_here, unwrapped
from stepfold.shell._members import require_members
from stepfold.shell._observing import EmbeddingCallEnded, EmbeddingCallStarted
from stepfold.values import (
    NO_RESPONSE,
    NO_USAGE,
    Failure,
    JsonText,
    ModelError,
    ModelErrorReason,
    ModelWarning,
    Outcome,
    ResponseInfo,
    Success,
    Usage,
    UsageError,
)


@final
@frozen(order=False)
class Embedded:
    """A text and its vector; `usage` counts input tokens."""

    value: str
    embedding: Embedding
    usage: Usage = NO_USAGE
    warnings: tuple[ModelWarning, ...] = field(default=(), kw_only=True)
    response: ResponseInfo = field(default=NO_RESPONSE, kw_only=True)
    provider_metadata: JsonText | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class EmbeddedMany:
    """Texts and their vectors, in one order; what came of several calls is joined in theirs.

    `usage` is their sum. There is one of `responses` and of `provider_metadata` for each call.
    """

    values: tuple[str, ...]
    embeddings: tuple[Embedding, ...]
    usage: Usage = NO_USAGE
    warnings: tuple[ModelWarning, ...] = field(default=(), kw_only=True)
    responses: tuple[ResponseInfo, ...] = field(default=(), kw_only=True)
    provider_metadata: tuple[JsonText | None, ...] = field(default=(), kw_only=True)


async def try_embed_many(
    model: EmbeddingModel,
    values: Sequence[str],
    /,
    *,
    dimensions: int | None = None,
    max_parallel: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Outcome[EmbeddedMany, ModelError]:
    """As `embed_many`, but gives `Failure(ModelError)` where the model gave no vectors.

    Raises:
        UsageError: an argument is wrong.
    """
    texts = _checked("embed_many", model, values, dimensions, max_parallel)
    return await _embedded("embed_many", model, texts, dimensions, max_parallel, options)


async def embed_many(
    model: EmbeddingModel,
    values: Sequence[str],
    /,
    *,
    dimensions: int | None = None,
    max_parallel: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> EmbeddedMany:
    """Turn texts into vectors, in as many calls as the model needs.

    Without texts, no call is made. The calls are made side by side if the model says that it
    supports it.

    Args:
        model: A model, such as `resolve_embedding_model("openai/text-embedding-3-small")`.
        values: The texts.
        dimensions: How long the vectors shall be, if the model lets one choose.
        max_parallel: How many calls may be in flight at once; any number by default.
        options: See `ModelCallOptions`.

    Raises:
        ModelError: there are no vectors for some of the texts.
        UsageError: an argument is wrong.
    """
    return unwrapped(
        await try_embed_many(
            model, values, dimensions=dimensions, max_parallel=max_parallel, **options
        )
    )


def embed_many_sync(
    model: EmbeddingModel,
    values: Sequence[str],
    /,
    *,
    dimensions: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> EmbeddedMany:
    """As `embed_many`, in this thread and without any event loop: one call after another.

    Raises:
        ModelError: there are no vectors for some of the texts.
        UsageError: an argument is wrong, or the model needs an event loop.
    """
    return run_here(
        "embed_many", model, lambda: embed_many(model, values, dimensions=dimensions, **options)
    )


async def try_embed(
    model: EmbeddingModel,
    value: str,
    /,
    *,
    dimensions: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Outcome[Embedded, ModelError]:
    """As `embed`, but gives `Failure(ModelError)` where the model gave no vector.

    Raises:
        UsageError: an argument is wrong.
    """
    _require_text(value)
    texts = _checked("embed", model, (value,), dimensions, None)
    match await _embedded("embed", model, texts, dimensions, None, options):
        case Success(many):
            return Success(
                Embedded(
                    value,
                    many.embeddings[0],
                    many.usage,
                    warnings=many.warnings,
                    response=many.responses[0],
                    provider_metadata=many.provider_metadata[0],
                )
            )
        case Failure(_) as failure:
            return failure


async def embed(
    model: EmbeddingModel,
    value: str,
    /,
    *,
    dimensions: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Embedded:
    """Turn a text into a vector.

    Args:
        model: A model, such as `resolve_embedding_model("openai/text-embedding-3-small")`.
        value: The text.
        dimensions: How long the vector shall be, if the model lets one choose.
        options: See `ModelCallOptions`.

    Raises:
        ModelError: the model gave no vector.
        UsageError: an argument is wrong.
    """
    return unwrapped(await try_embed(model, value, dimensions=dimensions, **options))


def embed_sync(
    model: EmbeddingModel,
    value: str,
    /,
    *,
    dimensions: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Embedded:
    """As `embed`, in this thread and without any event loop.

    Raises:
        ModelError: the model gave no vector.
        UsageError: an argument is wrong, or the model needs an event loop.
    """
    return run_here("embed", model, lambda: embed(model, value, dimensions=dimensions, **options))


# --- what they share --------------------------------------------------------------------------


def _checked(
    what: str,
    model: EmbeddingModel,
    values: Sequence[str],
    dimensions: int | None,
    max_parallel: int | None,
) -> tuple[str, ...]:
    require_members(what, model, "provider", "model_id", "embed")
    if isinstance(values, str):
        raise UsageError(f"{what}: expected a sequence of texts, got one: use embed")
    texts = tuple(values)
    for text in texts:
        _require_text(text, what)
    for name, number in (("dimensions", dimensions), ("max_parallel", max_parallel)):
        if number is not None and (type(number) is not int or number < 1):
            raise UsageError(f"{what}: expected {name} to be a whole number from 1, got {number!r}")
    return texts


def _require_text(given: object, what: str = "embed") -> None:
    if not isinstance(given, str):
        raise UsageError(f"{what}: expected a text, got {given!r:.200}; embed_many takes several")


def _batches(texts: tuple[str, ...], size: int | None) -> Iterator[tuple[str, ...]]:
    step = len(texts) if size is None else max(1, size)
    for start in range(0, len(texts), step or 1):
        yield texts[start : start + step]


async def _embedded(
    what: str,
    model: EmbeddingModel,
    texts: tuple[str, ...],
    dimensions: int | None,
    max_parallel: int | None,
    options: ModelCallOptions,
) -> Outcome[EmbeddedMany, ModelError]:
    asking = Asking(what, options)
    asks = [
        _ask(
            asking,
            model,
            batch,
            EmbeddingRequest(
                part,
                dimensions=dimensions,
                headers=asking.headers,
                provider_options=asking.provider_options,
            ),
        )
        for batch, part in enumerate(_batches(texts, model.max_values_per_call))
    ]
    at_once = max_parallel if model.supports_parallel_calls else 1
    outcomes = await asking.sharing(lambda: _all(asking, asks, at_once))
    replies: list[EmbeddingReply] = []
    for outcome in outcomes:
        match outcome:
            case Success(reply):
                replies.append(reply)
            case Failure(_) as failure:
                return failure
    return Success(
        EmbeddedMany(
            texts,
            tuple(vector for reply in replies for vector in reply.embeddings),
            sum((reply.usage for reply in replies), NO_USAGE),
            warnings=tuple(warning for reply in replies for warning in reply.warnings),
            responses=tuple(reply.response for reply in replies),
            provider_metadata=tuple(reply.provider_metadata for reply in replies),
        )
    )


def _ask(
    asking: Asking, model: EmbeddingModel, batch: int, request: EmbeddingRequest
) -> Ask[EmbeddingReply]:
    name = f"{model.provider}/{model.model_id}"

    async def make() -> EmbeddingReply:
        reply = await model.embed(request)
        if len(reply.embeddings) != len(request.values):
            count, sent = len(reply.embeddings), len(request.values)
            raise _violation(f"{name} gave {count} vectors for {sent} texts")
        if len({len(vector) for vector in reply.embeddings}) > 1:
            raise _violation(f"{name} gave vectors of different lengths")
        return reply

    return Ask(
        str(batch),
        make,
        lambda attempt, at: EmbeddingCallStarted(asking.run, batch, attempt, name, request, at),
        lambda attempt, outcome, started, at: EmbeddingCallEnded(
            asking.run, batch, attempt, name, request, outcome, started, at
        ),
    )


def _violation(message: str) -> ModelError:
    return ModelError(ModelErrorReason("protocol", message))


_Answer = Outcome[EmbeddingReply, ModelError]


async def _all(
    asking: Asking, asks: Sequence[Ask[EmbeddingReply]], at_once: int | None
) -> list[_Answer]:
    """The answers in the order of the asks; up to the first failure that is known of."""
    answers: dict[int, _Answer] = {}
    left = iter(enumerate(asks))

    async def work() -> bool:
        for index, ask in left:
            answer = await asking.ask(ask)
            answers[index] = answer
            if isinstance(answer, Failure):
                return False
        return True

    workers = min(len(asks), len(asks) if at_once is None else at_once)
    if workers <= 1 or BLOCKING.get():
        await work()
    else:
        faults: list[UsageError] = []
        async with anyio.create_task_group() as group:

            async def worker() -> None:
                try:
                    goes_on = await work()
                except UsageError as fault:  # raised below, in no group
                    faults.append(fault)
                    goes_on = False
                if not goes_on:
                    group.cancel_scope.cancel()

            for _ in range(workers):
                group.start_soon(worker)
        if faults:
            raise faults[0]
    return [answers[index] for index in sorted(answers)]
