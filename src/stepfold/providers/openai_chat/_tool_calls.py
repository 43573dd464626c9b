"""Which call a piece of a streamed tool call belongs to.

Pieces should carry an index, and the first one an id and a name. Servers differ: some repeat the
id or the name in every piece, some leave ids blank or use one twice, some give every call the
index 0 or none at all, some send the name after the id. The rules, which are those of the AI SDK
but for the last two:

* a known id belongs to its call, to the one of this index if several share the id; a name
  together with an index that the id is not known under starts a call;
* without an id, a name starts a call;
* without either, the index tells, else there must be only one call: a piece that fits none is
  dropped, as is one without an id and an index where there are several calls;
* an unknown id without a name belongs to the call of its index if that one has no id yet;
* a call without a name waits for it, and takes the name that comes for its index.

Calls are complete when the stream is: arguments that parse may still go on.
"""

from typing import final

from attrs import define, field

from stepfold.providers._json import is_object, object_of, text_of
from stepfold.providers._replies import unused_call_id
from stepfold.providers.openai_chat._reply import arguments_of, call_options
from stepfold.values import (
    JsonText,
    StreamPart,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    without_lone_surrogates,
)


@define(eq=False)
class _Call:
    """A call that is coming in; it has an id of ours once its name is known."""

    index: int | None
    wire_id: str | None
    name: str | None
    options: JsonText | None
    pieces: list[str] = field(factory=list[str])
    call_id: str | None = None


@final
class ToolCallTracker:
    """Gathers the calls of one streamed reply."""

    __slots__ = ("_by_index", "_calls", "_provider", "_used")

    def __init__(self, provider: str) -> None:
        self._provider = provider
        self._calls: list[_Call] = []
        self._by_index: dict[int, _Call] = {}
        self._used: set[str] = set()

    def add(self, item: object) -> list[StreamPart]:
        """Take one member of `delta.tool_calls`."""
        if not is_object(item):
            return []
        function = object_of(item.get("function"))
        wire_id = _unless_blank(text_of(item.get("id")))
        name = _unless_blank(text_of(function.get("name")))
        number = item.get("index")
        index = number if isinstance(number, int) else None
        call = self._find(wire_id, index, name)
        if call is None:
            if wire_id is None and name is None and index is None:
                return []
            call = _Call(index, wire_id, name, call_options(item, self._provider))
            self._calls.append(call)
        if index is not None:
            self._by_index[index] = call
        if call.call_id is None:
            call.wire_id = call.wire_id or wire_id
            call.name = call.name or name
        call.options = call.options or call_options(item, self._provider)
        return self._grow(call, arguments_of(function))

    def finish(self) -> list[StreamPart] | None:
        """The ends of all calls, in order of index; `None` if one never got a name."""
        last = len(self._calls)
        ordered = sorted(self._calls, key=lambda c: last if c.index is None else c.index)
        parts: list[StreamPart] = []
        for call in ordered:
            if call.name is None or call.call_id is None:
                return None
            arguments = without_lone_surrogates("".join(call.pieces))
            parts += [
                ToolInputEnd(call.call_id),
                ToolCall(call.call_id, call.name, arguments, provider_options=call.options),
            ]
        return parts

    def _find(self, wire_id: str | None, index: int | None, name: str | None) -> _Call | None:
        indexed = None if index is None else self._by_index.get(index)
        if wire_id is not None:
            return self._find_by_id(wire_id, index, name, indexed)
        if name is not None:
            return indexed if indexed is not None and indexed.name is None else None
        if indexed is not None or index is not None:
            return indexed
        return self._calls[0] if len(self._calls) == 1 else None

    def _find_by_id(
        self, wire_id: str, index: int | None, name: str | None, indexed: _Call | None
    ) -> _Call | None:
        same = [call for call in self._calls if call.wire_id == wire_id]
        if not same:
            is_nameless = indexed is not None and (name is None or indexed.name is None)
            return indexed if indexed and is_nameless and indexed.wire_id is None else None
        if indexed in same and (name is None or indexed.name in {None, name}):
            return indexed
        if index is not None and name is not None:
            return None
        if name is not None:
            same = [call for call in same if call.name in {None, name}]
        return same[-1] if same else None

    def _grow(self, call: _Call, arguments: str) -> list[StreamPart]:
        parts: list[StreamPart] = []
        if arguments:
            call.pieces.append(arguments)
        if call.call_id is None:
            if call.name is None:
                return parts
            call.call_id = unused_call_id(call.wire_id, self._used)
            parts.append(ToolInputStart(call.call_id, call.name))
            arguments = "".join(call.pieces)
        if arguments:
            parts.append(ToolInputDelta(call.call_id, without_lone_surrogates(arguments)))
        return parts


def _unless_blank(text: str | None) -> str | None:
    return text if text and text.strip() else None
