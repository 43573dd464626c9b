from typing import Literal, TypeAlias, final
from attrs import field, frozen
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

@final
@frozen(order=False, kw_only=True)
class MessagesOptions:
    model_id: str
    base_url: str
    headers: tuple[tuple[str, str], ...] = field(default=())
    dialect: MessagesDialect = MessagesDialect()

    @property
    def url(self) -> str: ...

def anthropic_dialect(model_id: str) -> MessagesDialect: ...
