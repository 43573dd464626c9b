"""Where a chat-completions server is, and how its dialect differs."""

import re
from typing import Literal, TypeAlias, final

from attrs import frozen

from stepfold.providers._endpoint import WEB
from stepfold.providers._reasoning import Sampling
from stepfold.values import ReasoningEffort

ReasoningForm: TypeAlias = Literal["field", "part", "none"]
SystemRole: TypeAlias = Literal["system", "developer"]
TokenLimit: TypeAlias = Literal["max_tokens", "max_completion_tokens"]


@final
@frozen(order=False, kw_only=True, cache_hash=True)
class ChatDialect:
    """What a server understands. The defaults fit most compatible servers.

    `provider` is the key of `provider_options` and `provider_metadata`. Earlier reasoning goes
    back by its `reasoning_form`: as the `field` `reasoning_content`, as a `part` of the content,
    or not at all. `sampling` is `fixed` for a model that refuses
    temperature and the like. `strict` asks for schemas to be followed exactly; `None` asks for it
    where the schema allows it (every property required, no other properties). Ids of calls that
    are longer than `longest_call_id`, such as those of another provider, are sent as a digest,
    and so are those that are not of exactly `exact_call_id` letters and digits. `seed_name` and
    `must_call` are what the server calls a seed and the choice that a tool must be called;
    `document_form` is the kind of part that holds a PDF.
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
    reasoning_form: ReasoningForm = "field"
    sampling: Sampling = "free"
    efforts: tuple[ReasoningEffort, ...] | None = None
    """The efforts of reasoning that exist; `None` lets every one pass, `()` means no reasoning."""
    longest_call_id: int | None = None
    exact_call_id: int | None = None
    seed_name: str = "seed"
    must_call: Literal["required", "any"] = "required"
    document_form: Literal["file", "document_url"] = "file"
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
        reasoning_form="none",
        sampling=fixed if reasons else "free",
        efforts=_EFFORTS if reasons else (),
        longest_call_id=40,
        fetched_urls=(("image/*", WEB),),
        has_provider_tools=False,
    )
