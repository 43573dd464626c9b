from typing import Literal, TypeAlias, final
from attrs import field, frozen
from stepfold.durable._recording import Recording
from stepfold.loop import LoopState
from stepfold.loop.events import Event
from stepfold.values import Instant, ToolCall

SpanKind: TypeAlias = Literal["model", "wait", "tool"]
SpanEnd: TypeAlias = Literal["ok", "failed", "lost"]

@final
@frozen(order=False)
class Span:
    kind: SpanKind
    step: int
    name: str
    started: Instant
    ended: Instant
    end: SpanEnd
    record: int
    call: ToolCall | None = field(default=None, kw_only=True)
    event: Event | None = field(default=None, kw_only=True)

def spans_of(recording: Recording) -> tuple[Span, ...]: ...

@final
@frozen(order=False)
class Change:
    path: str
    before: str | None
    after: str | None

def changes(before: LoopState | None, after: LoopState) -> tuple[Change, ...]: ...
