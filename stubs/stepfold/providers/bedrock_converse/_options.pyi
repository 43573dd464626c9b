from typing import final
from attrs import frozen
from stepfold.providers.anthropic_messages import MessagesDialect

@final
@frozen(order=False, kw_only=True, cache_hash=True)
class ConverseDialect:
    provider: str = "bedrock"
    family: str = ""
    claude: MessagesDialect | None = None
    has_json_schema: bool = False
    has_result_status: bool = False
    call_id_length: int | None = None
    fetched_urls: tuple[tuple[str, str], ...] = (("*/*", "^s3://"),)

def converse_dialect(model_id: str) -> ConverseDialect: ...
