"""Where a Messages server is, and what its models understand."""

import re
from typing import Literal, TypeAlias, final

from attrs import frozen

from stepfold.providers._endpoint import WEB
from stepfold.values import ReasoningEffort

Thinking: TypeAlias = Literal["none", "budget", "adaptive"]
Sampling: TypeAlias = Literal["free", "fixed"]


@final
@frozen(order=False, kw_only=True, cache_hash=True)
class MessagesDialect:
    """What a model understands. The defaults fit servers that are not Anthropic's.

    `provider` is the key of `provider_options` and `provider_metadata`. `max_output_tokens` is
    sent where the settings name none, since the protocol demands a figure. `thinking` says how a
    model is told to think: by a `budget` of tokens, or by an effort (`adaptive`). `sampling` is
    `fixed` for a model that refuses temperature and the like. `has_json_schema` stands for
    structured outputs: replies in the form of a schema, and strict tools. `fetched_urls` are the
    files that the server fetches by their addresses; others are fetched before it is asked.
    """

    provider: str = "anthropic"
    max_output_tokens: int = 4_096
    thinking: Thinking = "budget"
    efforts: tuple[ReasoningEffort, ...] = ("low", "medium", "high", "max")
    """The efforts that an adaptive model knows, in ascending order."""
    sampling: Sampling = "free"
    has_json_schema: bool = False
    fetched_urls: tuple[tuple[str, str], ...] = (("image/*", WEB), ("application/pdf", WEB))


# claude-3-5-haiku-20241022, claude-opus-4-20250514, claude-sonnet-4-5, claude-opus-5
_VERSION = re.compile(r"claude-(?:([a-z]+)-)?(\d{1,2})(?:[-.](\d{1,2}))?(?!\d)")


def anthropic_dialect(model_id: str) -> MessagesDialect:
    """What Anthropic's own models understand, by the version in their names.

    Where the settings name no limit, replies may have 4,096 tokens (Claude 3 and unknown
    models), 8,192 (3.5) or 32,000 (later ones).
    """
    match = _VERSION.search(model_id)
    if match is None:
        return MessagesDialect()
    version = (int(match[2]), int(match[3] or 0))
    if version < (3, 7):
        limit = 8_192 if version >= (3, 5) else 4_096
        return MessagesDialect(max_output_tokens=limit, thinking="none")
    is_adaptive = version >= (4, 6)
    efforts: tuple[ReasoningEffort, ...] = ("low", "medium", "high", "max")
    if version >= (4, 7):
        efforts = ("low", "medium", "high", "xhigh", "max")
    return MessagesDialect(
        max_output_tokens=32_000,
        thinking="adaptive" if is_adaptive else "budget",
        efforts=efforts,
        sampling="fixed" if version >= (4, 7) else "free",
        has_json_schema=version >= (4, 5) or (match[1] == "opus" and version >= (4, 1)),
    )
