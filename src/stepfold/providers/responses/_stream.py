"""The events of a streamed response.

Rules that are ours to keep, beside those of `EventDecoder`:

* A stream is whole if it has a terminal event (`response.completed`, `.incomplete`).
* Texts come as they come. Everything else is taken from the finished item, and so are the ends
  of texts and the calls: the stream gives what the terminal event's response decodes to. An item
  that the stream did not finish is taken from that response.
* Items are known by their index, since some servers give them another id in every event; where
  there is none, by their id, else it is the last one. In the whole response they are known by
  their id, since some servers leave gaps between the indexes; else by their place.
* Items of the provider's own tools may end in any order; their parts come in the order of the
  items, except that nothing holds back a text.
"""

from typing import final

from attrs import define, field

from stepfold.providers._events import EventStream
from stepfold.providers._json import array_of, is_object, object_of, text_of
from stepfold.providers._replies import instant_of, shown_headers, violation
from stepfold.providers.responses._items import (
    BlockKey,
    ItemReader,
    KeyedPart,
)
from stepfold.providers.responses._reply import (
    NAMELESS,
    failure_of,
    finish_reason_of,
    metadata_of,
    usage_of,
)
from stepfold.values import (
    Finish,
    ModelError,
    Reasoning,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseMetadata,
    StreamPart,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    without_lone_surrogates,
)

# Where the pieces of a text stand in their item.
_DELTAS = {
    "response.output_text.delta": ("part", "content_index"),
    "response.refusal.delta": ("part", "content_index"),
    "response.reasoning_summary_text.delta": ("summary", "summary_index"),
    "response.reasoning_text.delta": ("content", "content_index"),
}
_TERMINAL = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
    "response.cancelled": "cancelled",
}


@define(eq=False)
class _Item:
    """An item that is coming in."""

    index: int
    kind: str = ""
    is_hosted: bool = False
    is_done: bool = False
    blocks: dict[BlockKey, list[str]] = field(factory=dict[BlockKey, list[str]])
    annotations: list[object] = field(factory=list[object])
    call_id: str | None = None
    arguments: list[str] = field(factory=list[str])

    def block_id(self, key: BlockKey) -> str:
        return f"{self.index}-{key[0]}-{key[1]}"


@final
class ResponsesReader:
    """Reads the events of one response; an `EventReader`."""

    def __init__(
        self, provider: str, headers: tuple[tuple[str, str], ...], secrets: tuple[str, ...]
    ) -> None:
        self._provider = provider
        self._secrets = secrets
        self._headers = shown_headers(headers)
        self._reader = ItemReader(provider)
        self._items: dict[int, _Item] = {}
        self._by_id: dict[str, _Item] = {}
        self._held: dict[int, list[StreamPart]] = {}
        self._described: ResponseMetadata | None = None
        self.is_done: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the reply has come to its end, which only its last event says."""
        return self.is_done

    def end(self, parts: list[StreamPart]) -> None:
        """No more events come."""
        message = "the stream ended without its terminal event: the reply may be cut"
        raise ModelError(violation(message))

    def abandon(self, parts: list[StreamPart]) -> None:
        """The stream has failed: give what was held back."""
        self._release(parts)

    def read(self, parts: list[StreamPart], event: dict[str, object]) -> None:
        """Take an event."""
        kind = text_of(event.get("type")) or ""
        place = _DELTAS.get(kind)
        if place is not None:
            number = event.get(place[1])
            key = (place[0], number if isinstance(number, int) else 0)
            self._say(parts, self._item(event), key, event.get("delta"))
        elif kind == "response.function_call_arguments.delta":
            self._grow_call(parts, self._item(event), event.get("delta"))
        elif kind == "response.output_item.added":
            self._add(parts, event)
        elif kind == "response.output_item.done":
            self._finish(parts, self._item(event), object_of(event.get("item")))
        elif kind == "response.output_text.annotation.added":
            self._item(event).annotations.append(event.get("annotation"))
        elif kind in _TERMINAL:
            response = object_of(event.get("response"))
            self._complete(parts, {"status": _TERMINAL[kind], **response})
        elif is_object(event.get("response")):
            self._describe(parts, object_of(event["response"]))

    # --- items --------------------------------------------------------------------------------

    def _item(self, event: dict[str, object], *, is_new: bool = False) -> _Item:
        index = event.get("output_index")
        value = object_of(event.get("item"))
        item_id = text_of(value.get("id")) or text_of(event.get("item_id"))
        if not isinstance(index, int) or isinstance(index, bool):
            known = self._by_id.get(item_id or "")
            if known is not None:
                return known
            last = max(self._items, default=-1)
            index = last + 1 if is_new or last < 0 else last
        item = self._items.get(index)
        if item is None:
            item = self._items[index] = _Item(index)
        if value:
            item.kind = text_of(value.get("type")) or ""
            if item_id:
                self._by_id[item_id] = item
        return item

    def _known(self, value: dict[str, object], rank: int) -> _Item:
        """The item of the stream that an item of the whole response is; else a new one.

        Servers leave gaps between the indexes, or change the ids, but not both.
        """
        item = self._by_id.get(text_of(value.get("id")) or "")
        if item is not None:
            return item
        order = sorted(self._items)
        if rank < len(order):
            item = self._items[order[rank]]
            if item.kind in ("", value.get("type")):
                return item
        return self._item({"item": value}, is_new=True)

    def _add(self, parts: list[StreamPart], event: dict[str, object]) -> None:
        item = self._item(event, is_new=True)
        value = object_of(event.get("item"))
        item.is_hosted = self._reader.is_hosted(value)
        name = text_of(value.get("name"))
        if (
            self._reader.is_client_call(value)
            and name
            and item.call_id is None
            and not item.is_done
        ):
            self._release(parts)
            item.call_id = self._reader.call_id_of(value)
            parts.append(ToolInputStart(item.call_id, name))

    def _say(self, parts: list[StreamPart], item: _Item, key: BlockKey, delta: object) -> None:
        if not isinstance(delta, str) or not delta or item.is_done:
            return
        delta = without_lone_surrogates(delta)
        block_id = item.block_id(key)
        is_text = key[0] == "part"
        pieces = item.blocks.get(key)
        if pieces is None:
            self._release(parts)
            pieces = item.blocks[key] = []
            parts.append(TextStart(block_id) if is_text else ReasoningStart(block_id))
        pieces.append(delta)
        parts.append(TextDelta(block_id, delta) if is_text else ReasoningDelta(block_id, delta))

    @staticmethod
    def _grow_call(parts: list[StreamPart], item: _Item, delta: object) -> None:
        if isinstance(delta, str) and delta and not item.is_done:
            delta = without_lone_surrogates(delta)
            item.arguments.append(delta)
            if item.call_id is not None:
                parts.append(ToolInputDelta(item.call_id, delta))

    def _finish(self, parts: list[StreamPart], item: _Item, value: dict[str, object]) -> None:
        if item.is_done or not value:
            return
        item.is_done = True
        if item.arguments and not value.get("arguments"):
            value = {**value, "arguments": "".join(item.arguments)}
        made = self._reader.parts(value, item.call_id)
        if made is None:
            raise ModelError(violation(NAMELESS))
        if item.annotations and all(key is not None for key, _ in made):
            made += self._reader.sources(item.annotations)
        if item.is_hosted or self._reader.is_hosted(value):
            item.is_hosted = True
            self._held[item.index] = [p for _, p in made if not isinstance(p, Text | Reasoning)]
            self._release(parts, waiting=True)
            return
        self._release(parts)
        self._end_blocks(parts, item, made)

    def _end_blocks(self, parts: list[StreamPart], item: _Item, made: list[KeyedPart]) -> None:
        open_blocks = dict(item.blocks)
        for key, part in made:
            if not isinstance(part, Text | Reasoning):
                if isinstance(part, ToolCall) and item.call_id is not None:
                    parts.append(ToolInputEnd(item.call_id))
                parts.append(part)
            elif key is not None:
                said = "".join(open_blocks.pop(key, ()))
                if part.text.startswith(said):
                    self._begin(parts, item, key)
                    self._say_rest(parts, item, key, part.text[len(said) :])
                self._close(parts, item, key, part)
        for key in open_blocks:
            self._close(parts, item, key, None)

    def _begin(self, parts: list[StreamPart], item: _Item, key: BlockKey) -> None:
        if key not in item.blocks:
            self._release(parts)
            item.blocks[key] = []
            block_id = item.block_id(key)
            parts.append(TextStart(block_id) if key[0] == "part" else ReasoningStart(block_id))

    @staticmethod
    def _say_rest(parts: list[StreamPart], item: _Item, key: BlockKey, rest: str) -> None:
        if rest:
            block_id = item.block_id(key)
            is_text = key[0] == "part"
            parts.append(TextDelta(block_id, rest) if is_text else ReasoningDelta(block_id, rest))

    @staticmethod
    def _close(
        parts: list[StreamPart], item: _Item, key: BlockKey, part: Text | Reasoning | None
    ) -> None:
        block_id = item.block_id(key)
        options = None if part is None else part.provider_options
        if key[0] == "part":
            parts.append(TextEnd(block_id, provider_options=options))
        else:
            parts.append(ReasoningEnd(block_id, provider_options=options))

    def _release(self, parts: list[StreamPart], *, waiting: bool = False) -> None:
        """Give what was held; if `waiting`, only up to the first such item that still runs."""
        if not self._held:
            return
        running = [i.index for i in self._items.values() if i.is_hosted and not i.is_done]
        first = min(running, default=None) if waiting else None
        for index in sorted(self._held):
            if first is not None and index > first:
                break
            parts += self._held.pop(index)

    # --- beginnings and ends ------------------------------------------------------------------

    def _describe(self, parts: list[StreamPart], response: dict[str, object]) -> None:
        described = ResponseMetadata(
            id=text_of(response.get("id")),
            model_id=text_of(response.get("model")),
            timestamp=instant_of(response.get("created_at")),
            headers=self._headers,
        )
        if described != self._described and described != ResponseMetadata():
            self._described = described
            parts.append(described)

    def _complete(self, parts: list[StreamPart], response: dict[str, object]) -> None:
        failure = failure_of(response, self._secrets)
        if failure is not None:
            self._describe(parts, response)
            raise ModelError(failure)
        for rank, value in enumerate(map(object_of, array_of(response.get("output")))):
            self._finish(parts, self._known(value, rank), value)
        self._release(parts)
        for item in self._items.values():
            if not item.is_done:
                for key in item.blocks:
                    self._close(parts, item, key, None)
                if item.call_id is not None and response["status"] == "completed":
                    message = "the stream holds a call that never ended"
                    raise ModelError(violation(message))
        self._describe(parts, response)
        parts.append(
            Finish(
                finish_reason_of(response, self._reader),
                usage_of(response.get("usage")),
                provider_metadata=metadata_of(response, self._reader, self._provider),
            )
        )
        self.is_done = True


responses_decoder: EventStream = EventStream(ResponsesReader)
"""Makes the decoder of one streamed response."""
