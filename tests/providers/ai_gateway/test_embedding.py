"""Embedding and reranking over the gateway: what is sent, and what is read of any answer."""

import json
from collections.abc import Callable

import pytest

from stepfold.ports import EmbeddingRequest
from stepfold.providers import (
    HttpEmbeddingModel,
    HttpRerankingModel,
    ai_gateway,
    gateway_embedding,
    gateway_reranking,
    resolve_embedding_model,
    resolve_reranking_model,
)
from stepfold.shell import embed_many, rerank
from stepfold.values import Failure, JsonText, ModelError, ModelWarning, Usage, UsageError
from tests.providers._served import KEY, Server, served

MODEL = "openai/text-embedding-3-small"
UNSUPPORTED = {"type": "unsupported", "feature": "dimensions", "details": "too many"}
WARNED = (ModelWarning("unsupported", "dimensions", "too many"),)
BILLED = {"gateway": {"cost": "0.1"}}


async def test_vectors_are_asked_for_with_the_options_of_every_provider() -> None:
    server = Server(
        {
            "embeddings": [[1, 2], [3, 4]],
            "usage": {"tokens": 5},
            "warnings": [UNSUPPORTED],
            "providerMetadata": BILLED,
        }
    )
    model = gateway_embedding(MODEL, team="us", **served(server, "http://x/v4/ai"))
    options = {"gateway": {"order": ["azure"]}, "openai": {"user": "ada"}}

    reply = await model.embed(
        EmbeddingRequest(("a", "b"), dimensions=2, provider_options=JsonText.of(options))
    )

    assert server.asked == [
        (
            "http://x/v4/ai/embedding-model",
            {"values": ["a", "b"], "dimensions": 2, "providerOptions": options},
        )
    ]
    sent = server.headers[0]
    assert sent["authorization"] == f"Bearer {KEY}"
    assert sent["ai-model-id"] == MODEL
    assert sent["ai-embedding-model-specification-version"] == "4"
    assert sent["x-vercel-ai-gateway-team"] == "us"
    assert reply.embeddings == ((1.0, 2.0), (3.0, 4.0))
    assert reply.usage == Usage(input_tokens=5)
    assert reply.warnings == WARNED
    assert reply.provider_metadata == JsonText.of(BILLED)
    assert (model.provider, model.model_id, model.max_values_per_call) == ("gateway", MODEL, 2048)


async def test_documents_are_ranked() -> None:
    server = Server({"ranking": [{"index": 1, "relevanceScore": 0.9}], "warnings": [UNSUPPORTED]})
    model = gateway_reranking("cohere/rerank-v3.5", **served(server, "http://x/v4/ai"))

    ranked = await rerank(model, "b", ["a", "b"], top_n=1)

    assert server.asked == [
        (
            "http://x/v4/ai/reranking-model",
            {"documents": {"type": "text", "values": ["a", "b"]}, "query": "b", "topN": 1},
        )
    ]
    assert server.headers[0]["ai-reranking-model-specification-version"] == "4"
    assert ranked.documents == ("b",)
    assert ranked.warnings == WARNED


async def test_a_refusal_is_told_with_the_model_and_without_the_key() -> None:
    error = {"error": {"message": f"No {MODEL} for {KEY}", "type": "model_not_found"}}
    model = gateway_embedding(MODEL, **served(Server(error, 404)))

    with pytest.raises(ModelError, match=f"No {MODEL} for") as raised:
        await model.embed(EmbeddingRequest(("a",)))

    assert raised.value.reason.kind == "not-found"
    assert KEY not in str(raised.value)


async def test_options_that_are_no_object_are_told() -> None:
    model = gateway_embedding(MODEL, **served(Server({})))

    with pytest.raises(UsageError, match="expected provider_options to be an object"):
        await model.embed(EmbeddingRequest(("a",), provider_options=JsonText("3")))


@pytest.mark.parametrize(
    ("decode", "answer", "text"),
    [
        (ai_gateway.decode_embedding, 3, "what is not a JSON object"),
        (ai_gateway.decode_embedding, {"embeddings": [None]}, "the embedding 0 is no array"),
        (ai_gateway.decode_embedding, {"error": {"message": "Broken."}}, "Broken."),
        (ai_gateway.decode_reranking, 3, "what is not a JSON object"),
        (ai_gateway.decode_reranking, {"ranking": [{"index": 0}]}, "the result 0 has no index"),
    ],
)
def test_what_is_no_answer_is_a_failure(
    decode: Callable[[bytes, str], object], answer: object, text: str
) -> None:
    outcome = decode(json.dumps(answer).encode(), "gateway")

    assert isinstance(outcome, Failure)
    assert text in outcome.failure().message


async def test_texts_go_in_calls_of_many() -> None:
    server = Server({"embeddings": [[1]] * 2})
    model = gateway_embedding(MODEL, **served(server))

    assert (await embed_many(model, ["a", "b"])).embeddings == ((1.0,), (1.0,))
    assert len(server.asked) == 1


def test_models_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AI_GATEWAY_API_KEY", KEY)
    monkeypatch.delenv("AI_GATEWAY_BASE_URL", raising=False)

    model = resolve_embedding_model(f"gateway/{MODEL}")
    ranker = resolve_reranking_model("gateway/cohere/rerank-v3.5")

    assert isinstance(model, HttpEmbeddingModel)
    assert isinstance(ranker, HttpRerankingModel)
    assert model.endpoint.base_url == "https://ai-gateway.vercel.sh/v4/ai"
    assert (model.model_id, ranker.model_id) == (MODEL, "cohere/rerank-v3.5")
