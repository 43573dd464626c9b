from typing import Literal, TypeAlias, final
from attrs import frozen
from stepfold.providers._reasoning import Sampling
from stepfold.values import ReasoningEffort

ReasoningForm: TypeAlias = Literal["field", "part", "none"]
SystemRole: TypeAlias = Literal["system", "developer"]
TokenLimit: TypeAlias = Literal["max_tokens", "max_completion_tokens"]

@final
@frozen(order=False, kw_only=True, cache_hash=True)
class ChatDialect:
    provider: str = "openai-compatible"
    system_role: SystemRole = "system"
    token_limit: TokenLimit = "max_tokens"
    has_json_schema: bool = True
    strict: bool | None = None
    sends_usage: bool = True
    reasoning_form: ReasoningForm = "field"
    sampling: Sampling = "free"
    efforts: tuple[ReasoningEffort, ...] | None = None
    longest_call_id: int | None = None
    exact_call_id: int | None = None
    seed_name: str = "seed"
    must_call: Literal["required", "any"] = "required"
    document_form: Literal["file", "document_url"] = "file"
    has_provider_tools: bool = True
    fetched_urls: tuple[tuple[str, str], ...] = ()

def openai_dialect(model_id: str) -> ChatDialect: ...
