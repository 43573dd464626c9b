"""What a response in one piece and a streamed one have in common, and the former."""

from stepfold.providers._failures import reason_of_error
from stepfold.providers._json import (
    count_of,
    is_array,
    is_object,
    object_of,
    text_of,
)
from stepfold.providers._replies import (
    instant_of,
    kept_json,
    reply_object,
    shown_headers,
    violation,
)
from stepfold.providers.responses._items import ItemReader
from stepfold.values import (
    NO_USAGE,
    Failure,
    FinishReason,
    InputTokenDetails,
    JsonText,
    ModelErrorReason,
    ModelReply,
    ModelWarning,
    Outcome,
    OutputTokenDetails,
    ReplyPart,
    ResponseInfo,
    Success,
    UnifiedFinishReason,
    Usage,
)

NAMELESS = "the response holds a call without a name"
_INCOMPLETE: dict[str, UnifiedFinishReason] = {
    "max_output_tokens": "length",
    "max_tokens": "length",
    "content_filter": "content-filter",
}
_UNFINISHED = frozenset({"queued", "in_progress"})
# What is worth knowing of a response beside its content; the rest repeats the request.
_FACTS = (
    *("service_tier", "conversation", "moderation", "content_filters", "metadata"),
    *("tool_usage", "incomplete_details", "system_fingerprint"),
)


def decode_reply(
    body: bytes,
    provider: str,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    warnings: tuple[ModelWarning, ...] = (),
    secrets: tuple[str, ...] = (),
) -> Outcome[ModelReply, ModelErrorReason]:
    """Decode a response that came in one piece, with status 200; total.

    A response that still runs in the background is a reply that ends as `other`, with a warning.
    """
    document = reply_object(body, secrets)
    if isinstance(document, Failure):
        return document
    value = document.unwrap()
    failure = failure_of(value, secrets)
    if failure is not None:
        return Failure(failure)
    output = value.get("output")
    if not is_array(output):
        return Failure(violation("the server's response holds no output"))
    reader = ItemReader(provider)
    content: list[ReplyPart] = []
    for item in map(object_of, output):
        parts = reader.parts(item)
        if parts is None:
            return Failure(violation(NAMELESS))
        content += [part for _, part in parts]
    return Success(
        ModelReply(
            tuple(content),
            finish_reason_of(value, reader),
            usage_of(value.get("usage")),
            warnings=(*warnings, *warnings_of(value)),
            response=ResponseInfo(
                text_of(value.get("id")),
                text_of(value.get("model")),
                instant_of(value.get("created_at")),
                shown_headers(headers),
            ),
            provider_metadata=metadata_of(value, reader, provider),
        )
    )


def failure_of(
    response: dict[str, object], secrets: tuple[str, ...] = ()
) -> ModelErrorReason | None:
    """Why a response failed, if it did."""
    if response.get("error"):
        return reason_of_error(response, secrets=secrets)
    if response.get("status") == "failed":
        return ModelErrorReason("server", "the response failed; the server gave no reason")
    return None


def finish_reason_of(response: dict[str, object], reader: ItemReader) -> FinishReason:
    """Why a response ended; a refusal counts as the work of a filter, whatever the server says.

    The raw word is the reason why it is incomplete, else its status.
    """
    status = text_of(response.get("status"))
    reason = text_of(object_of(response.get("incomplete_details")).get("reason"))
    raw = reason or status
    if reason is not None or status == "incomplete":
        return FinishReason(_INCOMPLETE.get(reason or "", "other"), raw)
    if status in _UNFINISHED or status == "cancelled":
        return FinishReason("other", raw)
    if reader.has_refusal:
        return FinishReason("content-filter", raw)
    return FinishReason("tool-calls" if reader.has_calls else "stop", raw)


def warnings_of(response: dict[str, object]) -> tuple[ModelWarning, ...]:
    """What a caller should know of a response that is not yet there."""
    status = text_of(response.get("status"))
    if status not in _UNFINISHED:
        return ()
    message = f"the response is still {status}; it can be fetched later by its id"
    return (ModelWarning("other", "background", message),)


def usage_of(value: object) -> Usage:
    """Token counts. Cached input is part of the input, reasoning part of the output."""
    if not is_object(value):
        return NO_USAGE
    inputs = count_of(value.get("input_tokens"))
    outputs = count_of(value.get("output_tokens"))
    details = object_of(value.get("input_tokens_details"))
    cached = count_of(details.get("cached_tokens"))
    written = count_of(details.get("cache_write_tokens"))
    reasoning = count_of(object_of(value.get("output_tokens_details")).get("reasoning_tokens"))
    return Usage(
        inputs,
        outputs,
        input_token_details=InputTokenDetails(
            None if inputs is None or cached is None else max(0, inputs - cached - (written or 0)),
            cached,
            written,
        ),
        output_token_details=OutputTokenDetails(
            None if outputs is None or reasoning is None else max(0, outputs - reasoning),
            reasoning,
        ),
    )


def metadata_of(response: dict[str, object], reader: ItemReader, provider: str) -> JsonText | None:
    """What else a server says of its response, under the provider's name."""
    found = {name: value for name in _FACTS if (value := response.get(name))}
    response_id = text_of(response.get("id"))
    if response_id is not None:
        found = {"response_id": response_id, **found}
    if reader.logprobs:
        found["logprobs"] = reader.logprobs
    return kept_json({provider: found}) if found else None
