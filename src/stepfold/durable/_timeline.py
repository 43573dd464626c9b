"""When what was at work in a run: model calls, pauses and tools, read off its journal alone."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, cast, final

from attrs import evolve, field, frozen

from stepfold.codec import JsonTree, to_json
from stepfold.durable._recording import Recording
from stepfold.durable._records import BaseRecord, EntryRecord
from stepfold.loop import LoopState
from stepfold.loop.commands import CallKey
from stepfold.loop.events import (
    Event,
    ModelFailed,
    ModelReplied,
    Resumed,
    ToolFailed,
    ToolReturned,
    ToolStarted,
    Waited,
)
from stepfold.loop.notes import CallRequested, ModelRetried, Note, StepStarted
from stepfold.values import Instant, ToolCall, dump_tree

SpanKind: TypeAlias = Literal["model", "wait", "tool"]
SpanEnd: TypeAlias = Literal["ok", "failed", "lost"]


@final
@frozen(order=False)
class Span:
    """Something that took time. `record` is the number of the record that tells its end.

    One that is `lost` has no end: the process ended, or the run did, while it was at work; `ended`
    is then when that was seen.
    """

    kind: SpanKind
    step: int
    name: str
    started: Instant
    ended: Instant
    end: SpanEnd
    record: int
    call: ToolCall | None = field(default=None, kw_only=True)
    event: Event | None = field(default=None, kw_only=True)


def spans_of(recording: Recording) -> tuple[Span, ...]:
    """What was at work, in the order in which it began; of one instant, in the order of calls."""
    models = {step.step: step.model for step in recording.steps}
    found = _Reader(recording.header.at, models)
    for number, record in enumerate(recording.records, start=2):
        found.read(number, record)
    found.lose(len(recording.records) + 1)
    ordered = sorted(found.spans, key=lambda it: (it[1].started, it[1].step, it[0]))
    return tuple(span for _, span in ordered)


@final
class _Reader:
    """Goes through the records, and keeps what is at work meanwhile."""

    def __init__(self, at: Instant, models: Mapping[int, str]) -> None:
        self.spans: list[tuple[tuple[bool, int], Span]] = []  # each with its place in its step
        self._at = at
        self._since = at
        self._models = models
        self._model = ""
        self._calls: dict[CallKey, ToolCall] = {}
        self._running: dict[CallKey, Instant] = {}

    def read(self, number: int, record: EntryRecord | BaseRecord) -> None:
        """Take one record."""
        if isinstance(record, BaseRecord):
            self.lose(number)
            self._since = self._at
            return
        event = record.entry.event
        self._at = max(self._at, event.at)
        match event:
            case ModelReplied(key):
                self._add("model", key.step, number, event.started, "ok", event)
            case ModelFailed(key):
                self._add("model", key.step, number, self._since, "failed", event)
            case Waited(key):
                self._add("wait", key.step, number, self._since, "ok", event)
            case ToolStarted(key):
                self._running[key] = event.at
            case ToolReturned(key, outcome):
                self._running.pop(key, None)
                call = self._call(key)
                name = key_text(key) if call is None else call.tool_name
                end: SpanEnd = "failed" if isinstance(outcome, ToolFailed) else "ok"
                ended = self._at
                span = Span(
                    "tool",
                    key.step,
                    name,
                    event.started,
                    ended,
                    end,
                    number,
                    call=call,
                    event=event,
                )
                self.spans.append(((True, key.index), span))
            case Resumed():
                self.lose(number)
            case _:
                pass
        self._since = self._at
        self._noted(record.notes)

    def _noted(self, notes: Sequence[Note]) -> None:
        for note in notes:
            match note:
                case StepStarted(_, model) | ModelRetried(model=model):
                    self._model = model
                case CallRequested(key, call):
                    self._calls[key] = call
                case _:
                    pass

    def _add(
        self, kind: SpanKind, step: int, number: int, started: Instant, end: SpanEnd, event: Event
    ) -> None:
        name = "pause"
        if kind == "model":
            name = self._model or self._models.get(step, "model")
        span = Span(kind, step, name, started, self._at, end, number, event=event)
        self.spans.append(((False, number), span))

    def _call(self, key: CallKey) -> ToolCall | None:
        first = CallKey(key.step, key.index, 0)
        return self._calls.get(key) or self._calls.get(first)

    def lose(self, number: int) -> None:
        """Nothing that is at work will be heard of again."""
        for key, started in self._running.items():
            call = self._call(key)
            name = key_text(key) if call is None else call.tool_name
            span = Span("tool", key.step, name, started, self._at, "lost", number, call=call)
            self.spans.append(((True, key.index), span))
        self._running.clear()


def key_text(key: CallKey) -> str:
    """A call by its place, where nothing else is known of it."""
    return f"call {key.step}/{key.index}"


# --- changes of the state ---------------------------------------------------------------------


@final
@frozen(order=False)
class Change:
    """One place of the state that has changed; either side may be missing."""

    path: str
    before: str | None
    after: str | None


def changes(before: LoopState | None, after: LoopState) -> tuple[Change, ...]:
    """What differs between two states of a run, place by place; of the history only its length."""
    older = None if before is None else _tree_of(before)
    return tuple(_changes("", older, _tree_of(after)))


def _tree_of(state: LoopState) -> JsonTree:
    """A state without its history, so that comparing costs the same however long a run is."""
    said = state.transcript
    tree = to_json(evolve(state, transcript=evolve(said, messages=(), steps=())))
    history = cast("JsonTree", tree["transcript"])
    tree["transcript"] = {**history, "messages": len(said.messages), "steps": len(said.steps)}
    return tree


def _changes(path: str, before: object, after: object) -> Iterator[Change]:
    if before == after:
        return
    old, new = _object(before), _object(after)
    olds, news = _array(before), _array(after)
    if new is not None and old is not None:
        if old.get("type") != new.get("type") and old and new:
            yield Change(path, _text(old), _text(new))
            return
        for key in {**old, **new}:
            yield from _changes(f"{path}/{key}", old.get(key), new.get(key))
    elif news is not None and olds is not None:
        for place, item in enumerate(news):
            old_item = olds[place] if place < len(olds) else None
            if old_item is None:
                yield Change(f"{path}/{place}", None, _text(item))
            else:
                yield from _changes(f"{path}/{place}", old_item, item)
        for place in range(len(news), len(olds)):
            yield Change(f"{path}/{place}", _text(olds[place]), None)
    else:
        yield Change(path, _text(before), _text(after))


def _object(tree: object) -> JsonTree | None:
    """A JSON object, which a missing one can become."""
    return cast("JsonTree", tree or {}) if isinstance(tree, dict | None) else None


def _array(tree: object) -> list[object] | None:
    return cast("list[object]", tree or []) if isinstance(tree, list | None) else None


def _text(tree: object) -> str | None:
    return tree if isinstance(tree, str | None) else dump_tree(tree)
