"""Settings and the form of the reply as Converse says them, and what cannot be said.

What only some models know is not in the protocol but in `additionalModelRequestFields`, which
each family names as it likes. Models of Anthropic take there what they take at home.
"""

from collections.abc import Mapping

from stepfold.providers._json import object_of
from stepfold.providers._reasoning import absent_settings, sent_effort
from stepfold.providers._wire import to_wire
from stepfold.providers.anthropic_messages._settings import output_format, settings_of
from stepfold.providers.bedrock_converse._options import ConverseDialect
from stepfold.values import (
    CallSettings,
    JsonFormat,
    JsonValue,
    ModelRequest,
    ModelWarning,
    ReasoningEffort,
)

Members = dict[str, object]

_EFFORTS: tuple[ReasoningEffort, ...] = ("low", "medium", "high")
_MESSAGES_NAMES = {
    "max_tokens": "maxTokens",
    "temperature": "temperature",
    "top_p": "topP",
    "stop_sequences": "stopSequences",
}


def settings_members(
    request: ModelRequest,
    dialect: ConverseDialect,
    fields: Mapping[str, JsonValue],
    warnings: list[ModelWarning],
) -> tuple[Members, Members, Members]:
    """The members of `inferenceConfig`, `additionalModelRequestFields` and `outputConfig`.

    `fields` are those of the second that the user sets.
    """
    form = _format(request.response_format, dialect, warnings)
    if dialect.claude is not None:
        said = settings_of(request, dialect.claude, fields, warnings)
        config = {_MESSAGES_NAMES[name]: said.pop(name) for name in _MESSAGES_NAMES if name in said}
        if dialect.claude.thinking == "adaptive" and request.settings.reasoning not in {
            None,
            "none",
        }:
            form["effort"] = sent_effort(request.settings, dialect.claude.efforts, warnings)
        return config, said, form
    settings = request.settings
    config = {
        "maxTokens": settings.max_output_tokens,
        "temperature": settings.temperature,
        "topP": settings.top_p,
        "stopSequences": list(settings.stop_sequences) or None,
    }
    unknown = {
        "presence_penalty": settings.presence_penalty,
        "frequency_penalty": settings.frequency_penalty,
        "seed": settings.seed,
    }
    more = _reasoning(settings, dialect, warnings)
    if settings.top_k is not None and dialect.family == "amazon":
        more["inferenceConfig"] = {"topK": settings.top_k}
    else:
        unknown["top_k"] = settings.top_k
    warnings += absent_settings(unknown, "Converse has")
    return {name: value for name, value in config.items() if value is not None}, more, form


def _reasoning(
    settings: CallSettings, dialect: ConverseDialect, warnings: list[ModelWarning]
) -> Members:
    """How much a model shall reason, in the words of its family."""
    if settings.reasoning in {None, "none"}:
        return {}
    if dialect.family == "openai":
        return {"reasoning_effort": sent_effort(settings, _EFFORTS, warnings)}
    if dialect.family == "amazon":
        effort = sent_effort(settings, _EFFORTS, warnings)
        return {"reasoningConfig": {"type": "enabled", "maxReasoningEffort": effort}}
    why = "how this model is told is not known: additionalModelRequestFields may say it"
    warnings.append(ModelWarning("unsupported", "reasoning", why))
    return {}


def _format(
    wanted: JsonFormat | None, dialect: ConverseDialect, warnings: list[ModelWarning]
) -> Members:
    if wanted is None:
        return {}
    if dialect.claude is not None:
        asked = output_format(wanted, dialect.claude, warnings)
        schema = object_of(asked.get("format")).get("schema")
    elif wanted.schema is None or not dialect.has_json_schema:
        message = "this model has no structured outputs: only the prompt can ask for JSON"
        if dialect.has_json_schema:
            message = "there is no JSON without a schema: only the prompt can ask for it"
        warnings.append(ModelWarning("unsupported", "response_format", message))
        schema = None
    else:
        schema = wanted.schema.value
    if schema is None:
        return {}
    described: Members = {"schema": to_wire(schema).decode(), "name": wanted.name or "response"}
    if wanted.description is not None:
        described["description"] = wanted.description
    structure = {"jsonSchema": described}
    return {"textFormat": {"type": "json_schema", "structure": structure}}
