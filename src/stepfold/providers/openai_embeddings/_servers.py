"""Embedding models of the servers that speak chat completions, as far as they make vectors."""

from attrs import evolve
from typing_extensions import Unpack

from stepfold.providers._chat_servers import CHAT_SERVERS, chat_server, server_endpoint
from stepfold.providers._endpoint import ConnectionOptions
from stepfold.providers._http_caller import connections_of
from stepfold.providers._http_embedding import HttpEmbeddingModel
from stepfold.providers.openai_embeddings._construct import EMBEDDING_CODEC
from stepfold.values import UsageError


def embedding_model(
    server: str, model_id: str, **options: Unpack[ConnectionOptions]
) -> HttpEmbeddingModel:
    """An embedding model of a server that `CHAT_SERVERS` knows, such as Mistral's.

    What is not given comes from the environment, by the variables that `ChatServer` names, and
    then from the table.

    Raises:
        UsageError: there is no such server, it makes no vectors, or a key or an address is missing
            or wrong.
    """
    entry = chat_server(server)
    if entry.embedding is None:
        known = ", ".join(one.name for one in CHAT_SERVERS if one.embedding is not None)
        raise UsageError(f"{server} has no embedding models that are known; {known} have")
    dialect = evolve(entry.embedding, provider=entry.name)
    endpoint = server_endpoint(entry, model_id, dialect, options)
    return HttpEmbeddingModel(EMBEDDING_CODEC, endpoint, connections_of(options))
