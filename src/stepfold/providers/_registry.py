"""Models by name, such as `openai/gpt-5.4`; a provider is imported when a name asks for it."""

import os
import re
from collections.abc import Callable
from typing import final

from attrs import frozen

from stepfold.ports import LanguageModel
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


def _google(model_id: str) -> LanguageModel:
    from stepfold.providers.google_generate import google

    return google(model_id)


def _openai(model_id: str) -> LanguageModel:
    from stepfold.providers.openai_chat import openai

    return openai(model_id)


def _openai_compatible(model_id: str) -> LanguageModel:
    from stepfold.providers.openai_chat import openai_compatible

    base_url = os.environ.get("OPENAI_COMPATIBLE_BASE_URL", "").strip()
    if not base_url:
        raise UsageError(
            f"openai-compatible/{model_id} needs an address: set the environment variable "
            f"OPENAI_COMPATIBLE_BASE_URL to that of the server, such as http://localhost:8080/v1. "
            f"In Python, openai_compatible({model_id!r}, base_url=…) does it too."
        )
    key = os.environ.get("OPENAI_COMPATIBLE_API_KEY")
    return openai_compatible(model_id, base_url=base_url, api_key=key)


def _openai_responses(model_id: str) -> LanguageModel:
    from stepfold.providers.responses import openai_responses

    return openai_responses(model_id)


def _local(model_id: str) -> LanguageModel:
    if model_id != "smollm2":
        raise UsageError(f"local/{model_id} is not known; there is local/smollm2")
    from stepfold.providers.local import local_smollm2

    return local_smollm2()


PROVIDERS: tuple[ProviderEntry, ...] = (
    ProviderEntry("anthropic", "Anthropic; needs ANTHROPIC_API_KEY", _anthropic),
    ProviderEntry("google", "Google; needs GEMINI_API_KEY", _google),
    ProviderEntry("local", "a small model on this machine, without a key", _local),
    ProviderEntry("openai", "OpenAI; needs OPENAI_API_KEY", _openai),
    ProviderEntry(
        "openai-compatible",
        "a server that speaks chat completions; needs OPENAI_COMPATIBLE_BASE_URL",
        _openai_compatible,
    ),
    ProviderEntry(
        "openai-responses",
        "OpenAI, over the Responses protocol; needs OPENAI_API_KEY",
        _openai_responses,
    ),
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
