"""Where a server of the Responses protocol is, and what its model understands."""

from typing import Literal, TypeAlias, final

from attrs import frozen

from stepfold.providers._endpoint import WEB
from stepfold.providers._reasoning import Sampling
from stepfold.providers.openai_chat import openai_dialect
from stepfold.values import ReasoningEffort

SystemRole: TypeAlias = Literal["system", "developer"]


@final
@frozen(order=False, kw_only=True, cache_hash=True)
class ResponsesDialect:
    """What a model understands.

    `provider` is the key of `provider_options` and `provider_metadata`. `reasons` asks for
    encrypted reasoning, which models that do not reason refuse to give. `sampling` is `fixed`
    for a model that refuses temperature and top_p; `efforts` are the efforts of reasoning that
    exist, where `None` lets every one pass. `stores` tells that the server keeps responses, so
    that it may know an item by its id alone; a request with `store` in its options says so itself.
    `fetched_urls` are the files that the server fetches by their addresses; others are fetched
    before it is asked.
    """

    provider: str = "openai"
    system_role: SystemRole = "system"
    reasons: bool = False
    sampling: Sampling = "free"
    efforts: tuple[ReasoningEffort, ...] | None = None
    stores: bool = False
    shows_results: bool = True
    fetched_urls: tuple[tuple[str, str], ...] = (("image/*", WEB), ("application/pdf", WEB))


def responses_dialect(model_id: str) -> ResponsesDialect:
    """What OpenAI's own models understand, by their names."""
    chat = openai_dialect(model_id)
    return ResponsesDialect(
        system_role=chat.system_role,
        reasons=bool(chat.efforts),
        sampling=chat.sampling,
        efforts=chat.efforts,
    )
