"""Embedding and reranking models over HTTP: a pure codec each, and one way to every server."""

import math
from collections.abc import Iterable, Mapping
from typing import Generic, Protocol, TypeVar, final

from attrs import frozen
from typing_extensions import TypeIs

from stepfold.ports import (
    Embedding,
    EmbeddingReply,
    EmbeddingRequest,
    Ranked,
    RerankingReply,
    RerankingRequest,
)
from stepfold.providers._endpoint import Endpoint
from stepfold.providers._http_caller import HttpCaller, WireCall, refuse_errors, secrets_of
from stepfold.providers._json import array_of, count_of, object_of
from stepfold.providers._replies import shown_headers, violation
from stepfold.providers._requests import given_options, request_headers
from stepfold.providers._wire import to_wire
from stepfold.transport import HttpConnections, HttpRequest, send
from stepfold.values import Failure, ModelError, ModelErrorReason, Outcome, Success

Q_contra = TypeVar("Q_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)
Q = TypeVar("Q")
R = TypeVar("R")


@final
@frozen(order=False, kw_only=True)
class EmbeddingDialect:
    """Who runs an embedding or reranking model, and how many texts one call of it may hold.

    `dimensions_name` is how a server with `/embeddings` is told of the dimensions.
    """

    provider: str = "openai-compatible"
    max_values_per_call: int | None = None
    dimensions_name: str = "dimensions"
    fetched_urls: tuple[tuple[str, str], ...] = ()


class EncodeCall(Protocol[Q_contra]):
    """Encodes a request; raises `UsageError` for options that the protocol cannot take."""

    def __call__(self, request: Q_contra, endpoint: Endpoint[EmbeddingDialect]) -> WireCall: ...


class DecodeAnswer(Protocol[R_co]):
    """Decodes the JSON object of a response with a status from 200 to 299; total."""

    def __call__(
        self,
        body: bytes,
        provider: str,
        *,
        headers: tuple[tuple[str, str], ...] = (),
        secrets: tuple[str, ...] = (),
    ) -> Outcome[R_co, ModelErrorReason]: ...


@final
@frozen(eq=False)
class AnswerCodec(Generic[Q, R]):
    """A protocol of one question and one answer: how to ask, and how to read."""

    encode: EncodeCall[Q]
    decode: DecodeAnswer[R]


class _Answering(HttpCaller[EmbeddingDialect], Generic[Q, R]):
    def __init__(
        self,
        codec: AnswerCodec[Q, R],
        endpoint: Endpoint[EmbeddingDialect],
        connections: HttpConnections,
    ) -> None:
        super().__init__(endpoint, connections)
        self._codec = codec

    async def _answer(self, request: Q) -> R:
        asked = self._signed(self._codec.encode(request, self._endpoint).request)
        response = await send(asked, self._connections)
        secrets = secrets_of(asked)
        refuse_errors(response, secrets)
        headers = shown_headers(response.headers)
        provider = self._endpoint.dialect.provider
        match self._codec.decode(response.body, provider, headers=headers, secrets=secrets):
            case Success(reply):
                return reply
            case Failure(reason):
                raise ModelError(reason)


@final
class HttpEmbeddingModel(_Answering[EmbeddingRequest, EmbeddingReply]):
    """An `EmbeddingModel` over HTTP; it needs no closing, and can be entered as an `HttpModel`."""

    @property
    def max_values_per_call(self) -> int | None:
        """How many texts one call may hold."""
        return self._endpoint.dialect.max_values_per_call

    @property
    def supports_parallel_calls(self) -> bool:
        """Whether several calls may be in flight at once: they may."""
        return True

    async def embed(self, request: EmbeddingRequest, /) -> EmbeddingReply:
        """Give a vector for each text.

        Raises:
            ModelError: there is no complete reply.
        """
        return await self._answer(request)


@final
class HttpRerankingModel(_Answering[RerankingRequest, RerankingReply]):
    """A `RerankingModel` over HTTP; it needs no closing, and can be entered as an `HttpModel`."""

    async def rerank(self, request: RerankingRequest, /) -> RerankingReply:
        """Rank documents.

        Raises:
            ModelError: there is no complete reply.
        """
        return await self._answer(request)


def json_call(
    request: EmbeddingRequest | RerankingRequest,
    endpoint: Endpoint[EmbeddingDialect],
    path: str,
    body: Mapping[str, object],
    defaults: Mapping[str, object] | None = None,
) -> WireCall:
    """A call of JSON, without what is `None`; options of the provider come after the defaults.

    Raises:
        UsageError: an option has no JSON form, or would set what the request itself says.
    """
    given = given_options(request, endpoint.dialect.provider, body.keys())
    return posted(request, endpoint, path, {**said(body), **(defaults or {}), **given})


def said(members: Mapping[str, object]) -> dict[str, object]:
    """The members that say something: those that are `None` are left out."""
    return {name: value for name, value in members.items() if value is not None}


def posted(
    request: EmbeddingRequest | RerankingRequest,
    endpoint: Endpoint[EmbeddingDialect],
    path: str,
    body: Mapping[str, object],
    headers: Mapping[str, str] | None = None,
) -> WireCall:
    """A call of JSON, as it is given; `headers` come after those of the request.

    Raises:
        UsageError: something has no JSON form.
    """
    told = tuple({**request_headers(request, endpoint), **(headers or {})}.items())
    return WireCall(HttpRequest("POST", endpoint.under(path), told, to_wire(body)))


def vector_of(value: object) -> Embedding | None:
    """The numbers of a JSON array; `None` in place of anything else, and of no numbers."""
    numbers = array_of(value)
    vector = tuple(float(one) for one in numbers if _is_number(one))
    return vector if vector and len(vector) == len(numbers) else None


def vectors_of(values: Iterable[object]) -> Outcome[tuple[Embedding, ...], ModelErrorReason]:
    """A vector of each JSON array, unless one is none."""
    vectors: list[Embedding] = []
    for value in values:
        vector = vector_of(value)
        if vector is None:
            return Failure(violation(f"the embedding {len(vectors)} is no array of numbers"))
        vectors.append(vector)
    return Success(tuple(vectors))


def ranking_of(
    results: Iterable[object], score_name: str
) -> Outcome[tuple[Ranked, ...], ModelErrorReason]:
    """A place and a score of each JSON object, unless one has none."""
    ranking: list[Ranked] = []
    for result in results:
        entry = object_of(result)
        index, score = count_of(entry.get("index")), entry.get(score_name)
        if index is None or not _is_number(score):
            return Failure(violation(f"the result {len(ranking)} has no index or no score"))
        ranking.append(Ranked(index, float(score)))
    return Success(tuple(ranking))


def _is_number(value: object) -> TypeIs[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and _is_finite(value)


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False
