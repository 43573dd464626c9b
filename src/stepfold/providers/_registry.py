"""Models by name, such as `openai/gpt-5.4`; a provider is imported when a name asks for it."""

import re
from collections.abc import Callable, Mapping
from typing import Final, final

from attrs import field, frozen

from stepfold.ports import LanguageModel, Middleware
from stepfold.providers._chat_servers import CHAT_SERVERS, ChatServer, chat_model
from stepfold.shell import wrap_language_model
from stepfold.values import UsageError

_NAME = re.compile(r"([^/:\s]+)[/:](\S+)")
_PROVIDER = re.compile(r"[^/:\s]+")


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


@final
@frozen(order=False)
class ProviderRegistry:
    """Providers under their names: makes models of names, as a value and with nothing global.

    Where two have one name, the later one counts; `ProviderRegistry((*PROVIDERS, mine))` is all
    that there is, and one more. `middleware` is put around every model, and the models keep
    their names. A registry is a function from names to models: give it to an agent as
    `resolve_model=`.
    """

    providers: tuple[ProviderEntry, ...] = PROVIDERS
    middleware: Middleware | None = field(default=None, kw_only=True)

    def __call__(self, name: str) -> LanguageModel:
        """Make the model that a name stands for: `provider/model`, or `provider:model`.

        Raises:
            UsageError: the name has another form, there is no such provider or model, or the
                environment lacks what the provider needs; the text says which, and what to do.
        """
        match = _NAME.fullmatch(name.strip())
        if match is None:
            raise UsageError(
                f"expected a model as provider/model, such as openai/gpt-5.4, got {name!r}; "
                f"providers: {self._names()}"
            )
        entry = next((one for one in reversed(self.providers) if one.name == match[1]), None)
        if entry is None:
            raise UsageError(self._unknown(match[1], match[2]))
        model = entry.make(match[2])
        return model if self.middleware is None else self.middleware(model)

    def _unknown(self, provider: str, model_id: str) -> str:
        told = f"there is no provider {provider!r}; there are {self._names()}."
        if not any(entry.name == "openai-compatible" for entry in self.providers):
            return told
        return (
            f"{told} A server that speaks chat completions is openai-compatible/{model_id}, at "
            f"OPENAI_COMPATIBLE_BASE_URL. In Python, openai_compatible({model_id!r}, base_url=…) "
            f"makes it."
        )

    def _names(self) -> str:
        return ", ".join(sorted({entry.name for entry in self.providers}))


def custom_provider(
    name: str,
    *,
    models: Mapping[str, str | LanguageModel | Callable[[], LanguageModel]] | None = None,
    fallback: str | ProviderEntry | None = None,
    middleware: Middleware | None = None,
    summary: str = "",
) -> ProviderEntry:
    """Make a provider of your own: names for models, and middleware for all of them.

    Args:
        name: What its names begin with: `mine` in `mine/fast`.
        models: What its names stand for: a model, a function that makes one when it is asked for,
            or the name of another (`openai/gpt-5.4`) that the built-in providers know.
        fallback: The provider that makes the models that are not listed, or its name.
        middleware: What is put around every model.
        summary: What it is, in a line, for who lists providers.

    Its models are called by the names here, in states and journals too: an alias may come to
    stand for another model without a change of what is stored. Options and metadata are still
    those of the provider behind it.

    Raises:
        UsageError: the name has white space, `/` or `:` in it, or there is no such fallback.
    """
    if not _PROVIDER.fullmatch(name):
        raise UsageError(
            f"custom_provider: expected a name without white space, '/' and ':', got {name!r}"
        )
    known = dict(models or {})
    behind = _entry_named(fallback) if isinstance(fallback, str) else fallback

    def make(model_id: str) -> LanguageModel:
        given = known.get(model_id)
        if given is None and behind is not None:
            model = behind.make(model_id)
        elif given is None:
            raise UsageError(
                f"there is no model {name}/{model_id}; there are "
                f"{', '.join(f'{name}/{one}' for one in known) or 'none'}"
            )
        elif isinstance(given, str):
            model = resolve_model(given)
        else:
            model = given() if callable(given) else given
        layers = () if middleware is None else (middleware,)
        return wrap_language_model(model, *layers, provider=name, model_id=model_id)

    return ProviderEntry(name, summary or f"a provider of your own, {name}", make)


def _entry_named(name: str) -> ProviderEntry:
    for entry in PROVIDERS:
        if entry.name == name:
            return entry
    names = ", ".join(entry.name for entry in PROVIDERS)
    raise UsageError(f"there is no provider {name!r} to fall back on; there are {names}")


_BUILT_IN: Final = ProviderRegistry()


def resolve_model(name: str) -> LanguageModel:
    """Make the model that a name stands for: `provider/model`, or `provider:model`.

    Raises:
        UsageError: if the name has another form, there is no such provider, or the environment
            lacks what the provider needs; the text says which, and what to do.
    """
    return _BUILT_IN(name)
