from typing import Literal, TypeAlias, final
from attrs import frozen
from stepfold.providers._endpoint import WEB
from stepfold.values import ReasoningEffort

Thinking: TypeAlias = Literal["none", "budget", "adaptive"]
Sampling: TypeAlias = Literal["free", "fixed"]

@final
@frozen(order=False, kw_only=True, cache_hash=True)
class MessagesDialect:
    provider: str = "anthropic"
    max_output_tokens: int = 4096
    thinking: Thinking = "budget"
    efforts: tuple[ReasoningEffort, ...] = ("low", "medium", "high", "max")
    sampling: Sampling = "free"
    has_json_schema: bool = False
    fetched_urls: tuple[tuple[str, str], ...] = (("image/*", WEB), ("application/pdf", WEB))

def anthropic_dialect(model_id: str) -> MessagesDialect: ...
