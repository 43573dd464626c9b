"""Embedding and reranking models by name, such as `openai/text-embedding-3-small`."""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

from stepfold.ports import EmbeddingModel, RerankingModel
from stepfold.providers._chat_servers import CHAT_SERVERS, ChatServer
from stepfold.values import UsageError

M = TypeVar("M")

_NAME = re.compile(r"([^/:\s]+)[/:](\S+)")


def _bedrock_embedding(model_id: str) -> EmbeddingModel:
    from stepfold.providers.bedrock_embeddings import bedrock_embedding

    return bedrock_embedding(model_id)


def _bedrock_reranking(model_id: str) -> RerankingModel:
    from stepfold.providers.bedrock_embeddings import bedrock_reranking

    return bedrock_reranking(model_id)


def _openai(model_id: str) -> EmbeddingModel:
    from stepfold.providers.openai_embeddings import openai_embedding

    return openai_embedding(model_id)


def _of_chat_server(server: ChatServer) -> Callable[[str], EmbeddingModel]:
    def make(model_id: str) -> EmbeddingModel:
        from stepfold.providers.openai_embeddings import embedding_model

        return embedding_model(server.name, model_id)

    return make


def _cohere_embedding(model_id: str) -> EmbeddingModel:
    from stepfold.providers.cohere_embeddings import cohere_embedding

    return cohere_embedding(model_id)


def _cohere_reranking(model_id: str) -> RerankingModel:
    from stepfold.providers.cohere_embeddings import cohere_reranking

    return cohere_reranking(model_id)


def _gateway_embedding(model_id: str) -> EmbeddingModel:
    from stepfold.providers.ai_gateway import gateway_embedding

    return gateway_embedding(model_id)


def _gateway_reranking(model_id: str) -> RerankingModel:
    from stepfold.providers.ai_gateway import gateway_reranking

    return gateway_reranking(model_id)


def _google(model_id: str) -> EmbeddingModel:
    from stepfold.providers.google_embeddings import google_embedding

    return google_embedding(model_id)


_EMBEDDING: Mapping[str, Callable[[str], EmbeddingModel]] = {
    "bedrock": _bedrock_embedding,
    "cohere": _cohere_embedding,
    "gateway": _gateway_embedding,
    "google": _google,
    "openai": _openai,
    **{one.name: _of_chat_server(one) for one in CHAT_SERVERS if one.embedding is not None},
}
_RERANKING: Mapping[str, Callable[[str], RerankingModel]] = {
    "bedrock": _bedrock_reranking,
    "cohere": _cohere_reranking,
    "gateway": _gateway_reranking,
}


def resolve_embedding_model(name: str) -> EmbeddingModel:
    """Make the embedding model that a name stands for: `provider/model`, or `provider:model`.

    Raises:
        UsageError: the name has another form, there is no such provider, or the environment
            lacks what the provider needs; the text says which, and what to do.
    """
    return _resolved(name, _EMBEDDING, "an embedding model", "openai/text-embedding-3-small")


def resolve_reranking_model(name: str) -> RerankingModel:
    """Make the reranking model that a name stands for: `provider/model`, or `provider:model`.

    Raises:
        UsageError: the name has another form, there is no such provider, or the environment
            lacks what the provider needs; the text says which, and what to do.
    """
    return _resolved(name, _RERANKING, "a reranking model", "cohere/rerank-v3.5")


def _resolved(name: str, makers: Mapping[str, Callable[[str], M]], what: str, example: str) -> M:
    match = _NAME.fullmatch(name.strip())
    make = None if match is None else makers.get(match[1])
    if match is None or make is None:
        raise UsageError(
            f"expected {what} as provider/model, such as {example}, got {name!r}; "
            f"providers: {', '.join(sorted(makers))}"
        )
    return make(match[2])
