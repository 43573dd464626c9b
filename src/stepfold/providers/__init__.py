"""Floor 5: language models of others. Importing this imports no HTTP client and no provider SDK."""

from stepfold.providers._registry import (
    PROVIDERS,
    ProviderEntry,
    resolve_model,
)
from stepfold.providers.anthropic_messages import (
    AnthropicModel,
    MessagesDialect,
    anthropic,
)
from stepfold.providers.openai_chat import (
    ChatDialect,
    OpenAIChatModel,
    openai,
    openai_compatible,
)
from stepfold.providers.openai_responses import (
    OpenAIResponsesModel,
    ResponsesDialect,
    openai_responses,
)

__all__ = (
    "PROVIDERS",
    "AnthropicModel",
    "ChatDialect",
    "MessagesDialect",
    "OpenAIChatModel",
    "OpenAIResponsesModel",
    "ProviderEntry",
    "ResponsesDialect",
    "anthropic",
    "openai",
    "openai_compatible",
    "openai_responses",
    "resolve_model",
)
