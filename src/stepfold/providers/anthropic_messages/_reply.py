"""What a reply in one piece and a streamed one have in common, and the former."""

from collections.abc import Mapping
from typing import final

from stepfold.loop import fold_parts
from stepfold.providers._failures import reason_of_error
from stepfold.providers._json import array_of, count_of, is_object, object_of, text_of
from stepfold.providers._replies import kept_json, reply_object, shown_headers, violation
from stepfold.providers.anthropic_messages._blocks import BlockReader
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

# A turn that was paused, or cut for a compaction, is not over: sent again, it goes on.
_FINISH_REASONS: dict[str, UnifiedFinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool-calls",
    "refusal": "content-filter",
    "pause_turn": "other",
    "compaction": "other",
}
_KEPT = ("stop_sequence", "stop_details", "container", "context_management")


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
    if value.get("error") or value.get("type") == "error":
        return Failure(reason_of_error(value, secrets=secrets))
    if not isinstance(value.get("content"), list):
        return Failure(violation("the server's reply holds no content"))
    facts = Facts(provider)
    facts.note(value)
    try:
        parts = whole_blocks(BlockReader(provider), value)
        return Success(
            fold_parts([StreamStart(warnings), described(value, headers), *parts, facts.finish()])
        )
    except ModelError as error:
        return Failure(error.reason)


def whole_blocks(
    reader: BlockReader, message: Mapping[str, object], prefix: str = ""
) -> list[StreamPart]:
    """The parts of the content that a message holds already.

    Raises:
        ModelError: for blocks that make no sense.
    """
    parts: list[StreamPart] = []
    for index, block in enumerate(array_of(message.get("content"))):
        if is_object(block):
            key = f"{prefix}{index}"
            parts += reader.open(key, block)
            parts += reader.close(key)
    return parts


def described(
    message: Mapping[str, object], headers: tuple[tuple[str, str], ...]
) -> ResponseMetadata:
    """Which response this is; the protocol gives no time."""
    return ResponseMetadata(
        id=text_of(message.get("id")),
        model_id=text_of(message.get("model")),
        headers=shown_headers(headers),
    )


@final
class Facts:
    """What a server says of a reply besides its content; a later word replaces an earlier one."""

    __slots__ = ("_found", "_provider", "_usage", "stop_reason")

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._found: dict[str, object] = {}
        self._usage: dict[str, object] = {}
        self.stop_reason: str | None = None

    def note(self, said: Mapping[str, object]) -> None:
        """Take what a message, or a delta of one, says."""
        self.stop_reason = text_of(said.get("stop_reason")) or self.stop_reason
        for name in _KEPT:
            if said.get(name) is not None:
                self._found[name] = said[name]
        for name, figure in object_of(said.get("usage")).items():
            if figure is not None:
                self._usage[name] = figure

    def finish(self) -> Finish:
        """The end of the reply."""
        raw = self.stop_reason
        unified = _FINISH_REASONS.get(raw or "", "other")
        found = {"usage": self._usage, **self._found} if self._usage else self._found
        metadata = kept_json({self._provider: found}) if found else None
        return Finish(FinishReason(unified, raw), usage_of(self._usage), provider_metadata=metadata)


def usage_of(value: dict[str, object]) -> Usage:
    """Token counts. The server counts what the cache took or gave beside the input.

    It also leaves out what a compaction cost, which is billed as well.
    """
    if not value:
        return NO_USAGE
    inputs = count_of(value.get("input_tokens"))
    outputs = count_of(value.get("output_tokens"))
    read = count_of(value.get("cache_read_input_tokens"))
    written = count_of(value.get("cache_creation_input_tokens"))
    for item in map(object_of, array_of(value.get("iterations"))):
        if item.get("type") == "compaction":
            inputs = _sum(inputs, count_of(item.get("input_tokens")))
            outputs = _sum(outputs, count_of(item.get("output_tokens")))
            read = _sum(read, count_of(item.get("cache_read_input_tokens")))
            written = _sum(written, count_of(item.get("cache_creation_input_tokens")))
    details = object_of(value.get("output_tokens_details"))
    thought = count_of(details.get("thinking_tokens"))
    spoken = None if outputs is None or thought is None else max(0, outputs - thought)
    return Usage(
        None if inputs is None else inputs + (read or 0) + (written or 0),
        outputs,
        input_token_details=InputTokenDetails(inputs, read, written),
        output_token_details=OutputTokenDetails(spoken, thought),
    )


def _sum(left: int | None, right: int | None) -> int | None:
    return right if left is None else left + (right or 0)
