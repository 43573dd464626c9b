"""What a reply in one piece and a streamed one have in common, and the former."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias, final

from stepfold.providers._failures import reason_of_error
from stepfold.providers._json import array_of, count_of, is_object, object_of, text_of
from stepfold.providers._replies import (
    instant_of,
    kept_json,
    reply_object,
    shown_headers,
    unused_call_id,
    violation,
)
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
    Reasoning,
    ReplyPart,
    ResponseInfo,
    Success,
    Text,
    ToolCall,
    UnifiedFinishReason,
    UrlSource,
    Usage,
    without_lone_surrogates,
)

_FINISH_REASONS: dict[str, UnifiedFinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "length": "length",
    "model_length": "length",
    "content_filter": "content-filter",
    "tool_calls": "tool-calls",
    "function_call": "tool-calls",
    "error": "error",
}

Said: TypeAlias = tuple[str, str]
"""A piece of content: `text` or `reasoning`, and the words."""


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
    choice = object_of(next(iter(array_of(value.get("choices"))), None))
    message = choice.get("message")
    if not is_object(message):
        return Failure(violation("the server's reply holds no choice with a message"))
    calls = _calls(message, provider)
    if calls is None:
        return Failure(violation("the server's reply holds a tool call without a name"))
    refusal = text_of(message.get("refusal")) or ""
    facts = Facts()
    facts.note(value, choice)
    return Success(
        ModelReply(
            (*_content(message, refusal, provider), *calls),
            finish_reason_of(text_of(choice.get("finish_reason")), refused=bool(refusal)),
            usage_of(value.get("usage")),
            warnings=warnings,
            response=ResponseInfo(
                text_of(value.get("id")),
                text_of(value.get("model")),
                instant_of(value.get("created")),
                shown_headers(headers),
            ),
            provider_metadata=facts.metadata(provider),
        )
    )


def _content(message: dict[str, object], refusal: str, provider: str) -> Iterable[ReplyPart]:
    said = [*reasoning_of(message), *pieces_of(message.get("content"))]
    thoughts = "".join(words for kind, words in said if kind == "reasoning")
    text = "".join(words for kind, words in said if kind == "text")
    if thoughts:
        yield Reasoning(without_lone_surrogates(thoughts))
    if text:
        yield Text(without_lone_surrogates(text))
    if refusal:
        yield Text(refusal, provider_options=refusal_mark(provider))
    yield from sources_of(message.get("annotations"), 0)


def _calls(message: dict[str, object], provider: str) -> list[ToolCall] | None:
    calls: list[ToolCall] = []
    used: set[str] = set()
    for item in call_items(message):
        function = object_of(object_of(item).get("function"))
        name = text_of(function.get("name"))
        if not name:
            return None
        call_id = unused_call_id(text_of(object_of(item).get("id")), used)
        arguments = without_lone_surrogates(arguments_of(function))
        options = call_options(object_of(item), provider)
        calls.append(ToolCall(call_id, name, arguments, provider_options=options))
    return calls


# --- shared with the stream -------------------------------------------------------------------


def call_items(message: dict[str, object]) -> list[object]:
    """The tool calls of a message or a delta; the one of the older form, `function_call`, too."""
    calls = array_of(message.get("tool_calls"))
    older = message.get("function_call")
    return [*calls, {"index": 0, "function": older}] if is_object(older) else calls


def arguments_of(function: dict[str, object]) -> str:
    """The arguments, or a piece of them, as text; some servers send them parsed."""
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        return arguments
    kept = kept_json(arguments) if is_object(arguments) else None
    return kept.text if kept is not None else ""


def call_options(item: dict[str, object], provider: str) -> JsonText | None:
    """What a server attached to a call and wants back with it."""
    extra = item.get("extra_content")
    return kept_json({provider: {"extra_content": extra}}) if is_object(extra) else None


def refusal_mark(provider: str) -> JsonText:
    """The mark of a text in which the model refuses, so that it goes back as a refusal."""
    return JsonText.of({provider: {"refusal": True}})


def reasoning_of(message: dict[str, object]) -> list[Said]:
    """What a message or a delta holds of the model's thoughts, by either name."""
    thoughts = message.get("reasoning_content") or message.get("reasoning")
    return [("reasoning", thoughts)] if isinstance(thoughts, str) else []


def pieces_of(content: object) -> list[Said]:
    """The content of a message or a delta: a string, or a list of texts and thoughts."""
    if isinstance(content, str):
        return [("text", content)]
    pieces: list[Said] = []
    for item in map(object_of, array_of(content)):
        if isinstance(words := item.get("text"), str):
            pieces.append(("text", words))
        thoughts = map(object_of, array_of(item.get("thinking")))
        pieces += [
            ("reasoning", words) for t in thoughts if isinstance(words := t.get("text"), str)
        ]
    return pieces


def sources_of(annotations: object, before: int) -> list[UrlSource]:
    """The web pages that are cited, numbered on from those before."""
    sources: list[UrlSource] = []
    for item in map(object_of, array_of(annotations)):
        citation = object_of(item.get("url_citation"))
        url = text_of(citation.get("url"))
        if url is not None:
            number = before + len(sources)
            title = text_of(citation.get("title"))
            sources.append(UrlSource(f"source-{number}", url, title=title))
    return sources


def finish_reason_of(raw: str | None, *, refused: bool) -> FinishReason:
    """Why a reply ended; a refusal counts as the work of a filter, whatever the server says."""
    if refused:
        return FinishReason("content-filter", raw)
    return FinishReason(_FINISH_REASONS.get(raw or "", "other"), raw)


def usage_of(value: object) -> Usage:
    """Token counts. Cached input is part of the input, reasoning part of the output.

    One server counts reasoning beside its output; its total gives that away.
    """
    if not is_object(value):
        return NO_USAGE
    inputs = count_of(value.get("prompt_tokens"))
    outputs = count_of(value.get("completion_tokens"))
    details = object_of(value.get("prompt_tokens_details"))
    cached = count_of(details.get("cached_tokens"))
    if cached is None:
        cached = count_of(value.get("prompt_cache_hit_tokens"))
    written = count_of(details.get("cache_write_tokens"))
    reasoning = count_of(object_of(value.get("completion_tokens_details")).get("reasoning_tokens"))
    total = count_of(value.get("total_tokens"))
    if reasoning and None not in {inputs, outputs}:
        together = (inputs or 0) + (outputs or 0) + reasoning
        if total == together:
            outputs = (outputs or 0) + reasoning
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


@final
class Facts:
    """What else a server says of a reply, gathered over its chunks; a later word replaces."""

    __slots__ = ("_found", "_logprobs")

    def __init__(self) -> None:
        self._found: dict[str, object] = {}
        self._logprobs: list[object] = []

    def note(self, value: Mapping[str, object], choice: Mapping[str, object]) -> None:
        """Take what a body or a chunk, and its choice, say."""
        for name in ("system_fingerprint", "service_tier"):
            if (word := text_of(value.get(name))) is not None:
                self._found[name] = word
        self._logprobs += array_of(object_of(choice.get("logprobs")).get("content"))
        usage = object_of(value.get("usage"))
        details = object_of(usage.get("completion_tokens_details"))
        for name in ("accepted_prediction_tokens", "rejected_prediction_tokens"):
            if (count := count_of(details.get(name))) is not None:
                self._found[name] = count

    def metadata(self, provider: str) -> JsonText | None:
        """All of it, under the provider's name."""
        found = self._found
        if self._logprobs:
            found = {**found, "logprobs": self._logprobs}
        if not found:
            return None
        return kept_json({provider: found})
