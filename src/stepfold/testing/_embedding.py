"""Embedding and reranking models that say what they are told to say."""

import hashlib
from collections.abc import Callable, Sequence
from typing import final

from stepfold.ports import (
    EmbeddingReply,
    EmbeddingRequest,
    Ranked,
    RerankingReply,
    RerankingRequest,
)
from stepfold.values import ModelError, ModelErrorReason, Usage

_DIMENSIONS = 16


def hashed_embedding(text: str, dimensions: int = _DIMENSIONS, /) -> tuple[float, ...]:
    """A vector of a text's words: texts that share words point in like directions.

    Needs no model, and is the same everywhere.
    """
    vector = [0.0] * dimensions
    for word in text.lower().split():
        digest = hashlib.blake2b(word.strip(".,;:!?\"'()").encode("utf-8", "replace")).digest()
        place = int.from_bytes(digest[:8], "big") % dimensions
        vector[place] += 1.0 if digest[8] % 2 else -1.0
    return tuple(vector)


@final
class ScriptedEmbeddingModel:
    """An embedding model that computes its vectors from the texts; see `hashed_embedding`.

    Args:
        embedding: Gives the vector of a text; it then decides on its length.
        failures: What the first calls fail with, in order; `None` lets one succeed.
        max_values_per_call: How many texts one call may hold.
        supports_parallel_calls: Whether several calls may be in flight at once.
        provider: Who is said to run the model.
        model_id: What the model is called.
    """

    def __init__(
        self,
        embedding: Callable[[str], Sequence[float]] | None = None,
        /,
        *,
        failures: Sequence[ModelErrorReason | None] = (),
        max_values_per_call: int | None = None,
        supports_parallel_calls: bool = True,
        provider: str = "scripted",
        model_id: str = "embedding",
    ) -> None:
        self._embedding = embedding
        self._failures = tuple(failures)
        self._requests: list[EmbeddingRequest] = []
        self.max_values_per_call: int | None = max_values_per_call
        self.supports_parallel_calls: bool = supports_parallel_calls
        self.provider: str = provider
        self.model_id: str = model_id

    @property
    def requests(self) -> tuple[EmbeddingRequest, ...]:
        """Every request that was made, in the order of asking."""
        return tuple(self._requests)

    async def embed(self, request: EmbeddingRequest, /) -> EmbeddingReply:
        """Give a vector for each text; a token is a word.

        Raises:
            ModelError: the script says so.
        """
        self._requests.append(request)
        _fail(self._failures, len(self._requests) - 1)
        return EmbeddingReply(
            tuple(self._vector(text, request.dimensions) for text in request.values),
            Usage(input_tokens=sum(len(text.split()) for text in request.values)),
        )

    def _vector(self, text: str, dimensions: int | None) -> tuple[float, ...]:
        if self._embedding is not None:
            return tuple(self._embedding(text))
        return hashed_embedding(text, _DIMENSIONS if dimensions is None else dimensions)


@final
class ScriptedRerankingModel:
    """A reranking model that counts the words that a document shares with the query.

    Args:
        score: Says how well a document fits a query, in place of the words.
        failures: What the first calls fail with, in order; `None` lets one succeed.
        provider: Who is said to run the model.
        model_id: What the model is called.
    """

    def __init__(
        self,
        score: Callable[[str, str], float] | None = None,
        /,
        *,
        failures: Sequence[ModelErrorReason | None] = (),
        provider: str = "scripted",
        model_id: str = "reranking",
    ) -> None:
        self._score = _shared_words if score is None else score
        self._failures = tuple(failures)
        self._requests: list[RerankingRequest] = []
        self.provider: str = provider
        self.model_id: str = model_id

    @property
    def requests(self) -> tuple[RerankingRequest, ...]:
        """Every request that was made, in the order of asking."""
        return tuple(self._requests)

    async def rerank(self, request: RerankingRequest, /) -> RerankingReply:
        """Rank documents by their scores; of equal ones, the first comes first.

        Raises:
            ModelError: the script says so.
        """
        self._requests.append(request)
        _fail(self._failures, len(self._requests) - 1)
        scored = [
            Ranked(index, self._score(request.query, document))
            for index, document in enumerate(request.documents)
        ]
        best = sorted(scored, key=lambda one: -one.score)
        return RerankingReply(tuple(best[: request.top_n]))


def _fail(failures: Sequence[ModelErrorReason | None], call: int) -> None:
    reason = failures[call] if call < len(failures) else None
    if reason is not None:
        raise ModelError(reason)


def _shared_words(query: str, document: str) -> float:
    return float(len(set(query.lower().split()) & set(document.lower().split())))
