"""What a reply in one piece and a streamed one have in common, and the former."""

from collections.abc import Mapping
from typing import final

from stepfold.loop import fold_parts
from stepfold.providers._failures import reason_of_error
from stepfold.providers._json import count_of, is_array, is_object, object_of, text_of
from stepfold.providers._replies import kept_json, reply_object, shown_headers, violation
from stepfold.providers.bedrock_converse._blocks import BlockReader
from stepfold.values import (
    NO_USAGE,
    Failure,
    Finish,
    FinishReason,
    InputTokenDetails,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelWarning,
    Outcome,
    OutputTokenDetails,
    ResponseMetadata,
    StreamPart,
    StreamStart,
    Success,
    UnifiedFinishReason,
    Usage,
)

_FINISH_REASONS: dict[str, UnifiedFinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool-calls",
    "guardrail_intervened": "content-filter",
    "content_filtered": "content-filter",
    "malformed_model_output": "error",
    "malformed_tool_use": "error",
}
_KEPT = (
    *("additionalModelResponseFields", "trace", "performanceConfig", "serviceTier"),
    *("usage", "metrics"),
)


def decode_reply(
    body: bytes,
    provider: str,
    *,
    headers: tuple[tuple[str, str], ...] = (),
    warnings: tuple[ModelWarning, ...] = (),
    secrets: tuple[str, ...] = (),
) -> Outcome[ModelReply, ModelErrorReason]:
    """Decode a reply that came in one piece, with status 200; total."""
    document = reply_object(body, secrets)
    if isinstance(document, Failure):
        return document
    value = document.unwrap()
    message = object_of(object_of(value.get("output")).get("message"))
    content = message.get("content")
    if not is_array(content):
        if "output" not in value and _is_error(value):
            return Failure(reason_of_error(value, secrets=secrets))
        return Failure(violation("the server's reply holds no content"))
    facts, reader = Facts(provider), BlockReader(provider)
    facts.note(value)
    if facts.stop_reason is None:
        return Failure(violation("the server's reply holds no reason to end: it may be cut"))
    parts: list[StreamPart] = [StreamStart(warnings), described(headers)]
    try:
        for index, block in enumerate(content):
            parts += reader.whole(str(index), block) if is_object(block) else []
        return Success(fold_parts([*parts, *facts.finish()]))
    except ModelError as error:
        return Failure(error.reason)


def _is_error(value: dict[str, object]) -> bool:
    return not value.keys().isdisjoint({"message", "Message", "error", "__type"})


def described(headers: tuple[tuple[str, str], ...]) -> ResponseMetadata:
    """What is known of the response before its end: the protocol names neither it nor its model."""
    return ResponseMetadata(headers=shown_headers(headers))


@final
class Facts:
    """What a server says of a reply besides its content."""

    __slots__ = ("_found", "_provider", "stop_reason")

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._found: dict[str, object] = {}
        self.stop_reason: str | None = None

    @property
    def has_usage(self) -> bool:
        """Whether the server has said what the reply cost."""
        return "usage" in self._found

    def note(self, said: Mapping[str, object]) -> None:
        """Take what a body, or an event, says."""
        self.stop_reason = text_of(said.get("stopReason")) or self.stop_reason
        for name in _KEPT:
            if said.get(name) is not None:
                self._found[name] = said[name]

    def finish(self) -> list[StreamPart]:
        """The end of the reply, and before it the model that a router chose."""
        raw = self.stop_reason
        unified = _FINISH_REASONS.get(raw or "", "other")
        metadata = kept_json({self._provider: self._found}) if self._found else None
        usage = usage_of(object_of(self._found.get("usage")))
        end = Finish(FinishReason(unified, raw), usage, provider_metadata=metadata)
        router = object_of(object_of(self._found.get("trace")).get("promptRouter"))
        chosen = text_of(router.get("invokedModelId"))
        return [end] if chosen is None else [ResponseMetadata(model_id=chosen), end]


def usage_of(value: dict[str, object]) -> Usage:
    """Token counts. The server counts what the cache took or gave beside the input."""
    if not value:
        return NO_USAGE
    inputs, outputs = count_of(value.get("inputTokens")), count_of(value.get("outputTokens"))
    read = count_of(value.get("cacheReadInputTokens"))
    written = count_of(value.get("cacheWriteInputTokens"))
    return Usage(
        None if inputs is None else inputs + (read or 0) + (written or 0),
        outputs,
        input_token_details=InputTokenDetails(inputs, read, written),
        output_token_details=OutputTokenDetails(),
    )
