"""Parts of Google's contents as stream parts: the one reading of a reply, whole or streamed.

text                    a text block, or of reasoning where it is a `thought`; neighbours of
                        one kind are one block, and a signature ends up with it
functionCall            a client call; its arguments may come in pieces
inlineData, fileData    a file
executableCode, toolCall            a call that the provider answers
codeExecutionResult, toolResponse   the answer
anything else           a custom part `google.<member>`, which holds the part
"""

from base64 import b64decode
from collections.abc import Mapping
from typing import final

from stepfold.providers._json import is_object, text_of
from stepfold.providers._replies import kept_json, unused_call_id, violation
from stepfold.providers.google_generate._arguments import Arguments, ArgumentsFault
from stepfold.values import (
    Custom,
    ErrorJsonOutput,
    File,
    FileBytes,
    FileUrl,
    JsonOutput,
    JsonText,
    ModelError,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningFile,
    ReasoningStart,
    StreamPart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    ToolResult,
)

_RESULTS = {"codeExecutionResult": "executableCode", "toolResponse": "toolCall"}
_SAID_ELSEWHERE = frozenset({"thought", "thoughtSignature"})
_NULL = JsonText("null")


@final
class PartReader:
    """Reads the parts of one reply, in order."""

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._blocks = 0
        self._block: tuple[str, bool] | None = None
        self._signature: str | None = None
        self._used: set[str] = set()
        self._call: tuple[str, str, str | None, Arguments] | None = None
        self._hosted: list[tuple[str, str, str]] = []
        self.has_calls: bool = False

    def read(self, part: dict[str, object]) -> list[StreamPart]:
        """The stream parts of a part.

        Raises:
            ModelError: it makes no sense.
        """
        signature = text_of(part.get("thoughtSignature"))
        text = text_of(part.get("text"))
        if text is not None:
            return self._say(text, signature, is_thought=part.get("thought") is True)
        call = part.get("functionCall")
        if is_object(call):
            return [*self._end_block(), *self._function_call(call, signature)]
        parts = [*self.end()]
        members = [name for name in part if name not in _SAID_ELSEWHERE]
        for name in members:
            value = part[name]
            if name in {"inlineData", "fileData"} and is_object(value):
                return [*parts, *self._file(part, value, signature)]
            if name in {"executableCode", "toolCall"} and is_object(value):
                return [*parts, *self._hosted_call(name, value, signature)]
            if name in _RESULTS and is_object(value):
                return [*parts, self._hosted_result(name, value, signature)]
        kind = members[0] if members else "empty"
        if not members and signature is None:
            return parts
        custom = Custom(f"{self._provider}.{kind}", provider_options=self._kept({"part": part}))
        return [*parts, custom]

    def end(self) -> list[StreamPart]:
        """End what is open."""
        return [*self._end_block(), *self._end_call()]

    def _kept(self, members: Mapping[str, object]) -> JsonText | None:
        return kept_json({self._provider: members}) if members else None

    def _signed(self, signature: str | None, **more: object) -> JsonText | None:
        mark = {} if signature is None else {"thought_signature": signature}
        return self._kept({**more, **mark})

    # --- words ----------------------------------------------------------------------------

    def _say(self, text: str, signature: str | None, *, is_thought: bool) -> list[StreamPart]:
        parts: list[StreamPart] = [*self._end_call()]
        if not text and signature is None:
            return parts
        # An empty text carries the signature of what was said before it.
        is_mark = not text and self._block is not None
        if self._block is not None and self._block[1] != is_thought and not is_mark:
            parts += self._end_block()
        if self._block is None:
            key = str(self._blocks)
            self._blocks += 1
            self._block = key, is_thought
            parts.append(ReasoningStart(key) if is_thought else TextStart(key))
        key, thinks = self._block
        if text:
            parts.append(ReasoningDelta(key, text) if thinks else TextDelta(key, text))
        if signature is not None:
            self._signature = signature
            parts += self._end_block()
        return parts

    def _end_block(self) -> list[StreamPart]:
        if self._block is None:
            return []
        key, is_thought = self._block
        options = self._signed(self._signature)
        self._block = self._signature = None
        if is_thought:
            return [ReasoningEnd(key, provider_options=options)]
        return [TextEnd(key, provider_options=options)]

    # --- calls ----------------------------------------------------------------------------

    def _function_call(self, call: dict[str, object], signature: str | None) -> list[StreamPart]:
        parts: list[StreamPart] = []
        name = text_of(call.get("name"))
        goes_on = call.get("willContinue") is True
        if name:
            parts += self._end_call()
            call_id = unused_call_id(text_of(call.get("id")), self._used)
            parts.append(ToolInputStart(call_id, name))
            self._call = call_id, name, signature, Arguments()
            self.has_calls = True
        if self._call is None:
            if not goes_on and not call:
                return parts
            raise ModelError(violation("a function call without a name came"))
        try:
            self._call[3].add(call.get("partialArgs"))
        except ArgumentsFault as fault:
            raise ModelError(violation(str(fault))) from None
        whole = call.get("args")
        if is_object(whole):
            self._call[3].document().update(whole)
        return parts if goes_on else [*parts, *self._end_call()]

    def _end_call(self) -> list[StreamPart]:
        if self._call is None:
            return []
        call_id, name, signature, arguments = self._call
        self._call = None
        kept = kept_json(arguments.document())
        text = "{}" if kept is None else kept.text
        call = ToolCall(call_id, name, text, provider_options=self._signed(signature))
        return [ToolInputDelta(call_id, text), ToolInputEnd(call_id), call]

    def _hosted_call(
        self, kind: str, value: dict[str, object], signature: str | None
    ) -> list[StreamPart]:
        given = text_of(value.get("id"))
        call_id = unused_call_id(given, self._used)
        name = _hosted_name(kind, value)
        self._hosted.append((given or "", call_id, name))
        kept = kept_json(value)
        call = ToolCall(
            call_id,
            name,
            "{}" if kept is None else kept.text,
            provider_executed=True,
            provider_options=self._signed(signature, part=kind),
        )
        return [call]

    def _hosted_result(
        self, kind: str, value: dict[str, object], signature: str | None
    ) -> ToolResult:
        given = text_of(value.get("id")) or ""
        matching = [entry for entry in self._hosted if entry[0] == given]
        if matching:
            _, call_id, name = matching[-1]
        else:  # of a call in an earlier reply
            call_id = given or unused_call_id(None, self._used)
            name = _hosted_name(kind, value)
        kept = kept_json(value) or _NULL
        outcome = text_of(value.get("outcome"))
        is_error = outcome not in {None, "OUTCOME_OK", "OUTCOME_UNSPECIFIED"}
        return ToolResult(
            call_id,
            name,
            ErrorJsonOutput(kept) if is_error else JsonOutput(kept),
            provider_executed=True,
            provider_options=self._signed(signature, part=kind),
        )

    # --- files ----------------------------------------------------------------------------

    def _file(
        self, part: dict[str, object], value: dict[str, object], signature: str | None
    ) -> list[StreamPart]:
        media_type = text_of(value.get("mimeType")) or "application/octet-stream"
        uri, encoded = text_of(value.get("fileUri")), text_of(value.get("data"))
        data: FileUrl | FileBytes
        if uri is not None:
            data = FileUrl(uri)
        else:
            try:
                data = FileBytes(b64decode(encoded or "", validate=True))
            except ValueError:
                raise ModelError(violation("a file of the reply is not in base64")) from None
        options = self._signed(signature)
        if part.get("thought") is True:
            return [ReasoningFile(data, media_type, provider_options=options)]
        return [File(data, media_type, provider_options=options)]


def _hosted_name(kind: str, value: dict[str, object]) -> str:
    """What a tool that Google runs is called."""
    if kind in {"executableCode", "codeExecutionResult"}:
        return "code_execution"
    return (text_of(value.get("toolType")) or text_of(value.get("tool_type")) or "tool").lower()
