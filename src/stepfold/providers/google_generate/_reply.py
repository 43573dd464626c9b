"""What a reply in one piece and a streamed one have in common, and the former."""

from collections.abc import Mapping
from typing import final

from stepfold.loop import fold_parts
from stepfold.providers._failures import reason_of_error
from stepfold.providers._json import array_of, count_of, is_object, object_of, text_of
from stepfold.providers._replies import kept_json, reply_object, shown_headers, violation
from stepfold.providers.google_generate._parts import PartReader
from stepfold.values import (
    NO_USAGE,
    DocumentSource,
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
    UrlSource,
    Usage,
)

_FINISH_REASONS: dict[str, UnifiedFinishReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "SAFETY": "content-filter",
    "RECITATION": "content-filter",
    "LANGUAGE": "content-filter",
    "BLOCKLIST": "content-filter",
    "PROHIBITED_CONTENT": "content-filter",
    "SPII": "content-filter",
    "IMAGE_SAFETY": "content-filter",
    "IMAGE_PROHIBITED_CONTENT": "content-filter",
    "IMAGE_RECITATION": "content-filter",
    "MALFORMED_FUNCTION_CALL": "error",
    "UNEXPECTED_TOOL_CALL": "error",
    "TOO_MANY_TOOL_CALLS": "error",
    "MISSING_THOUGHT_SIGNATURE": "error",
    "MALFORMED_RESPONSE": "error",
}
_KEPT = (
    *("groundingMetadata", "urlContextMetadata", "citationMetadata", "safetyRatings"),
    *("avgLogprobs", "logprobsResult", "finishMessage"),
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
    if value.get("error"):
        return Failure(reason_of_error(value, secrets=secrets))
    reader = ReplyReader(provider, headers)
    try:
        parts = [StreamStart(warnings), *reader.read(value), *reader.end()]
        return Success(fold_parts(parts))
    except ModelError as error:
        return Failure(error.reason)


@final
class ReplyReader:
    """Reads a reply from one response, or from the many of a stream."""

    def __init__(self, provider: str, headers: tuple[tuple[str, str], ...]) -> None:
        self._provider = provider
        self._headers = shown_headers(headers)
        self._parts = PartReader(provider)
        self._described: tuple[str | None, str | None] | None = None
        self._found: dict[str, object] = {}
        self._usage: dict[str, object] = {}
        self._sources: set[str] = set()
        self._finish: str | None = None

    @property
    def is_whole(self) -> bool:
        """Whether the reply has said why it ends."""
        return self._finish is not None

    def read(self, value: dict[str, object]) -> list[StreamPart]:
        """The parts of a response, all of it or a piece.

        Raises:
            ModelError: it makes no sense.
        """
        parts = self._describe(value)
        said = object_of(value.get("usageMetadata"))
        figures = {name: figure for name, figure in said.items() if figure is not None}
        self._usage = {**figures, **{n: f for n, f in self._usage.items() if n not in figures}}
        feedback = object_of(value.get("promptFeedback"))
        if feedback:
            self._found["promptFeedback"] = feedback
        blocked = text_of(feedback.get("blockReason"))
        if blocked is not None and self._finish is None:
            self._finish = blocked
            self._found["blockReason"] = blocked
        for candidate in map(object_of, array_of(value.get("candidates"))):
            if not count_of(candidate.get("index")):  # 0 may be left out; others are not read
                parts += self._candidate(candidate)
        return parts

    def end(self) -> list[StreamPart]:
        """The last parts.

        Raises:
            ModelError: the reply has not said why it ends.
        """
        raw = self._finish
        if raw is None:
            message = "the reply holds no reason to end: it may be cut"
            raise ModelError(violation(message))
        parts = self._parts.end()
        unified = _FINISH_REASONS.get(raw, "other")
        if "blockReason" in self._found:
            unified = "content-filter"
        elif unified == "stop" and self._parts.has_calls:
            unified = "tool-calls"
        found = {**self._found, **({"usageMetadata": self._usage} if self._usage else {})}
        found.pop("blockReason", None)
        metadata = kept_json({self._provider: found}) if found else None
        reason = FinishReason(unified, raw)
        return [*parts, Finish(reason, usage_of(self._usage), provider_metadata=metadata)]

    def _describe(self, value: Mapping[str, object]) -> list[StreamPart]:
        said = text_of(value.get("responseId")), text_of(value.get("modelVersion"))
        if said == self._described or (self._described is not None and said == (None, None)):
            return []
        self._described = said
        return [ResponseMetadata(id=said[0], model_id=said[1], headers=self._headers)]

    def _candidate(self, candidate: dict[str, object]) -> list[StreamPart]:
        parts: list[StreamPart] = []
        for part in array_of(object_of(candidate.get("content")).get("parts")):
            if is_object(part):
                parts += self._parts.read(part)
        for name in _KEPT:
            if candidate.get(name) is not None:
                self._found[name] = candidate[name]
        parts += self._new_sources(object_of(candidate.get("groundingMetadata")))
        self._finish = text_of(candidate.get("finishReason")) or self._finish
        return parts

    def _new_sources(self, grounding: Mapping[str, object]) -> list[StreamPart]:
        """The pages and documents that were not named before; a stream repeats them."""
        parts: list[StreamPart] = []
        for chunk in map(object_of, array_of(grounding.get("groundingChunks"))):
            for kind in ("web", "maps", "image", "retrievedContext"):
                found = object_of(chunk.get(kind))
                source = self._source(kind, found) if found else None
                if source is not None:
                    parts.append(source)
        return parts

    def _source(self, kind: str, found: dict[str, object]) -> UrlSource | DocumentSource | None:
        uri = text_of(found.get("uri")) or text_of(found.get("sourceUri"))
        title = text_of(found.get("title"))
        named = uri or text_of(found.get("fileSearchStore")) or title
        if named is None or f"{kind} {named} {title}" in self._sources:
            return None
        number = len(self._sources)
        self._sources.add(f"{kind} {named} {title}")
        options = kept_json({self._provider: {kind: found}})
        if uri is not None and uri.startswith(("http://", "https://")):
            return UrlSource(f"source-{number}", uri, title=title, provider_options=options)
        name = title or named
        return DocumentSource(f"source-{number}", "text/plain", name, provider_options=options)


def usage_of(value: Mapping[str, object]) -> Usage:
    """Token counts. What the cache gave is part of the prompt; thoughts are beside the answer.

    What a tool of the provider's read is input as well.
    """
    if not value:
        return NO_USAGE
    prompt = count_of(value.get("promptTokenCount"))
    read = count_of(value.get("toolUsePromptTokenCount"))
    said = count_of(value.get("candidatesTokenCount"))
    thought = count_of(value.get("thoughtsTokenCount"))
    cached = count_of(value.get("cachedContentTokenCount"))
    inputs = None if prompt is None else prompt + (read or 0)
    outputs = None if said is None and thought is None else (said or 0) + (thought or 0)
    fresh = None if inputs is None or cached is None else max(0, inputs - cached)
    return Usage(
        inputs,
        outputs,
        input_token_details=InputTokenDetails(fresh, cached, None),
        output_token_details=OutputTokenDetails(said, thought),
    )
