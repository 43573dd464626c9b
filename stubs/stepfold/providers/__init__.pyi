from stepfold.providers._chat_servers import CHAT_SERVERS, ChatServer, chat_model
from stepfold.providers._embedding_registry import resolve_embedding_model, resolve_reranking_model
from stepfold.providers._endpoint import ClientOptions, ConnectionOptions, Endpoint
from stepfold.providers._events import EventReader, EventStream
from stepfold.providers._failures import reason_of_error
from stepfold.providers._http_caller import WireCall
from stepfold.providers._http_embedding import (
    EmbeddingDialect,
    HttpEmbeddingModel,
    HttpRerankingModel,
)
from stepfold.providers._http_model import HttpModel, WireCodec, WireDecoder, http_model
from stepfold.providers._protocols import PROTOCOLS, ProtocolEntry, protocol_named
from stepfold.providers._registry import (
    PROVIDERS,
    ProviderEntry,
    ProviderRegistry,
    custom_provider,
    resolve_model,
)
from stepfold.providers._replies import reply_object, violation
from stepfold.providers.ai_gateway import (
    GatewayDialect,
    GatewayModel,
    gateway,
    gateway_embedding,
    gateway_reranking,
)
from stepfold.providers.anthropic_messages import MessagesDialect, MessagesModel, anthropic
from stepfold.providers.bedrock_converse import (
    AwsCredentials,
    AwsSigner,
    ConverseDialect,
    ConverseModel,
    bedrock,
)
from stepfold.providers.bedrock_embeddings import bedrock_embedding, bedrock_reranking
from stepfold.providers.cohere_chat import CohereDialect, CohereModel, cohere
from stepfold.providers.cohere_embeddings import cohere_embedding, cohere_reranking
from stepfold.providers.google_embeddings import google_embedding
from stepfold.providers.google_generate import GoogleDialect, GoogleModel, google
from stepfold.providers.openai_chat import ChatDialect, ChatModel, openai, openai_compatible
from stepfold.providers.openai_embeddings import (
    embedding_model,
    openai_compatible_embedding,
    openai_embedding,
)
from stepfold.providers.responses import (
    ResponsesDialect,
    ResponsesModel,
    openai_responses,
    xai_responses,
)

__all__ = (
    "CHAT_SERVERS",
    "PROTOCOLS",
    "PROVIDERS",
    "AwsCredentials",
    "AwsSigner",
    "ChatDialect",
    "ChatModel",
    "ChatServer",
    "ClientOptions",
    "CohereDialect",
    "CohereModel",
    "ConnectionOptions",
    "ConverseDialect",
    "ConverseModel",
    "EmbeddingDialect",
    "Endpoint",
    "EventReader",
    "EventStream",
    "GatewayDialect",
    "GatewayModel",
    "GoogleDialect",
    "GoogleModel",
    "HttpEmbeddingModel",
    "HttpModel",
    "HttpRerankingModel",
    "MessagesDialect",
    "MessagesModel",
    "ProtocolEntry",
    "ProviderEntry",
    "ProviderRegistry",
    "ResponsesDialect",
    "ResponsesModel",
    "WireCall",
    "WireCodec",
    "WireDecoder",
    "anthropic",
    "bedrock",
    "bedrock_embedding",
    "bedrock_reranking",
    "chat_model",
    "cohere",
    "cohere_embedding",
    "cohere_reranking",
    "custom_provider",
    "embedding_model",
    "gateway",
    "gateway_embedding",
    "gateway_reranking",
    "google",
    "google_embedding",
    "http_model",
    "openai",
    "openai_compatible",
    "openai_compatible_embedding",
    "openai_embedding",
    "openai_responses",
    "protocol_named",
    "reason_of_error",
    "reply_object",
    "resolve_embedding_model",
    "resolve_model",
    "resolve_reranking_model",
    "violation",
    "xai_responses",
)
