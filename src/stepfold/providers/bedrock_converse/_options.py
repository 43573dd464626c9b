"""What models behind Amazon Bedrock understand of Converse, by their names."""

import re
from typing import final

from attrs import evolve, frozen

from stepfold.providers.anthropic_messages import MessagesDialect, anthropic_dialect

# us.anthropic.claude-sonnet-4-5-20250929-v1:0, global.amazon.nova-2-lite-v1:0,
# arn:aws:bedrock:eu-west-1::foundation-model/mistral.mistral-large-3-675b-instruct
_NAME = re.compile(
    r"(?:^|[./])(ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|"
    r"moonshotai|nvidia|openai|qwen|writer|zai)\.([a-z0-9.-]+)"
)
# Families without replies in the form of a schema.
_NO_SCHEMA = frozenset({"", "ai21", "amazon", "cohere", "meta", "writer"})


@final
@frozen(order=False, kw_only=True, cache_hash=True)
class ConverseDialect:
    """What a model understands. The defaults fit a model of which nothing is known.

    `provider` is the key of `provider_options` and `provider_metadata`. `family` is who made the
    model, as its name says. `claude` tells how a model of Anthropic is told to think, and what
    it refuses. `has_json_schema` stands for structured outputs: replies in the form of a schema,
    and strict tools. `has_result_status` tells whether a result may be marked as an error.
    `call_id_length` is the one length that ids of calls may have. `fetched_urls` are the files
    that the server fetches by their addresses; others are fetched before it is asked.
    """

    provider: str = "bedrock"
    family: str = ""
    claude: MessagesDialect | None = None
    has_json_schema: bool = False
    has_result_status: bool = False
    call_id_length: int | None = None
    fetched_urls: tuple[tuple[str, str], ...] = (("*/*", "^s3://"),)


def converse_dialect(model_id: str) -> ConverseDialect:
    """What a model understands, by its id, the id of an inference profile or an ARN of either."""
    found = _NAME.search(model_id)
    family, name = ("", "") if found is None else (found[1], found[2])
    if family == "anthropic":
        claude = evolve(anthropic_dialect(name), provider="bedrock")
        return ConverseDialect(
            family=family,
            claude=claude,
            has_json_schema=claude.has_json_schema,
            has_result_status=True,
        )
    return ConverseDialect(
        family=family,
        has_json_schema=family not in _NO_SCHEMA and not name.startswith("r1"),
        has_result_status=name.startswith("nova"),
        call_id_length=9 if family == "mistral" else None,
    )
