"""Settings and the form of the reply, as the `generationConfig` says them."""

from stepfold.providers.google_generate._options import GoogleDialect
from stepfold.values import (
    CallSettings,
    JsonFormat,
    ModelRequest,
    ModelWarning,
    ReasoningEffort,
)

# Tokens to think with, for models that are given a budget; what a model has not is its most.
_BUDGETS: dict[ReasoningEffort, int] = {
    "none": 0,
    "minimal": 512,
    "low": 1_024,
    "medium": 8_192,
    "high": 24_576,
    "xhigh": 24_576,
    "max": 24_576,
}
_LEVELS: dict[ReasoningEffort, str] = {
    "none": "minimal",
    "minimal": "minimal",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "high",
    "max": "high",
}


def generation_config(
    request: ModelRequest, dialect: GoogleDialect, warnings: list[ModelWarning]
) -> dict[str, object]:
    """The members that settings and the form of the reply make."""
    settings = request.settings
    config: dict[str, object] = {
        "maxOutputTokens": settings.max_output_tokens,
        "temperature": settings.temperature,
        "topP": settings.top_p,
        "topK": settings.top_k,
        "presencePenalty": settings.presence_penalty,
        "frequencyPenalty": settings.frequency_penalty,
        "stopSequences": list(settings.stop_sequences) or None,
        "seed": settings.seed,
        "thinkingConfig": _thinking(settings, dialect, warnings),
        **_form(request.response_format),
    }
    return {name: value for name, value in config.items() if value is not None}


def _form(wanted: JsonFormat | None) -> dict[str, object]:
    if wanted is None:
        return {}
    form: dict[str, object] = {"responseMimeType": "application/json"}
    if wanted.schema is not None:
        form["responseJsonSchema"] = wanted.schema.value
    return form


def _thinking(
    settings: CallSettings, dialect: GoogleDialect, warnings: list[ModelWarning]
) -> dict[str, object] | None:
    effort = settings.reasoning
    if effort is None:
        return None
    if dialect.thinking == "none":
        if effort != "none":
            message = "this model does not reason"
            warnings.append(ModelWarning("unsupported", "reasoning", message))
        return None
    shown = {"includeThoughts": True} if effort != "none" else {}
    if dialect.thinking == "budget":
        return {"thinkingBudget": _BUDGETS[effort], **shown}
    if effort == "none":
        message = "this model always reasons: it is asked for the least"
        warnings.append(ModelWarning("compatibility", "reasoning", message))
    return {"thinkingLevel": _LEVELS[effort], **shown}
