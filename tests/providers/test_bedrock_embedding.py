"""Embedding and reranking over Amazon Bedrock: what is sent, signed, and read of any answer."""

import json
from collections.abc import Callable

import pytest

from stepfold.ports import EmbeddingRequest
from stepfold.providers import (
    AwsCredentials,
    HttpEmbeddingModel,
    HttpRerankingModel,
    bedrock_embedding,
    bedrock_embeddings,
    bedrock_reranking,
    resolve_embedding_model,
    resolve_reranking_model,
)
from stepfold.shell import embed, embed_many, rerank
from stepfold.values import Failure, ModelError, Usage, UsageError
from tests.providers._served import KEY, Server, served

TITAN = "amazon.titan-embed-text-v2:0"
COHERE = "us.cohere.embed-v4:0"


async def test_a_model_of_amazon_takes_one_text_in_a_call() -> None:
    server = Server({"embedding": [1, 2], "inputTextTokenCount": 3})
    model = bedrock_embedding(TITAN, region="us-east-1", **served(server, "http://x"))

    many = await embed_many(
        model, ["a", "a"], dimensions=2, provider_options={"bedrock": {"normalize": False}}
    )

    asked = {"inputText": "a", "dimensions": 2, "normalize": False}
    assert (
        server.asked
        == [
            ("http://x/model/amazon.titan-embed-text-v2%3A0/invoke", asked),
        ]
        * 2
    )
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    assert many.embeddings == ((1.0, 2.0), (1.0, 2.0))
    assert many.usage == Usage(input_tokens=6)
    assert (model.provider, model.max_values_per_call) == ("bedrock", 1)
    with pytest.raises(UsageError, match="takes one text in a call, got 2"):
        await model.embed(EmbeddingRequest(("a", "b")))


async def test_a_model_of_cohere_is_told_what_the_vectors_are_for() -> None:
    server = Server(
        {"id": "e-1", "embeddings": {"float": [[1, 2], [3, 4]]}},
        headers={"x-amzn-bedrock-input-token-count": "5"},
    )
    model = bedrock_embedding(COHERE, region="us-east-1", **served(server, "http://x"))

    many = await embed_many(model, ["a", "b"], dimensions=2)
    await embed_many(
        model, ["a", "b"], provider_options={"bedrock": {"input_type": "search_query"}}
    )

    sent = {"texts": ["a", "b"], "embedding_types": ["float"]}
    url = "http://x/model/us.cohere.embed-v4%3A0/invoke"
    assert server.asked == [
        (url, {**sent, "output_dimension": 2, "input_type": "search_document"}),
        (url, {**sent, "input_type": "search_query"}),
    ]
    assert many.embeddings == ((1.0, 2.0), (3.0, 4.0))
    assert many.usage == Usage(input_tokens=5)
    assert many.responses[0].id == "e-1"
    assert model.max_values_per_call == 96


async def test_requests_are_signed() -> None:
    server = Server({"embedding": [1]})
    options = served(server, "http://x")
    del options["api_key"]
    model = bedrock_embedding(
        TITAN, region="eu-west-1", credentials=AwsCredentials("AKID", KEY), **options
    )

    await embed(model, "a")

    signature = server.headers[0]["authorization"]
    assert signature.startswith("AWS4-HMAC-SHA256 Credential=AKID/")
    assert "/eu-west-1/bedrock/aws4_request" in signature


async def test_cohere_ranks_behind_bedrock() -> None:
    server = Server({"results": [{"index": 1, "relevance_score": 0.9}]})
    model = bedrock_reranking(
        "cohere.rerank-v3-5:0", region="us-east-1", **served(server, "http://x")
    )

    ranked = await rerank(model, "b", ["a", "b"], top_n=1)

    assert server.asked == [
        (
            "http://x/model/cohere.rerank-v3-5%3A0/invoke",
            {"query": "b", "documents": ["a", "b"], "top_n": 1, "api_version": 2},
        )
    ]
    assert ranked.documents == ("b",)


async def test_a_refusal_is_of_its_kind() -> None:
    server = Server(
        {"message": "Too many requests"}, 429, {"x-amzn-errortype": "ThrottlingException:http://"}
    )
    model = bedrock_embedding(TITAN, region="us-east-1", **served(server, "http://x"))

    with pytest.raises(ModelError) as raised:
        await model.embed(EmbeddingRequest(("a",)))

    assert raised.value.reason.kind == "rate-limit"


@pytest.mark.parametrize(
    ("decode", "answer", "text"),
    [
        (bedrock_embeddings.decode_titan_embedding, 3, "what is not a JSON object"),
        (bedrock_embeddings.decode_titan_embedding, {}, "the embedding 0 is no array"),
        (bedrock_embeddings.decode_cohere_embedding, 3, "what is not a JSON object"),
        (
            bedrock_embeddings.decode_cohere_embedding,
            {"embeddings": [[1], None]},
            "the embedding 1 is no array",
        ),
    ],
)
def test_what_is_no_answer_is_a_failure(
    decode: Callable[[bytes, str], object], answer: object, text: str
) -> None:
    outcome = decode(json.dumps(answer).encode(), "bedrock")

    assert isinstance(outcome, Failure)
    assert text in outcome.failure().message


@pytest.mark.parametrize("told", ["", "many", "-1", "9" * 5000])
def test_a_count_that_is_none_is_unknown(told: str) -> None:
    """Vectors of older models come by themselves, without their type."""
    reply = bedrock_embeddings.decode_cohere_embedding(
        b'{"embeddings": [[1]]}',
        "bedrock",
        headers=(("x-amzn-bedrock-input-token-count", told),),
    ).unwrap()

    assert reply.embeddings == ((1.0,),)
    assert reply.usage == Usage()


def test_models_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
    monkeypatch.delenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", raising=False)
    provisioned = "arn:aws:bedrock:us-east-1:123456789012:provisioned-model/abc"

    for name, held in (
        (TITAN, 1),
        ("amazon.titan-embed-g1-text-02", 1),
        (f"arn:aws:bedrock:us-east-1::foundation-model/{TITAN}", 1),
        ("cohere.embed-english-v3", 96),
        (COHERE, 96),
    ):
        model = resolve_embedding_model(f"bedrock/{name}")
        assert isinstance(model, HttpEmbeddingModel)
        assert (model.model_id, model.max_values_per_call) == (name, held)
        assert model.endpoint.base_url == "https://bedrock-runtime.us-east-1.amazonaws.com"
    ranker = resolve_reranking_model("bedrock/cohere.rerank-v3-5:0")

    assert isinstance(ranker, HttpRerankingModel)
    assert bedrock_embedding(provisioned, family="cohere").max_values_per_call == 96
    with pytest.raises(UsageError, match="expected an embedding model by the name of its family"):
        bedrock_embedding(provisioned)
