"""Protocols by name; a codec is imported when it is asked for."""

from collections.abc import Callable
from typing import Never, TypeAlias, final

from attrs import frozen

from stepfold.providers._http_model import WireCodec
from stepfold.values import UsageError

AnyCodec: TypeAlias = WireCodec[Never]
"""A codec whose dialect is not known: good for decoding."""


@final
@frozen(order=False)
class ProtocolEntry:
    """A protocol: its name, the provider in whose name replies are decoded, and its codec."""

    name: str
    provider: str
    load: Callable[[], AnyCodec]


def _anthropic_messages() -> AnyCodec:
    from stepfold.providers.anthropic_messages import MESSAGES_CODEC

    return MESSAGES_CODEC


def _bedrock_converse() -> AnyCodec:
    from stepfold.providers.bedrock_converse import CONVERSE_CODEC

    return CONVERSE_CODEC


def _ai_gateway() -> AnyCodec:
    from stepfold.providers.ai_gateway import GATEWAY_CODEC

    return GATEWAY_CODEC


def _cohere_chat() -> AnyCodec:
    from stepfold.providers.cohere_chat import COHERE_CODEC

    return COHERE_CODEC


def _google_generate() -> AnyCodec:
    from stepfold.providers.google_generate import GOOGLE_CODEC

    return GOOGLE_CODEC


def _openai_chat() -> AnyCodec:
    from stepfold.providers.openai_chat import CHAT_CODEC

    return CHAT_CODEC


def _openai_responses() -> AnyCodec:
    from stepfold.providers.responses import RESPONSES_CODEC

    return RESPONSES_CODEC


PROTOCOLS: tuple[ProtocolEntry, ...] = (
    ProtocolEntry("ai-gateway", "gateway", _ai_gateway),
    ProtocolEntry("anthropic-messages", "anthropic", _anthropic_messages),
    ProtocolEntry("bedrock-converse", "bedrock", _bedrock_converse),
    ProtocolEntry("cohere-chat", "cohere", _cohere_chat),
    ProtocolEntry("google-generate", "google", _google_generate),
    ProtocolEntry("mistral-chat", "mistral", _openai_chat),
    ProtocolEntry("openai-chat", "openai", _openai_chat),
    ProtocolEntry("openai-responses", "openai", _openai_responses),
)
"""The protocols that there are, sorted by name."""


def protocol_named(name: str) -> ProtocolEntry:
    """The protocol of a name.

    Raises:
        UsageError: there is none; the text lists those that there are.
    """
    for entry in PROTOCOLS:
        if entry.name == name:
            return entry
    known = ", ".join(entry.name for entry in PROTOCOLS)
    raise UsageError(f"protocol: expected one of {known}, got {name!r}")
