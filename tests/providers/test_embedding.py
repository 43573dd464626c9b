"""Embedding and reranking over HTTP: what is sent, and what is read of any answer."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from stepfold.ports import EmbeddingReply, EmbeddingRequest, Ranked
from stepfold.providers import (
    CHAT_SERVERS,
    ChatServer,
    HttpEmbeddingModel,
    HttpRerankingModel,
    cohere_embedding,
    cohere_embeddings,
    cohere_reranking,
    embedding_model,
    google_embedding,
    google_embeddings,
    openai_compatible_embedding,
    openai_embedding,
    openai_embeddings,
    resolve_embedding_model,
    resolve_reranking_model,
)
from stepfold.shell import embed, embed_many, embed_sync, rerank
from stepfold.values import Failure, JsonText, ModelError, Success, Usage, UsageError
from tests.providers._served import KEY, Server, served

FOLDER = Path(os.environ.get("STEPFOLD_RECORDINGS", ""), "vercel", "cohere")

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "embedding.md"
EMBEDDERS = [server for server in CHAT_SERVERS if server.embedding is not None]

recorded = pytest.mark.skipif(
    not (FOLDER / "cohere-embedding.json").is_file(),
    reason="STEPFOLD_RECORDINGS names no folder of recordings",
)


VECTORS = {
    "object": "list",
    "data": [
        {"object": "embedding", "index": 1, "embedding": [0, 1]},
        {"object": "embedding", "index": 0, "embedding": [1.5, 0]},
    ],
    "model": "text-embedding-3-small",
    "usage": {"prompt_tokens": 7, "total_tokens": 7},
}


# --- OpenAI -----------------------------------------------------------------------------------


async def test_openai_is_asked_for_floats_and_sorted_by_index() -> None:
    server = Server(VECTORS)
    model = openai_embedding("text-embedding-3-small", **served(server))

    many = await embed_many(
        model, ["a", "b"], dimensions=2, provider_options={"openai": {"user": "ada"}}
    )

    assert server.asked == [
        (
            "http://x/v1/embeddings",
            {
                "model": "text-embedding-3-small",
                "input": ["a", "b"],
                "dimensions": 2,
                "encoding_format": "float",
                "user": "ada",
            },
        )
    ]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert many.embeddings == ((1.5, 0.0), (0.0, 1.0))
    assert many.usage == Usage(input_tokens=7)
    assert many.responses[0].model_id == "text-embedding-3-small"
    assert ("x-request-id", "r-1") in many.responses[0].headers
    assert (model.provider, model.max_values_per_call) == ("openai", 2048)
    assert model.supports_parallel_calls
    assert repr(model).startswith("<HttpEmbeddingModel openai/text-embedding-3-small at http://x")


def test_vectors_come_without_an_event_loop() -> None:
    server = Server({"data": [{"embedding": [1, 2]}]})  # some servers number nothing
    model = openai_compatible_embedding(
        "m",
        base_url="http://x/v1",
        provider="mine",
        blocking_client=httpx.Client(transport=httpx.MockTransport(server)),
    )

    assert embed_sync(model, "a", headers={"X-Tenant": "7"}).embedding == (1.0, 2.0)
    assert server.headers[0]["x-tenant"] == "7"
    assert model.provider == "mine"


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ([], "what is not a JSON object"),
        ({"data": [{"index": 0, "embedding": ["1"]}]}, "the embedding 0 is no array of numbers"),
        ({"data": [{"index": 0, "embedding": []}]}, "the embedding 0 is no array of numbers"),
        ({"data": [{"index": 0, "embedding": [True]}]}, "the embedding 0 is no array of numbers"),
        ({"data": [{"index": 3, "embedding": [1]}]}, "the embeddings have the indices [3]"),
        ({"data": [{"index": 0, "embedding": [1]}] * 2}, "the embeddings have the indices [0]"),
        ({"data": [{"embedding": [10**400]}]}, "the embedding 0 is no array of numbers"),
    ],
)
def test_what_holds_no_vectors_is_a_failure(answer: object, text: str) -> None:
    body = json.dumps(answer).encode()

    outcome = openai_embeddings.decode_embedding(body, "openai")

    assert isinstance(outcome, Failure)
    assert outcome.failure().kind == "protocol"
    assert text in outcome.failure().message


def test_an_answer_without_vectors_is_empty() -> None:
    assert openai_embeddings.decode_embedding(b"{}", "x") == Success(EmbeddingReply((), Usage()))


async def test_a_refusal_is_told_without_the_key() -> None:
    error = {"error": {"message": f"Incorrect API key: {KEY}", "code": "invalid_api_key"}}
    model = openai_embedding("m", **served(Server(error, 401)))

    with pytest.raises(ModelError) as raised:
        await embed(model, "a")

    assert raised.value.reason.kind == "authentication"
    assert KEY not in str(raised.value)


async def test_options_cannot_replace_what_the_request_says() -> None:
    model = openai_embedding("m", **served(Server(VECTORS)))

    for values in (["a"], ["a"] * 5000):
        with pytest.raises(UsageError, match="provider_options cannot set dimensions"):
            await embed_many(model, values, provider_options={"openai": {"dimensions": 3}})


# --- compatible servers -----------------------------------------------------------------------


@pytest.mark.parametrize("server", EMBEDDERS, ids=lambda server: server.name)
def test_each_server_with_vectors_is_reached_by_a_name_alone(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(server.base_url_variable, raising=False)
    if server.key_variable is not None:
        monkeypatch.setenv(server.key_variable, KEY)
    if not server.base_url:
        monkeypatch.setenv(server.base_url_variable, "http://localhost:1/v1")

    model = resolve_embedding_model(f"{server.name}/m/x")

    assert isinstance(model, HttpEmbeddingModel)
    assert (model.provider, model.model_id) == (server.name, "m/x")
    assert model.endpoint.base_url == (server.base_url or "http://localhost:1/v1")
    sent = dict(model.endpoint.headers).get(server.key_header, "")
    assert sent.endswith(KEY) == (server.key_variable is not None)


async def test_mistral_is_told_the_dimensions_in_its_own_word() -> None:
    server = Server(VECTORS)
    model = embedding_model("mistral", "codestral-embed", **served(server))

    await embed_many(model, ["a", "b"], dimensions=2)

    assert server.asked == [
        (
            "http://x/v1/embeddings",
            {
                "model": "codestral-embed",
                "input": ["a", "b"],
                "output_dimension": 2,
                "encoding_format": "float",
            },
        )
    ]
    assert (model.provider, model.max_values_per_call) == ("mistral", 32)


def test_a_server_without_vectors_is_told() -> None:
    with pytest.raises(UsageError, match="groq has no embedding models that are known; alibaba,"):
        embedding_model("groq", "m")
    with pytest.raises(UsageError, match=r"server: expected one of alibaba, .* got 'nobody'"):
        embedding_model("nobody", "m")


def test_the_table_of_the_reference_is_that_of_the_code() -> None:
    rows = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]

    assert rows == [
        f"| `{server.name}/` | {server.summary} | {server.embedding.max_values_per_call} |"
        for server in EMBEDDERS
        if server.embedding is not None
    ]


# --- Cohere -----------------------------------------------------------------------------------


async def test_cohere_is_told_what_the_vectors_are_for() -> None:
    server = Server({"id": "e-1", "embeddings": {"float": [[1, 2]]}})
    model = cohere_embedding("embed-v4.0", **served(server, "http://x/v2"))

    one = await embed(model, "a", dimensions=2)
    await embed(model, "a", provider_options={"cohere": {"input_type": "search_query"}})

    sent = {"model": "embed-v4.0", "texts": ["a"], "embedding_types": ["float"]}
    assert server.asked == [
        ("http://x/v2/embed", {**sent, "output_dimension": 2, "input_type": "search_document"}),
        ("http://x/v2/embed", {**sent, "input_type": "search_query"}),
    ]
    assert one.response.id == "e-1"
    assert model.max_values_per_call == 96


async def test_cohere_ranks_documents() -> None:
    server = Server({"results": [{"index": 1, "relevance_score": 0.9}]})
    model = cohere_reranking("rerank-v3.5", **served(server, "http://x/v2"))

    ranked = await rerank(model, "b", ["a", "b"], top_n=1)

    assert server.asked == [
        (
            "http://x/v2/rerank",
            {"model": "rerank-v3.5", "query": "b", "documents": ["a", "b"], "top_n": 1},
        )
    ]
    assert ranked.documents == ("b",)


@pytest.mark.parametrize(
    ("decode", "answer", "text"),
    [
        (cohere_embeddings.decode_embedding, 3, "what is not a JSON object"),
        (
            cohere_embeddings.decode_embedding,
            {"embeddings": {"float": [None]}},
            "the embedding 0 is no array",
        ),
        (cohere_embeddings.decode_reranking, 3, "what is not a JSON object"),
        (
            cohere_embeddings.decode_reranking,
            {"results": [{"index": 0}]},
            "the result 0 has no index or no",
        ),
        (
            cohere_embeddings.decode_reranking,
            {"results": [{"relevance_score": 1}]},
            "the result 0 has no",
        ),
    ],
)
def test_what_is_no_answer_of_cohere_is_a_failure(
    decode: Callable[[bytes, str], object], answer: object, text: str
) -> None:
    outcome = decode(json.dumps(answer).encode(), "cohere")

    assert isinstance(outcome, Failure)
    assert text in outcome.failure().message


@recorded
def test_recorded_vectors_are_read() -> None:
    body = (FOLDER / "cohere-embedding.json").read_bytes()

    reply = cohere_embeddings.decode_embedding(body, "cohere").unwrap()

    assert [len(vector) for vector in reply.embeddings] == [5, 5]
    assert reply.embeddings[0][0] == 0.03302002
    assert reply.usage == Usage(input_tokens=10)
    assert reply.response.id == "f5aa3e7b-f011-4c5c-a825-f94669f760e5"


@recorded
def test_a_recorded_ranking_is_read() -> None:
    body = (FOLDER / "reranking" / "cohere-reranking.1.json").read_bytes()

    reply = cohere_embeddings.decode_reranking(body, "cohere").unwrap()

    assert reply.ranking == (Ranked(1, 0.10183054), Ranked(0, 0.03762639))
    assert reply.provider_metadata == JsonText('{"cohere":{"billed_units":{"search_units":1}}}')


# --- Google -----------------------------------------------------------------------------------


async def test_google_is_asked_for_each_text_with_the_options_of_all() -> None:
    server = Server(
        {
            "embeddings": [{"values": [1, 2]}, {"values": [0.5, 0]}],
            "usageMetadata": {"promptTokenCount": 4},
        }
    )
    model = google_embedding("gemini-embedding-001", **served(server, "http://x/v1beta"))

    many = await embed_many(
        model,
        ["a", "b"],
        dimensions=2,
        provider_options={"google": {"taskType": "RETRIEVAL_QUERY"}},
    )

    each = {
        "model": "models/gemini-embedding-001",
        "outputDimensionality": 2,
        "taskType": "RETRIEVAL_QUERY",
    }
    assert server.asked == [
        (
            "http://x/v1beta/models/gemini-embedding-001:batchEmbedContents",
            {
                "requests": [
                    {**each, "content": {"parts": [{"text": text}], "role": "user"}}
                    for text in ("a", "b")
                ]
            },
        )
    ]
    assert server.headers[0]["x-goog-api-key"] == KEY
    assert many.embeddings == ((1.0, 2.0), (0.5, 0.0))
    assert many.usage == Usage(input_tokens=4)
    assert (model.provider, model.max_values_per_call) == ("google", 100)


async def test_options_cannot_replace_the_content_of_google() -> None:
    model = google_embedding("m", **served(Server({})))

    with pytest.raises(UsageError, match="provider_options cannot set content"):
        await embed(model, "a", provider_options={"google": {"content": {}}})


async def test_a_refusal_of_google_is_told_without_the_key() -> None:
    error = {"error": {"code": 429, "message": f"Slow, {KEY}", "status": "RESOURCE_EXHAUSTED"}}
    model = google_embedding("m", **served(Server(error, 429)))

    with pytest.raises(ModelError) as raised:
        await model.embed(EmbeddingRequest(("a",)))

    assert raised.value.reason.kind == "rate-limit"
    assert KEY not in str(raised.value)


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ([], "what is not a JSON object"),
        ({"embeddings": [{"values": [1]}, {}]}, "the embedding 1 is no array of numbers"),
    ],
)
def test_what_is_no_answer_of_google_is_a_failure(answer: object, text: str) -> None:
    outcome = google_embeddings.decode_embedding(json.dumps(answer).encode(), "google")

    assert isinstance(outcome, Failure)
    assert text in outcome.failure().message


# --- names ------------------------------------------------------------------------------------


def test_models_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("COHERE_API_KEY", "co-test")
    monkeypatch.setenv("GEMINI_API_KEY", "g-test")
    monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", "http://localhost:8080/v1")
    for name in ("OPENAI_BASE_URL", "COHERE_BASE_URL", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    addresses = {}
    for name in (
        "openai/text-embedding-3-small",
        "openai-compatible:m",
        "cohere/embed-v4.0",
        "google/gemini-embedding-001",
    ):
        model = resolve_embedding_model(name)
        assert isinstance(model, HttpEmbeddingModel)
        addresses[model.provider] = model.endpoint.base_url
    ranker = resolve_reranking_model("cohere/rerank-v3.5")

    assert addresses == {
        "openai": "https://api.openai.com/v1",
        "openai-compatible": "http://localhost:8080/v1",
        "cohere": "https://api.cohere.com/v2",
        "google": "https://generativelanguage.googleapis.com/v1beta",
    }
    assert isinstance(ranker, HttpRerankingModel)
    assert ranker.model_id == "rerank-v3.5"


def test_a_name_that_stands_for_nothing_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "COHERE_API_KEY", "OPENAI_COMPATIBLE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)

    with pytest.raises(UsageError, match="expected an embedding model as provider/model, such as"):
        resolve_embedding_model("text-embedding-3-small")
    with pytest.raises(UsageError, match=r"providers: bedrock, cohere, gateway$"):
        resolve_reranking_model("openai/x")
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        resolve_embedding_model("openai/x")
    with pytest.raises(UsageError, match="COHERE_API_KEY"):
        resolve_embedding_model("cohere/x")
    with pytest.raises(UsageError, match="OPENAI_COMPATIBLE_BASE_URL"):
        resolve_embedding_model("openai-compatible/x")
