"""What a reply in one piece and a streamed one have in common, and the former."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

from stepfold.providers._failures import reason_of_error
from stepfold.providers._json import count_of, is_array, is_object, object_of, text_of
from stepfold.providers._replies import reply_object, shown_headers, violation
from stepfold.providers.ai_gateway._parts import (
    cited_sources,
    options_of_part,
    warnings_in,
    whole_part,
)
from stepfold.values import (
    NO_USAGE,
    Failure,
    FinishReason,
    InputTokenDetails,
    Instant,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelWarning,
    Outcome,
    OutputTokenDetails,
    Reasoning,
    ReplyPart,
    ResponseInfo,
    Success,
    Text,
    UnifiedFinishReason,
    Usage,
)

_FINISH_REASONS: Final[Mapping[str, UnifiedFinishReason]] = {
    "stop": "stop",
    "length": "length",
    "content-filter": "content-filter",
    "tool-calls": "tool-calls",
    "error": "error",
    "interrupted": "interrupted",
    "other": "other",
}


def decode_reply(
    body: bytes,
    provider: str,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    warnings: tuple[ModelWarning, ...] = (),
    secrets: tuple[str, ...] = (),
) -> Outcome[ModelReply, ModelErrorReason]:
    """Decode a reply that came in one piece, with status 200; total.

    `provider` keys nothing: metadata of the gateway and of the providers behind it have their
    own keys already.
    """
    document = reply_object(body, secrets)
    if isinstance(document, Failure):
        return document
    value = document.unwrap()
    if value.get("error"):
        return Failure(reason_of_error(value, secrets=secrets))
    content = value.get("content")
    if not is_array(content):
        return Failure(violation("the reply holds no content"))
    response = object_of(value.get("response"))
    try:
        parts = [part for item in content if is_object(item) for part in _parts(item)]
        reason = finish_reason_of(value)
    except ModelError as error:
        return Failure(error.reason)
    reply = ModelReply(
        tuple(parts),
        reason,
        usage_of(value.get("usage")),
        warnings=(*warnings, *warnings_in(value.get("warnings"))),
        response=ResponseInfo(
            text_of(response.get("id")),
            text_of(response.get("modelId")),
            instant_of_text(response.get("timestamp")),
            shown_headers(headers),
        ),
        provider_metadata=options_of_part(value),
    )
    return Success(reply)


def _parts(item: dict[str, object]) -> list[ReplyPart]:
    kind = item.get("type")
    if kind not in ("text", "reasoning"):
        return [whole_part(item)]
    text, options = text_of(item.get("text")) or "", options_of_part(item)
    if kind == "reasoning":
        return [Reasoning(text, provider_options=options)] if text or options else []
    said: list[ReplyPart] = [Text(text, provider_options=options)] if text or options else []
    return [*said, *cited_sources(item)]


def finish_reason_of(value: Mapping[str, object]) -> FinishReason:
    """Why the reply ends.

    Raises:
        ModelError: it does not say so.
    """
    reason = value.get("finishReason")
    said = reason if is_object(reason) else {"unified": reason}
    unified = text_of(said.get("unified"))
    if unified is None:
        raise ModelError(violation("the reply holds no reason to end: it may be cut"))
    return FinishReason(_FINISH_REASONS.get(unified, "other"), text_of(said.get("raw")))


def usage_of(value: object) -> Usage:
    """Token counts: the sums, and how they were made up."""
    if not is_object(value):
        return NO_USAGE
    inputs = _counts(value.get("inputTokens"))
    outputs = _counts(value.get("outputTokens"))
    return Usage(
        count_of(inputs.get("total")),
        count_of(outputs.get("total")),
        input_token_details=InputTokenDetails(
            count_of(inputs.get("noCache")),
            count_of(inputs.get("cacheRead")),
            count_of(inputs.get("cacheWrite")),
        ),
        output_token_details=OutputTokenDetails(
            count_of(outputs.get("text")), count_of(outputs.get("reasoning"))
        ),
    )


def _counts(value: object) -> Mapping[str, object]:
    return value if is_object(value) else {"total": value}


def instant_of_text(value: object) -> Instant | None:
    """A date and time as ISO 8601 writes it, as an instant; one without a zone is in UTC."""
    try:
        moment = datetime.fromisoformat(text_of(value) or "")
    except ValueError:
        return None
    moment = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    whole = int(moment.replace(microsecond=0).timestamp())
    return whole * 1_000_000_000 + moment.microsecond * 1_000
