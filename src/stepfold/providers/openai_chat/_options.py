"""Where a chat-completions server is, and how its dialect differs."""

import re
from typing import Literal, TypeAlias, final

from attrs import frozen

from stepfold.providers._endpoint import WEB
from stepfold.values import ReasoningEffort

SystemRole: TypeAlias = Literal["system", "developer"]
TokenLimit: TypeAlias = Literal["max_tokens", "max_completion_tokens"]
Sampling: TypeAlias = Literal["free", "fixed", "fixed-when-reasoning"]


@final
@frozen(order=False, kw_only=True, cache_hash=True)
class ChatDialect:
    """What a server understands. The defaults fit most compatible servers.

    `provider` is the key of `provider_options` and `provider_metadata`. `sends_reasoning` gives
    earlier reasoning back as `reasoning_content`. `sampling` is `fixed` for a model that refuses
    temperature and the like. `strict` asks for schemas to be followed exactly; `None` asks for it
    where the schema allows it (every property required, no other properties). Ids of calls that
    are longer than `longest_call_id`, such as those of another provider, are sent as a digest.
    `has_provider_tools` tells that the server may have tools of its own. `fetched_urls` are the
    files that it fetches by their addresses, such as `image/*`; others are fetched before it is
    asked.
    """

    provider: str = "openai-compatible"
    system_role: SystemRole = "system"
    token_limit: TokenLimit = "max_tokens"  # noqa: S105 - a count of tokens
    has_json_schema: bool = True
    strict: bool | None = None
    sends_usage: bool = True
    sends_reasoning: bool = True
    sampling: Sampling = "free"
    efforts: tuple[ReasoningEffort, ...] | None = None
    """The efforts of reasoning that exist; `None` lets every one pass, `()` means no reasoning."""
    longest_call_id: int | None = None
    has_provider_tools: bool = True
    fetched_urls: tuple[tuple[str, str], ...] = ()


# o1, o3, o4-mini; gpt-5 and whatever is higher, but for the models that only chat.
_REASONS = re.compile(r"o\d|gpt-(?:[5-9]|\d\d)(?!.*-chat)")
_MAY_NOT_REASON = re.compile(r"gpt-(?:5\.|[6-9]|\d\d)")
_EFFORTS: tuple[ReasoningEffort, ...] = ("none", "minimal", "low", "medium", "high", "xhigh")


def openai_dialect(model_id: str) -> ChatDialect:
    """What OpenAI's own models understand, by their names.

    Models that reason refuse temperature and penalties, and take their instructions from the
    `developer`. Those from gpt-5.1 on accept sampling settings when told not to reason.
    """
    reasons = _REASONS.match(model_id) is not None
    fixed: Sampling = (
        "fixed-when-reasoning" if _MAY_NOT_REASON.match(model_id) is not None else "fixed"
    )
    return ChatDialect(
        provider="openai",
        system_role="developer" if reasons else "system",
        token_limit="max_completion_tokens",  # noqa: S106 - a count of tokens
        sends_reasoning=False,
        sampling=fixed if reasons else "free",
        efforts=_EFFORTS if reasons else (),
        longest_call_id=40,
        fetched_urls=(("image/*", WEB),),
        has_provider_tools=False,
    )
