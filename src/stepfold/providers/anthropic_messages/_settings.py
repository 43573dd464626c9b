"""Settings and the form of the reply as Messages say them, and what cannot be said."""

from collections.abc import Mapping

from stepfold.providers._reasoning import absent_settings, sent_effort
from stepfold.providers.anthropic_messages._options import MessagesDialect
from stepfold.schema import to_dialect
from stepfold.values import (
    Failure,
    JsonFormat,
    JsonObject,
    JsonValue,
    ModelRequest,
    ModelWarning,
    NamedTool,
    ReasoningEffort,
    Success,
)

_SMALLEST_BUDGET = 1_024
# How much of the reply may be thought, in hundredths, as the AI SDK has it.
_SHARES: dict[ReasoningEffort, int] = {
    "minimal": 2,
    "low": 10,
    "medium": 30,
    "high": 60,
    "xhigh": 90,
    "max": 95,
}


def settings_of(
    request: ModelRequest,
    dialect: MessagesDialect,
    given: Mapping[str, JsonValue],
    warnings: list[ModelWarning],
) -> dict[str, object]:
    """The members of the body that settings make; `given` are those that the user sets."""
    settings = request.settings
    limit = settings.max_output_tokens or dialect.max_output_tokens
    thinking = None if "thinking" in given else _thinking(request, dialect, limit, warnings)
    body: dict[str, object] = {
        "max_tokens": limit,
        "temperature": settings.temperature,
        "top_p": settings.top_p,
        "top_k": settings.top_k,
        "stop_sequences": list(settings.stop_sequences) or None,
    }
    unknown = {
        "presence_penalty": settings.presence_penalty,
        "frequency_penalty": settings.frequency_penalty,
        "seed": settings.seed,
    }
    warnings += absent_settings(unknown, "Messages have")
    own = given.get("thinking")
    way = own.get("type") if isinstance(own, JsonObject) else (thinking or {}).get("type")
    _fit_sampling(body, dialect, warnings, thinks=way in {"enabled", "adaptive"})
    body["thinking"] = thinking
    return {name: value for name, value in body.items() if value is not None}


def _fit_sampling(
    body: dict[str, object],
    dialect: MessagesDialect,
    warnings: list[ModelWarning],
    *,
    thinks: bool,
) -> None:
    if dialect.sampling == "fixed" or thinks:
        why = "while it thinks" if dialect.sampling != "fixed" else "at all"
        for name in ("temperature", "top_p", "top_k"):
            if body.pop(name) is not None:
                message = f"the model takes no such setting {why}"
                warnings.append(ModelWarning("unsupported", name, message))
        return
    temperature = body["temperature"]
    if isinstance(temperature, int | float) and temperature > 1:
        body["temperature"] = 1
        message = f"{temperature} was sent as 1, the highest"
        warnings.append(ModelWarning("compatibility", "temperature", message))
    if temperature is not None and body["top_p"] is not None:
        body["top_p"] = None
        message = "models take a temperature or top_p: only the temperature was sent"
        warnings.append(ModelWarning("unsupported", "top_p", message))


def _thinking(
    request: ModelRequest, dialect: MessagesDialect, limit: int, warnings: list[ModelWarning]
) -> dict[str, object] | None:
    effort = request.settings.reasoning
    if effort is None or (effort == "none" and dialect.thinking == "none"):
        return None
    if effort == "none":
        return {"type": "disabled"}
    if dialect.thinking == "adaptive":
        return {"type": "adaptive"}
    message = ""
    if dialect.thinking == "none":
        message = "this model does not reason"
    elif request.tool_choice == "required" or isinstance(request.tool_choice, NamedTool):
        message = "this model does not think where it has to call a tool"
    elif limit <= _SMALLEST_BUDGET:
        message = f"thinking takes {_SMALLEST_BUDGET} tokens at least, the reply may have {limit}"
    if message:
        warnings.append(ModelWarning("unsupported", "reasoning", message))
        return None
    budget = min(max(_SMALLEST_BUDGET, limit * _SHARES[effort] // 100), limit - 1)
    return {"type": "enabled", "budget_tokens": budget}


def effort_of(
    request: ModelRequest, dialect: MessagesDialect, warnings: list[ModelWarning]
) -> dict[str, object]:
    """The member of `output_config` that says how much an adaptive model shall think."""
    effort = request.settings.reasoning
    if effort is None or effort == "none" or dialect.thinking != "adaptive":
        return {}
    return {"effort": sent_effort(request.settings, dialect.efforts, warnings)}


def output_format(
    wanted: JsonFormat | None, dialect: MessagesDialect, warnings: list[ModelWarning]
) -> dict[str, object]:
    """The member of `output_config` that asks for JSON of a schema."""
    if wanted is None:
        return {}
    if wanted.schema is None:
        message = "there is no JSON without a schema: only the prompt can ask for it"
        warnings.append(ModelWarning("unsupported", "response_format", message))
        return {}
    if not dialect.has_json_schema:
        message = "this model has no structured outputs: the schema was not sent"
        warnings.append(ModelWarning("unsupported", "response_format", message))
        return {}
    match to_dialect(wanted.schema, "anthropic"):
        case Failure(fault):
            message = f"the schema was not sent: {fault}"
            warnings.append(ModelWarning("unsupported", "response_format", message))
            return {}
        case Success(translated):
            if translated.dropped:
                message = f"what the schema says at {', '.join(translated.dropped)} does not bind"
                warnings.append(ModelWarning("compatibility", "response_format", message))
            return {"format": {"type": "json_schema", "schema": translated.schema.value}}
