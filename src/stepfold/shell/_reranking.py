"""`rerank`: which documents answer a query best."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar, cast, final, overload

from attrs import field, frozen
from typing_extensions import Unpack

from stepfold.ports import RerankingModel, RerankingReply, RerankingRequest
from stepfold.shell._asking import Ask, Asking, ModelCallOptions, run_here, unwrapped
from stepfold.shell._members import require_members
from stepfold.shell._observing import RerankingCallEnded, RerankingCallStarted
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

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")


@final
@frozen(order=False)
class RankedDocument(Generic[T_co]):
    """A document, its index among those that were given, and how well it fits."""

    document: T_co
    index: int
    score: float


@final
@frozen(order=False)
class Reranked(Generic[T_co]):
    """The documents that fit a query best, best first."""

    query: str
    ranking: tuple[RankedDocument[T_co], ...]
    usage: Usage = NO_USAGE
    warnings: tuple[ModelWarning, ...] = field(default=(), kw_only=True)
    response: ResponseInfo = field(default=NO_RESPONSE, kw_only=True)
    provider_metadata: JsonText | None = field(default=None, kw_only=True)

    @property
    def documents(self) -> tuple[T_co, ...]:
        """The documents alone, best first."""
        return tuple(ranked.document for ranked in self.ranking)


@overload
async def try_rerank(
    model: RerankingModel,
    query: str,
    documents: Sequence[str],
    /,
    *,
    text: None = None,
    top_n: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Outcome[Reranked[str], ModelError]: ...
@overload
async def try_rerank(
    model: RerankingModel,
    query: str,
    documents: Sequence[T],
    /,
    *,
    text: Callable[[T], str],
    top_n: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Outcome[Reranked[T], ModelError]: ...
async def try_rerank(
    model: RerankingModel,
    query: str,
    documents: Sequence[T],
    /,
    *,
    text: Callable[[T], str] | None = None,
    top_n: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Outcome[Reranked[T], ModelError]:
    """As `rerank`, but gives `Failure(ModelError)` where the model gave no ranking.

    Raises:
        UsageError: an argument is wrong.
    """
    given = tuple(documents)
    texts = cast("tuple[str, ...]", given) if text is None else tuple(map(text, given))
    _check(model, query, documents, texts, top_n)
    asking = Asking("rerank", options)
    if not given:
        return Success(Reranked(query, ()))
    request = RerankingRequest(
        query,
        texts,
        top_n=top_n,
        headers=asking.headers,
        provider_options=asking.provider_options,
    )
    match await asking.sharing(lambda: asking.ask(_ask(asking, model, request))):
        case Success(reply):
            ranking = reply.ranking if top_n is None else reply.ranking[:top_n]
            return Success(
                Reranked(
                    query,
                    tuple(
                        RankedDocument(given[one.index], one.index, one.score) for one in ranking
                    ),
                    reply.usage,
                    warnings=reply.warnings,
                    response=reply.response,
                    provider_metadata=reply.provider_metadata,
                )
            )
        case Failure(_) as failure:
            return failure


@overload
async def rerank(
    model: RerankingModel,
    query: str,
    documents: Sequence[str],
    /,
    *,
    text: None = None,
    top_n: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Reranked[str]: ...
@overload
async def rerank(
    model: RerankingModel,
    query: str,
    documents: Sequence[T],
    /,
    *,
    text: Callable[[T], str],
    top_n: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Reranked[T]: ...
async def rerank(
    model: RerankingModel,
    query: str,
    documents: Sequence[T],
    /,
    *,
    text: Callable[[T], str] | None = None,
    top_n: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Reranked[T]:
    """Sort documents by how well they answer a query.

    Without documents, no call is made.

    Args:
        model: A model, such as `resolve_reranking_model("cohere/rerank-v3.5")`.
        query: What is looked for.
        documents: Texts, or anything else if `text` says how it reads.
        text: Gives the text of a document.
        top_n: How many of the best are wanted; all by default.
        options: See `ModelCallOptions`.

    Raises:
        ModelError: the model gave no ranking.
        UsageError: an argument is wrong.
    """
    shown = cast("Callable[[T], str]", text)  # the overloads tie it to the documents
    return unwrapped(await try_rerank(model, query, documents, text=shown, top_n=top_n, **options))


@overload
def rerank_sync(
    model: RerankingModel,
    query: str,
    documents: Sequence[str],
    /,
    *,
    text: None = None,
    top_n: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Reranked[str]: ...
@overload
def rerank_sync(
    model: RerankingModel,
    query: str,
    documents: Sequence[T],
    /,
    *,
    text: Callable[[T], str],
    top_n: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Reranked[T]: ...
def rerank_sync(
    model: RerankingModel,
    query: str,
    documents: Sequence[T],
    /,
    *,
    text: Callable[[T], str] | None = None,
    top_n: int | None = None,
    **options: Unpack[ModelCallOptions],
) -> Reranked[T]:
    """As `rerank`, in this thread and without any event loop.

    Raises:
        ModelError: the model gave no ranking.
        UsageError: an argument is wrong, or the model needs an event loop.
    """
    shown = cast("Callable[[T], str]", text)  # as above
    return run_here(
        "rerank",
        model,
        lambda: rerank(model, query, documents, text=shown, top_n=top_n, **options),
    )


def _check(
    model: RerankingModel,
    query: object,
    documents: object,
    texts: tuple[object, ...],
    top_n: int | None,
) -> None:
    require_members("rerank", model, "provider", "model_id", "rerank")
    if not isinstance(query, str):
        raise UsageError(f"rerank: expected the query to be a text, got {query!r:.200}")
    if isinstance(documents, str):
        raise UsageError("rerank: expected a sequence of documents, got one text")
    for text in texts:
        if not isinstance(text, str):
            raise UsageError(
                f"rerank: expected documents that are texts, got {text!r:.200}: give text=…, a "
                "function that says how a document reads"
            )
    if top_n is not None and (type(top_n) is not int or top_n < 1):
        raise UsageError(f"rerank: expected top_n to be a whole number from 1, got {top_n!r}")


def _ask(asking: Asking, model: RerankingModel, request: RerankingRequest) -> Ask[RerankingReply]:
    name = f"{model.provider}/{model.model_id}"

    async def make() -> RerankingReply:
        reply = await model.rerank(request)
        indices = [one.index for one in reply.ranking]
        known = range(len(request.documents))
        if len(set(indices)) != len(indices) or any(index not in known for index in indices):
            message = f"{name} ranked documents {indices} of {len(known)}"
            raise ModelError(ModelErrorReason("protocol", message))
        return reply

    return Ask(
        "0",
        make,
        lambda attempt, at: RerankingCallStarted(asking.run, attempt, name, request, at),
        lambda attempt, outcome, started, at: RerankingCallEnded(
            asking.run, attempt, name, request, outcome, started, at
        ),
    )
