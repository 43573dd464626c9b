from typing import Literal, TypeAlias, final
from attrs import frozen
from stepfold.providers._endpoint import WEB
from stepfold.providers._reasoning import Sampling
from stepfold.values import ReasoningEffort

SystemRole: TypeAlias = Literal["system", "developer"]

@final
@frozen(order=False, kw_only=True, cache_hash=True)
class ResponsesDialect:
    provider: str = "openai"
    system_role: SystemRole = "system"
    reasons: bool = False
    sampling: Sampling = "free"
    efforts: tuple[ReasoningEffort, ...] | None = None
    stores: bool = False
    shows_results: bool = True
    fetched_urls: tuple[tuple[str, str], ...] = (("image/*", WEB), ("application/pdf", WEB))

def responses_dialect(model_id: str) -> ResponsesDialect: ...
