from typing import TypeAlias, final
from attrs import field, frozen
from stepfold.loop._granted import Granted
from stepfold.loop._ids import NO_IDS, IdSet
from stepfold.loop._slots import Slot
from stepfold.loop._stop import Progress
from stepfold.loop.commands import Command, ModelCallKey
from stepfold.loop.events import MessageSteered, StepPlan
from stepfold.loop.notes import Note
from stepfold.values import (
    EMPTY_OBJECT,
    NO_USAGE,
    ChunkGaps,
    Instant,
    JsonObject,
    JsonText,
    Message,
    ModelReply,
    NoOutput,
    RunEnd,
    StepResult,
    Stop,
    ToolCall,
    Usage,
)

NO_CONTEXT = JsonObject({})

@final
@frozen(order=False)
class Preparing:
    step: int
    since: Instant

@final
@frozen(order=False)
class Calling:
    step: int
    since: Instant
    model: str
    attempt: int
    total: int
    reserved: int
    plan: StepPlan | None = None
    wrap: Stop | None = None
    max_output_tokens: int | None = None
    reserved_cost: int = 0

    @property
    def key(self) -> ModelCallKey: ...

@final
@frozen(order=False)
class Waiting:
    calling: Calling
    until: Instant

    @property
    def step(self) -> int: ...

@final
@frozen(order=False)
class Replied:
    reply: ModelReply
    model: str
    since: Instant
    started: Instant
    at: Instant
    first_output: Instant | None = None
    gaps: ChunkGaps | None = None
    wrap: Stop | None = None
    plan: StepPlan | None = None
    cost: int | None = None

@final
@frozen(order=False)
class Working:
    step: int
    replied: Replied | None
    slots: tuple[Slot, ...]
    unresolved: int
    running: int
    closing: RunEnd[JsonText] | None = None
    refused: bool = False

@final
@frozen(order=False)
class Checking:
    step: int
    answer: JsonText | NoOutput | None = None

@final
@frozen(order=False)
class Concluding:
    step: int
    output: JsonText
    wrap: Stop | None = None
    is_last: bool = False

@final
@frozen(order=False)
class Resting:
    step: int
    slots: tuple[Slot, ...]
    refused: bool = False

@final
@frozen(order=False)
class Done:
    end: RunEnd[JsonText]
    output: JsonText | None = None

Phase: TypeAlias = Calling | Working | Preparing | Waiting | Checking | Concluding | Resting | Done

@final
@frozen(order=False)
class Identity:
    run: str
    seed: int
    started: Instant
    fingerprint: str
    rules: int
    resumed: int = 0
    granted: Granted | None = None

@final
@frozen(order=False)
class Transcript:
    messages: tuple[Message, ...] = field()
    steps: tuple[StepResult, ...] = field(default=())
    base: tuple[Message, ...] | None = None
    base_from: int = 0
    instructions: str | None = None
    late: tuple[Message, ...] = ()
    held_back: tuple[Message, ...] = ()
    initial: int = 0
    runtime_context: JsonText = EMPTY_OBJECT

    def with_late(self, added: tuple[Message, ...]) -> "Transcript": ...
    def with_step(self, added: tuple[Message, ...], result: StepResult) -> "Transcript": ...
    def flushed(self) -> "Transcript": ...

@final
@frozen(order=False)
class Ledger:
    usage: Usage = NO_USAGE
    spent: int = 0
    reserved: int = 0
    estimate: int = 0
    called: tuple[tuple[str, int], ...] = ()
    issued: tuple[tuple[str, int], ...] = ()
    total_issued: int = 0
    output_retries: int = 0
    cost: int | None = None
    spent_cost: int = 0
    reserved_cost: int = 0
    reserved_calls: int = 0

@final
@frozen(order=False)
class Inbox:
    waiting: tuple[MessageSteered, ...] = ()
    seen: tuple[str, ...] = ()

@final
@frozen(order=False)
class Toolbox:
    deferred: tuple[ToolCall, ...] = ()
    errors: tuple[tuple[str, int], ...] = ()
    found: tuple[str, ...] = ()

EMPTY_TOOLBOX = Toolbox()

@final
@frozen(order=False)
class LoopState:
    identity: Identity
    now: Instant
    transcript: Transcript
    ledger: Ledger
    phase: Phase
    inbox: Inbox
    toolbox: Toolbox = EMPTY_TOOLBOX
    cancel_requested: str | None = None
    call_ids: IdSet = field(default=NO_IDS)

    @property
    def messages(self) -> tuple[Message, ...]: ...
    @property
    def runtime_context(self) -> JsonObject: ...
    @property
    def prompt(self) -> tuple[Message, ...]: ...
    @property
    def steps(self) -> tuple[StepResult, ...]: ...
    @property
    def usage(self) -> Usage: ...
    @property
    def cost(self) -> int | None: ...
    @property
    def progress(self) -> Progress: ...

@final
@frozen(order=False)
class Transition:
    state: LoopState
    commands: tuple[Command, ...] = ()
    notes: tuple[Note, ...] = ()
