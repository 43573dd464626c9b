"""Models by name, such as `openai/gpt-5.4`; a provider is imported when a name asks for it."""

import re
from collections.abc import Callable
from typing import final

from attrs import frozen

from stepfold.ports import LanguageModel
from stepfold.providers._chat_servers import CHAT_SERVERS, ChatServer, chat_model
from stepfold.values import UsageError

_NAME = re.compile(r"([^/:\s]+)[/:](\S+)")


@final
@frozen(order=False)
class ProviderEntry:
    """A provider as the registry knows it: what it is, and how a model of it is made."""

    name: str
    summary: str
    make: Callable[[str], LanguageModel]


def _anthropic(model_id: str) -> LanguageModel:
    from stepfold.providers.anthropic_messages import anthropic

    return anthropic(model_id)


def _bedrock(model_id: str) -> LanguageModel:
    from stepfold.providers.bedrock_converse import bedrock

    return bedrock(model_id)


def _gateway(model_id: str) -> LanguageModel:
    from stepfold.providers.ai_gateway import gateway

    return gateway(model_id)


def _cohere(model_id: str) -> LanguageModel:
    from stepfold.providers.cohere_chat import cohere

    return cohere(model_id)


def _google(model_id: str) -> LanguageModel:
    from stepfold.providers.google_generate import google

    return google(model_id)


def _openai(model_id: str) -> LanguageModel:
    from stepfold.providers.openai_chat import openai

    return openai(model_id)


def _openai_responses(model_id: str) -> LanguageModel:
    from stepfold.providers.responses import openai_responses

    return openai_responses(model_id)


def _xai_responses(model_id: str) -> LanguageModel:
    from stepfold.providers.responses import xai_responses

    return xai_responses(model_id)


def _local(model_id: str) -> LanguageModel:
    if model_id != "smollm2":
        raise UsageError(f"local/{model_id} is not known; there is local/smollm2")
    from stepfold.providers.local import local_smollm2

    return local_smollm2()


def _of_chat_server(server: ChatServer) -> ProviderEntry:
    needed = [] if server.base_url else [server.base_url_variable]
    if server.key_variable is not None and server.needs_key:
        needed.append(server.key_variable)
    needs = f"needs {' and '.join(needed)}" if needed else f"at {server.base_url}, without a key"
    return ProviderEntry(
        server.name,
        f"{server.summary}; {needs}",
        lambda model_id: chat_model(server.name, model_id),
    )


PROVIDERS: tuple[ProviderEntry, ...] = tuple(
    sorted(
        (
            ProviderEntry("anthropic", "Anthropic; needs ANTHROPIC_API_KEY", _anthropic),
            ProviderEntry(
                "bedrock",
                "Amazon Bedrock; needs AWS_REGION and AWS_BEARER_TOKEN_BEDROCK, or the "
                "access key of an account",
                _bedrock,
            ),
            ProviderEntry(
                "gateway",
                "every hosted provider over the AI Gateway, as gateway/openai/gpt-5.4; "
                "needs AI_GATEWAY_API_KEY",
                _gateway,
            ),
            ProviderEntry("cohere", "Cohere; needs COHERE_API_KEY", _cohere),
            ProviderEntry("google", "Google; needs GEMINI_API_KEY", _google),
            ProviderEntry("local", "a small model on this machine, without a key", _local),
            ProviderEntry("openai", "OpenAI; needs OPENAI_API_KEY", _openai),
            ProviderEntry(
                "openai-responses",
                "OpenAI, over the Responses protocol; needs OPENAI_API_KEY",
                _openai_responses,
            ),
            ProviderEntry(
                "xai-responses",
                "xAI, over the Responses protocol; needs XAI_API_KEY",
                _xai_responses,
            ),
            *map(_of_chat_server, CHAT_SERVERS),
        ),
        key=lambda entry: entry.name,
    )
)
"""The providers that names may begin with, sorted."""


def resolve_model(name: str) -> LanguageModel:
    """Make the model that a name stands for: `provider/model`, or `provider:model`.

    Raises:
        UsageError: if the name has another form, there is no such provider, or the environment
            lacks what the provider needs; the text says which, and what to do.
    """
    match = _NAME.fullmatch(name.strip())
    if match is None:
        raise UsageError(
            f"expected a model as provider/model, such as openai/gpt-5.4, got {name!r}; "
            f"providers: {_names()}"
        )
    for entry in PROVIDERS:
        if entry.name == match[1]:
            return entry.make(match[2])
    raise UsageError(
        f"there is no provider {match[1]!r}; there are {_names()}. A server that speaks chat "
        f"completions is openai-compatible/{match[2]}, at OPENAI_COMPATIBLE_BASE_URL. In Python, "
        f"openai_compatible({match[2]!r}, base_url=…) makes it."
    )


def _names() -> str:
    return ", ".join(entry.name for entry in PROVIDERS)
