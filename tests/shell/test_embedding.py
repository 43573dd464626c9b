"""Embedding and reranking by example; the laws are in `properties/test_embedding.py`."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from types import SimpleNamespace
from typing import Any

import anyio
import anyio.lowlevel
import pytest
from typing_extensions import override

from stepfold.loop import RetryPolicy
from stepfold.ports import (
    EmbeddingModel,
    EmbeddingReply,
    EmbeddingRequest,
    Ranked,
    RerankingReply,
    RerankingRequest,
)
from stepfold.shell import (
    EmbeddingCallEnded,
    EmbeddingCallStarted,
    Observation,
    RerankingCallEnded,
    RerankingCallStarted,
    default_embedding_settings,
    embed,
    embed_many,
    embed_many_sync,
    embed_sync,
    map_embedding_request,
    on,
    rerank,
    rerank_sync,
    try_embed,
    try_embed_many,
    try_rerank,
    wrap_embedding_model,
)
from stepfold.testing import (
    ScriptedEmbeddingModel,
    ScriptedRerankingModel,
    VirtualClock,
    hashed_embedding,
)
from stepfold.values import (
    Failure,
    JsonText,
    ModelError,
    ModelErrorReason,
    Success,
    Usage,
    UsageError,
)

# As code without type checkers may call them.
loose: Any = SimpleNamespace(embed=embed, embed_many=embed_many, rerank=rerank)

BUSY = ModelErrorReason("overloaded", "busy")
WRONG = ModelErrorReason("bad-request", "too long")
SECOND = 1_000_000_000


async def test_a_text_becomes_a_vector() -> None:
    model = ScriptedEmbeddingModel()

    one = await embed(
        model,
        "a sunny day",
        dimensions=4,
        headers={"x-tenant": "7"},
        provider_options={"scripted": {"user": "ada"}},
    )

    assert one.value == "a sunny day"
    assert one.embedding == hashed_embedding("a sunny day", 4)
    assert one.usage == Usage(input_tokens=3)
    assert model.requests == (
        EmbeddingRequest(
            ("a sunny day",),
            dimensions=4,
            headers=(("x-tenant", "7"),),
            provider_options=JsonText('{"scripted":{"user":"ada"}}'),
        ),
    )


async def test_no_texts_need_no_call() -> None:
    model = ScriptedEmbeddingModel()

    many = await embed_many(model, [])

    assert (many.values, many.embeddings, model.requests) == ((), (), ())


# --- failures ---------------------------------------------------------------------------------


async def test_a_failed_batch_alone_is_made_again() -> None:
    clock = VirtualClock()
    model = ScriptedEmbeddingModel(
        failures=[None, BUSY], max_values_per_call=1, supports_parallel_calls=False
    )
    start = clock.now()

    many = await embed_many(
        model, ["a", "b", "c"], clock=clock, retry=RetryPolicy(initial_delay=4.0, jitter=0)
    )

    assert [request.values for request in model.requests] == [("a",), ("b",), ("b",), ("c",)]
    assert clock.slept == (start + 4 * SECOND,)
    assert len(many.embeddings) == 3


async def test_the_seed_decides_the_jitter() -> None:
    async def slept(seed: int) -> tuple[int, ...]:
        clock = VirtualClock()
        await embed(ScriptedEmbeddingModel(failures=[BUSY]), "a", clock=clock, seed=seed)
        return clock.slept

    assert await slept(1) == await slept(1)
    assert await slept(1) != await slept(2)


async def test_the_server_says_how_long_to_wait() -> None:
    clock = VirtualClock()
    limited = ModelErrorReason("rate-limit", "slow down", retry_after=7 * SECOND)
    start = clock.now()

    await embed(ScriptedEmbeddingModel(failures=[limited]), "a", clock=clock)

    assert clock.slept == (start + 7 * SECOND,)


async def test_what_fails_for_good_is_raised_or_given() -> None:
    def model() -> ScriptedEmbeddingModel:
        return ScriptedEmbeddingModel(failures=[WRONG] * 9)

    with pytest.raises(ModelError, match="bad-request: too long"):
        await embed(model(), "a")
    with pytest.raises(ModelError, match="too long"):
        await embed_many(model(), ["a", "b"])
    for outcome in (await try_embed(model(), "a"), await try_embed_many(model(), ["a"])):
        assert isinstance(outcome, Failure)
        assert outcome.failure().reason == WRONG
    assert isinstance(await try_embed(ScriptedEmbeddingModel(), "a"), Success)


async def test_a_failure_ends_the_other_calls() -> None:
    ended: list[str] = []

    class Slow:
        provider = "slow"
        model_id = "embedding"
        max_values_per_call: int | None = 1
        supports_parallel_calls = True

        async def embed(self, request: EmbeddingRequest, /) -> EmbeddingReply:
            if request.values == ("bad",):
                raise ModelError(WRONG)
            try:
                await anyio.sleep_forever()
            finally:
                ended.append(request.values[0])
            raise AssertionError

    outcome = await try_embed_many(Slow(), ["a", "bad", "b"])

    assert isinstance(outcome, Failure)
    assert outcome.failure().reason == WRONG
    assert set(ended) <= {"a", "b"}


class Says:
    """An embedding model that says the same to everything, or raises it."""

    provider = "says"
    model_id = "embedding"
    max_values_per_call: int | None = None
    supports_parallel_calls = True

    def __init__(self, answer: EmbeddingReply | Exception) -> None:
        self.answer = answer

    async def embed(self, request: EmbeddingRequest, /) -> EmbeddingReply:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (EmbeddingReply(((1.0,),)), "says/embedding gave 1 vectors for 2 texts"),
        (EmbeddingReply(((1.0,), (1.0, 2.0))), "says/embedding gave vectors of different lengths"),
        (KeyError("x"), "the model raised KeyError"),
    ],
)
async def test_what_is_no_answer_is_a_failure(
    answer: EmbeddingReply | Exception, text: str
) -> None:
    outcome = await try_embed_many(Says(answer), ["a", "b"], clock=VirtualClock())

    assert isinstance(outcome, Failure)
    error = outcome.failure()
    assert text in str(error)
    assert error.__cause__ is (answer if isinstance(answer, Exception) else None)


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda model: loose.embed("openai/x", "a"), "embed: expected an object with provider, m"),
        (lambda model: loose.embed_many(type(model), ["a"]), "embed_many: expected an object with"),
        (lambda model: loose.rerank(model, "a", ["b"]), "rerank: expected an object with provider"),
        (lambda model: loose.embed_many(model, "abc"), "embed_many: expected a sequence of texts"),
        (lambda model: loose.embed_many(model, [1]), "embed_many: expected a text, got 1"),
        (lambda model: loose.embed(model, ["a"]), "embed: expected a text, got"),
        (lambda model: loose.embed(model, "a", dimensions=0), "expected dimensions to be a whole"),
        (
            lambda model: loose.embed_many(model, ["a"], max_parallel=0),
            "expected max_parallel to be",
        ),
        (lambda model: loose.embed(model, "a", retries=3), "embed: expected options among clock"),
        (lambda model: loose.embed(model, "a", provider_options={"x": {1}}), "have a JSON form"),
    ],
)
async def test_mistakes_are_told(
    wrong: Callable[[EmbeddingModel], Awaitable[object]], text: str
) -> None:
    model = ScriptedEmbeddingModel()

    with pytest.raises(UsageError, match=text):
        await wrong(model)
    assert model.requests == ()


# --- who is told ------------------------------------------------------------------------------


async def test_each_attempt_is_told() -> None:
    seen: list[Observation] = []
    model = ScriptedEmbeddingModel(
        failures=[BUSY], max_values_per_call=1, supports_parallel_calls=False
    )

    await embed_many(
        model, ["a", "b"], observers=[seen.append], run_id="mine", clock=VirtualClock()
    )

    calls = [
        (type(one).__name__, one.batch, one.attempt)
        for one in seen
        if isinstance(one, EmbeddingCallStarted | EmbeddingCallEnded)
    ]
    assert calls == [
        ("EmbeddingCallStarted", 0, 0),
        ("EmbeddingCallEnded", 0, 0),
        ("EmbeddingCallStarted", 0, 1),
        ("EmbeddingCallEnded", 0, 1),
        ("EmbeddingCallStarted", 1, 0),
        ("EmbeddingCallEnded", 1, 0),
    ]
    assert {one.run for one in seen} == {"mine"}
    first = seen[1]
    assert isinstance(first, EmbeddingCallEnded)
    assert (first.outcome, first.model) == (BUSY, "scripted/embedding")


async def test_what_an_observer_raises_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    def breaks(seen: Observation) -> None:
        raise KeyError(seen.run)

    with caplog.at_level(logging.ERROR, "stepfold"):
        one = await embed(ScriptedEmbeddingModel(), "a", observers=[breaks])

    assert one.embedding == hashed_embedding("a")
    assert len(caplog.records) == 2


# --- without an event loop --------------------------------------------------------------------


def test_texts_are_embedded_without_an_event_loop() -> None:
    model = ScriptedEmbeddingModel(max_values_per_call=2)

    assert embed_sync(model, "a").embedding == hashed_embedding("a")
    assert len(embed_many_sync(model, ["a", "b", "c"]).responses) == 2
    assert rerank_sync(ScriptedRerankingModel(), "b", ["a", "b"]).documents == ("b", "a")
    with pytest.raises(ModelError):
        embed_sync(ScriptedEmbeddingModel(failures=[WRONG]), "a")


async def test_the_sync_forms_work_within_an_event_loop() -> None:
    assert embed_sync(ScriptedEmbeddingModel(), "a").embedding == hashed_embedding("a")


class Waits(Says):
    def __init__(self, wait: Callable[[], Awaitable[None]]) -> None:
        super().__init__(EmbeddingReply(((1.0,),)))
        self.wait = wait

    @override
    async def embed(self, request: EmbeddingRequest, /) -> EmbeddingReply:
        await self.wait()
        return await super().embed(request)


def test_a_model_that_needs_an_event_loop_is_told() -> None:
    class Marked(Says):
        async_only = True

    with pytest.raises(UsageError, match="embed_sync: the model waits for an event loop"):
        embed_sync(Waits(lambda: anyio.sleep(1)), "a")
    with pytest.raises(UsageError, match="embed_sync: the model is marked async_only"):
        embed_sync(Marked(EmbeddingReply(((1.0,),))), "a")


# --- middleware -------------------------------------------------------------------------------


async def test_defaults_give_way_to_the_request() -> None:
    model = ScriptedEmbeddingModel(max_values_per_call=3, supports_parallel_calls=False)
    wrapped = wrap_embedding_model(
        model,
        default_embedding_settings(
            dimensions=8, headers={"X-A": "1", "x-b": "1"}, provider_options={"p": {"a": 1, "b": 1}}
        ),
        model_id="mine",
    )

    await embed(wrapped, "a", headers={"x-a": "2"}, provider_options={"p": {"a": 2}})
    await embed(wrapped, "a", dimensions=4)

    first, second = model.requests
    assert (first.dimensions, second.dimensions) == (8, 4)
    assert first.headers == (("x-b", "1"), ("x-a", "2"))
    assert first.provider_options == JsonText('{"p":{"a":2,"b":1}}')
    assert second.provider_options == JsonText('{"p":{"a":1,"b":1}}')
    assert (wrapped.provider, wrapped.model_id) == ("scripted", "mine")
    assert (wrapped.max_values_per_call, wrapped.supports_parallel_calls) == (3, False)


async def test_the_first_middleware_is_outermost() -> None:
    def adding(word: str) -> Callable[[EmbeddingModel], EmbeddingModel]:
        return map_embedding_request(
            lambda request: EmbeddingRequest(tuple(f"{text} {word}" for text in request.values))
        )

    model = ScriptedEmbeddingModel()
    assert wrap_embedding_model(model) is model
    await embed(wrap_embedding_model(model, adding("outer"), adding("inner")), "a")

    assert model.requests == (EmbeddingRequest(("a outer inner",)),)
    renamed = wrap_embedding_model(model, adding("x"), provider="other")
    assert (renamed.provider, renamed.model_id) == ("other", "embedding")
    with pytest.raises(UsageError, match="async_only"):
        embed_sync(wrap_embedding_model(_AsyncOnly(), adding("x")), "a")


class _AsyncOnly(Says):
    async_only = True

    def __init__(self) -> None:
        super().__init__(EmbeddingReply(((1.0,),)))


# --- reranking --------------------------------------------------------------------------------


async def test_documents_come_back_as_they_were_given() -> None:
    documents = [{"id": 1, "text": "rain in the city"}, {"id": 2, "text": "sun at the beach"}]

    ranked = await rerank(
        ScriptedRerankingModel(), "beach", documents, text=lambda one: str(one["text"]), top_n=1
    )

    assert ranked.documents == (documents[1],)
    assert (ranked.ranking[0].index, ranked.ranking[0].score) == (1, 1.0)


async def test_no_documents_need_no_call() -> None:
    model = ScriptedRerankingModel()

    assert (await rerank(model, "a", [])).ranking == ()
    assert model.requests == ()


class Ranks:
    provider = "ranks"
    model_id = "reranking"

    def __init__(self, *indices: int) -> None:
        self.indices = indices

    async def rerank(self, request: RerankingRequest, /) -> RerankingReply:
        return RerankingReply(tuple(Ranked(index, 0.5) for index in self.indices))


@pytest.mark.parametrize("indices", [(0, 2), (-1,), (1, 1)])
async def test_a_ranking_of_other_documents_is_refused(indices: Sequence[int]) -> None:
    outcome = await try_rerank(Ranks(*indices), "a", ["a", "b"], clock=VirtualClock())

    assert isinstance(outcome, Failure)
    assert outcome.failure().reason.kind == "protocol"


async def test_a_model_that_ranks_all_is_cut_to_the_best() -> None:
    assert (await rerank(Ranks(1, 0, 2), "a", ["a", "b", "c"], top_n=2)).documents == ("b", "a")


async def test_reranking_is_retried_and_told() -> None:
    seen: list[RerankingCallStarted | RerankingCallEnded] = []
    model = ScriptedRerankingModel(failures=[BUSY])

    await rerank(
        model,
        "a",
        ["a"],
        clock=VirtualClock(),
        observers=[on(RerankingCallStarted, seen.append), on(RerankingCallEnded, seen.append)],
    )

    assert [one.attempt for one in seen] == [0, 0, 1, 1]
    with pytest.raises(ModelError, match="too long"):
        await rerank(ScriptedRerankingModel(failures=[WRONG]), "a", ["a"])


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda model: loose.rerank(model, 1, ["a"]), "expected the query to be a text, got 1"),
        (
            lambda model: loose.rerank(model, "a", "abc"),
            "expected a sequence of documents",
        ),
        (lambda model: loose.rerank(model, "a", [{}]), "give text=…"),
        (
            lambda model: loose.rerank(model, "a", ["a"], top_n=0),
            "expected top_n to be a",
        ),
    ],
)
async def test_mistakes_in_reranking_are_told(
    wrong: Callable[[ScriptedRerankingModel], Awaitable[object]], text: str
) -> None:
    with pytest.raises(UsageError, match=text):
        await wrong(ScriptedRerankingModel())
