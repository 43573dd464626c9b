"""Laws of embedding: batches change nothing, nor does the order in which they are answered."""

import math
from itertools import permutations

import anyio
import anyio.lowlevel
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from stepfold.ports import EmbeddingReply, EmbeddingRequest
from stepfold.shell import (
    EmbeddedMany,
    embed,
    embed_many,
    embed_many_sync,
    rerank_sync,
)
from stepfold.testing import (
    ScriptedEmbeddingModel,
    ScriptedRerankingModel,
    VirtualClock,
    hashed_embedding,
)
from stepfold.values import ModelErrorReason, Usage, cosine_similarity

texts = st.lists(st.text("abc .", max_size=12), max_size=9)
sizes = st.none() | st.integers(1, 10)
BUSY = ModelErrorReason("overloaded", "busy")


class Late:
    """Answers batches in another order than they were asked for."""

    provider = "scripted"
    model_id = "late"
    supports_parallel_calls = True

    def __init__(self, size: int, turns: dict[str, int]) -> None:
        self.inner = ScriptedEmbeddingModel()
        self.max_values_per_call: int | None = size
        self.turns = turns

    async def embed(self, request: EmbeddingRequest, /) -> EmbeddingReply:
        reply = await self.inner.embed(request)
        for _ in range(self.turns[request.values[0]]):
            await anyio.lowlevel.checkpoint()
        return reply


def without_calls(many: EmbeddedMany) -> EmbeddedMany:
    return evolve(many, responses=(), provider_metadata=())


@given(texts, sizes, sizes, st.booleans(), st.sampled_from(["asyncio", "trio"]))
def test_batching_is_concatenation(
    values: list[str], size: int | None, at_once: int | None, parallel: bool, backend: str
) -> None:
    model = ScriptedEmbeddingModel(max_values_per_call=size, supports_parallel_calls=parallel)

    async def both() -> tuple[EmbeddedMany, list[tuple[float, ...]], Usage]:
        many = await embed_many(model, values, max_parallel=at_once)
        alone = [await embed(ScriptedEmbeddingModel(), value) for value in values]
        return many, [one.embedding for one in alone], sum((one.usage for one in alone), Usage())

    many, alone, usage = anyio.run(both, backend=backend)

    assert many.values == tuple(values)
    assert list(many.embeddings) == alone
    assert (many.usage.input_tokens or 0) == (usage.input_tokens or 0)
    assert all(size is None or len(one.values) <= size for one in model.requests)
    assert len(many.responses) == len(model.requests)
    here = embed_many_sync(ScriptedEmbeddingModel(max_values_per_call=size), values)
    assert without_calls(here) == without_calls(many)


@given(
    st.integers(1, 5).flatmap(lambda count: st.sampled_from([*permutations(range(count))])),
    st.sampled_from(["asyncio", "trio"]),
    sizes,
)
def test_the_order_of_answers_changes_nothing(
    order: tuple[int, ...], backend: str, at_once: int | None
) -> None:
    values = [f"text {index}" for index in range(len(order))]
    model = Late(1, dict(zip(values, order, strict=True)))

    async def many() -> EmbeddedMany:
        return await embed_many(model, values, max_parallel=at_once)

    assert anyio.run(many, backend=backend).embeddings == tuple(map(hashed_embedding, values))


@given(texts.filter(bool), sizes, st.lists(st.sampled_from([None, BUSY]), max_size=2))
def test_what_is_retried_gives_the_same(
    values: list[str], size: int | None, failures: list[ModelErrorReason | None]
) -> None:
    model = ScriptedEmbeddingModel(failures=failures, max_values_per_call=size)
    clock = VirtualClock()

    many = embed_many_sync(model, values, clock=clock)

    assert list(many.embeddings) == [hashed_embedding(value) for value in values]
    assert len(clock.slept) == len(model.requests) - len(many.responses)


@given(st.text("ab ", max_size=8), texts, st.none() | st.integers(1, 10))
def test_a_ranking_is_of_the_documents(query: str, documents: list[str], top: int | None) -> None:
    ranked = rerank_sync(ScriptedRerankingModel(), query, documents, top_n=top)

    scores = [one.score for one in ranked.ranking]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == len(documents) if top is None else len(scores) == min(top, len(documents))
    assert [documents[one.index] for one in ranked.ranking] == list(ranked.documents)


numbers = st.floats(allow_nan=False, allow_infinity=False)
vectors = st.integers(0, 6).flatmap(
    lambda size: st.tuples(*[st.lists(numbers, min_size=size, max_size=size)] * 2)
)


@given(vectors, st.floats(1e-3, 1e3))
def test_similarity_is_that_of_directions(pair: tuple[list[float], list[float]], by: float) -> None:
    left, right = pair
    similarity = cosine_similarity(left, right)

    assert -1 <= similarity <= 1
    assert cosine_similarity(right, left) == similarity
    assert math.isclose(cosine_similarity([-one for one in left], right), -similarity, abs_tol=0)
    if any(left):
        assert math.isclose(cosine_similarity(left, left), 1)
    moderate = [one for one in left if one == 0 or 1e-100 < abs(one) < 1e100]
    if len(moderate) == len(left):
        scaled = cosine_similarity([one * by for one in left], right)
        assert math.isclose(scaled, similarity, abs_tol=1e-9)
