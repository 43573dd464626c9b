"""Laws of the answers of embedding models: all are read, and vectors are what was said."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stepfold.ports import Embedding, EmbeddingReply, RerankingReply
from stepfold.providers import (
    ai_gateway,
    bedrock_embeddings,
    cohere_embeddings,
    google_embeddings,
    openai_embeddings,
)
from stepfold.providers._http_embedding import DecodeAnswer
from stepfold.values import Failure

vectors = st.lists(
    st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9), min_size=1, max_size=4
)
names = st.sampled_from(
    ("data", "embedding", "embeddings", "index", "usage", "prompt_tokens", "float", "values")
    + ("usageMetadata", "promptTokenCount", "inputTextTokenCount", "meta", "billed_units", "tokens")
    + ("results", "ranking", "relevance_score", "relevanceScore", "warnings", "providerMetadata")
    + ("error", "id", "model", "type", "message")
)
documents = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4) | vectors,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(keys=names, values=inner, max_size=5)
    ),
    max_leaves=20,
)
DECODERS: dict[str, DecodeAnswer[EmbeddingReply | RerankingReply]] = {
    "openai": openai_embeddings.decode_embedding,
    "google": google_embeddings.decode_embedding,
    "cohere": cohere_embeddings.decode_embedding,
    "titan": bedrock_embeddings.decode_titan_embedding,
    "cohere behind bedrock": bedrock_embeddings.decode_cohere_embedding,
    "gateway": ai_gateway.decode_embedding,
    "cohere ranking": cohere_embeddings.decode_reranking,
    "gateway ranking": ai_gateway.decode_reranking,
}


@pytest.mark.parametrize("name", DECODERS)
@given(document=documents)
def test_whatever_is_answered_is_read(name: str, document: object) -> None:
    """Any JSON is a reply or a violation, and never an exception."""
    outcome = DECODERS[name](json.dumps(document).encode(), "x")

    if isinstance(outcome, Failure):
        assert outcome.failure().message


@given(said=st.lists(vectors, max_size=4), data=st.data())
def test_vectors_are_those_that_were_said(said: list[list[float]], data: st.DataObject) -> None:
    numbered = [{"index": index, "embedding": one} for index, one in enumerate(said)]
    answers: list[tuple[str, object]] = [
        ("openai", {"data": data.draw(st.permutations(numbered))}),
        ("google", {"embeddings": [{"values": one} for one in said]}),
        ("cohere", {"embeddings": {"float": said}}),
        ("cohere behind bedrock", {"embeddings": {"float": said}}),
        ("cohere behind bedrock", {"embeddings": said}),
        ("gateway", {"embeddings": said}),
        *(("titan", {"embedding": one}) for one in said[:1] if len(said) == 1),
    ]
    expected: tuple[Embedding, ...] = tuple(tuple(map(float, one)) for one in said)

    for name, answer in answers:
        reply = DECODERS[name](json.dumps(answer).encode(), "x").unwrap()
        assert isinstance(reply, EmbeddingReply)
        assert reply.embeddings == expected
