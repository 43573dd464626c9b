from stepfold.providers._registry import PROVIDERS, ProviderEntry, resolve_model
from stepfold.providers.openai_chat import ChatDialect, OpenAIChatModel, openai, openai_compatible

__all__ = (
    "PROVIDERS",
    "ChatDialect",
    "OpenAIChatModel",
    "ProviderEntry",
    "openai",
    "openai_compatible",
    "resolve_model",
)
