"""The state of a run: plain data, grouped so that a new state costs little.

Everything here is immutable, equal by value and encodable; it names models and tools and holds
neither. Fields are grouped by how they change, and the `with_…` methods construct positionally,
since the number of objects is what a step costs.
"""

from collections.abc import Callable
from typing import TypeAlias, final

from attrs import field, frozen

from stepfold.loop._granted import Granted
from stepfold.loop._ids import NO_IDS, IdSet
from stepfold.loop._slots import Slot
from stepfold.loop._stop import Progress
from stepfold.loop.commands import CallKey, Command, ModelCallKey
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
    OpenCall,
    OpenRequest,
    RunEnd,
    StepResult,
    Stop,
    ToolCall,
    Usage,
)

NO_CONTEXT = JsonObject({})
"""The runtime context of a run that was given none."""

# --- phases -----------------------------------------------------------------------------------


@final
@frozen(order=False)
class Preparing:
    """The plan of a step is owed."""

    step: int
    since: Instant


@final
@frozen(order=False)
class Calling:
    """A model call is in flight.

    `attempt` counts retries of this model, `total` attempts over all models. `reserved` are
    tokens, `reserved_cost` micro-units. `wrap` is the stop that this last answer follows.
    `max_output_tokens` caps the reply to what the budgets leave.
    """

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
    def key(self) -> ModelCallKey:
        """The key of the call in flight."""
        return ModelCallKey(self.step, self.total)


@final
@frozen(order=False)
class Waiting:
    """The pause before the next attempt; `calling` is that attempt."""

    calling: Calling
    until: Instant

    @property
    def step(self) -> int:
        """The step of the attempt."""
        return self.calling.step


@final
@frozen(order=False)
class Replied:
    """The reply whose calls are being worked on, its times, and what it cost, if known."""

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
    """The calls of a step are resolved, then run.

    `unresolved` and `running` count slots; while `unresolved` is not 0, nothing runs; while
    `running` is not 0, nothing is written. `replied` is `None` where the calls are not from a
    fresh reply: in the pre-phase (step -1) and after `Blocked`. `refused` tells that the limit
    of tool calls left no room for one of them.
    """

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
    """The answer of stop conditions that need the outside world is owed.

    `answer` is what is known of a final answer before it: the output, or why it is none.
    """

    step: int
    answer: JsonText | NoOutput | None = None


@final
@frozen(order=False)
class Concluding:
    """The user's validators are asked about the output of the last step.

    `wrap` is the stop that this answer follows, if it is that of a wrap-up. `is_last` tells that
    a stop leaves no room for another.
    """

    step: int
    output: JsonText
    wrap: Stop | None = None
    is_last: bool = False


@final
@frozen(order=False)
class Resting:
    """The run rests: people or clients owe answers. Shown as `Blocked`.

    `slots` are the open ones, answered ones among them, in call order.
    """

    step: int
    slots: tuple[Slot, ...]
    refused: bool = False


@final
@frozen(order=False)
class Done:
    """The run has ended; `output` is that of a wrap-up, or of a completed run."""

    end: RunEnd[JsonText]
    output: JsonText | None = None


Phase: TypeAlias = Calling | Working | Preparing | Waiting | Checking | Concluding | Resting | Done
"""Where a run is; see the table in `stepfold.loop._step`."""


def _counted(what: str) -> Callable[[tuple[object, ...]], str]:
    """Show how many there are: a state is shown in tracebacks, where a history is in the way.

    asyncio also makes the repr of what its main task gave, whether or not anybody reads it.
    """
    return lambda items: f"<{len(items)} {what}>"


# --- the whole state --------------------------------------------------------------------------


@final
@frozen(order=False)
class Identity:
    """What changes in a run only when it is taken up again.

    `resumed` counts how often that was; `granted` is what it may spend as the run of a tool call.
    """

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
    """What was said.

    `messages` only grows. `base`, if any, is a prompt that a prepare function put in the place
    of `messages[:base_from]`. `late` are messages that came after the last step and belong to
    the next `StepResult`. `held_back` are messages that follow calls still to be run. `initial`
    is how many messages were there before the run. `runtime_context` is a JSON object of the
    user's, which a prepare function may replace.
    """

    messages: tuple[Message, ...] = field(repr=_counted("messages"))
    steps: tuple[StepResult, ...] = field(default=(), repr=_counted("steps"))
    base: tuple[Message, ...] | None = None
    base_from: int = 0
    instructions: str | None = None
    late: tuple[Message, ...] = ()
    held_back: tuple[Message, ...] = ()
    initial: int = 0
    runtime_context: JsonText = EMPTY_OBJECT

    def with_late(self, added: tuple[Message, ...]) -> "Transcript":
        """This transcript with messages that belong to no step of their own."""
        return Transcript(
            self.messages + added,
            self.steps,
            self.base,
            self.base_from,
            self.instructions,
            self.late + added,
            self.held_back,
            self.initial,
            self.runtime_context,
        )

    def with_step(self, added: tuple[Message, ...], result: StepResult) -> "Transcript":
        """This transcript with one more step and its messages."""
        return Transcript(
            self.messages + added,
            self.steps + (result,),
            self.base,
            self.base_from,
            self.instructions,
            (),
            self.held_back,
            self.initial,
            self.runtime_context,
        )

    def flushed(self) -> "Transcript":
        """This transcript with the messages that were held back at its end."""
        return Transcript(
            self.messages + self.held_back,
            self.steps,
            self.base,
            self.base_from,
            self.instructions,
            self.late,
            (),
            self.initial,
            self.runtime_context,
        )


@final
@frozen(order=False)
class Ledger:
    """What was spent. `spent` and `reserved` are tokens, as the hard budget counts them.

    `spent_cost` and `reserved_cost` are the same in micro-units. `usage` and `cost` are what the
    replies reported; `cost` is `None` as soon as that of one reply is unknown. `called` counts
    calls of known tools in replies, `issued` those that were let through to a tool here or to a
    client, both as sorted pairs. `estimate` is what the next prompt will take at least: the total
    of the last reply. What was granted to running tools is reserved, and what the runs that they
    began have spent is in all the sums: their tool calls in `total_issued`, of which
    `reserved_calls` are granted. `output_retries` counts the answers that were sent back.
    """

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
    """Steered messages: those not yet delivered, and the ids of all that ever came."""

    waiting: tuple[MessageSteered, ...] = ()
    seen: tuple[str, ...] = ()


@final
@frozen(order=False)
class Toolbox:
    """What a run remembers of its tools from step to step.

    `deferred` are the provider's calls whose results are to come in a later reply. `errors` counts
    the errors in a row of tools that have `max_retries`, as sorted pairs. `found` names the tools
    that a search has found, in the order in which they were.
    """

    deferred: tuple[ToolCall, ...] = ()
    errors: tuple[tuple[str, int], ...] = ()
    found: tuple[str, ...] = ()


EMPTY_TOOLBOX = Toolbox()
"""Nothing to remember yet."""


@final
@frozen(order=False)
class LoopState:
    """Everything about one run, as data.

    Comparable and hashable, at linear cost. `cancel_requested` is why the run shall end once the
    step in flight is over, if it shall. `call_ids` are the ids of all calls seen, derived from the
    history: neither encoded nor compared.
    """

    identity: Identity
    now: Instant
    transcript: Transcript
    ledger: Ledger
    phase: Phase
    inbox: Inbox
    toolbox: Toolbox = EMPTY_TOOLBOX
    cancel_requested: str | None = None
    call_ids: IdSet = field(default=NO_IDS, eq=False, repr=False)

    @property
    def messages(self) -> tuple[Message, ...]:
        """The history so far."""
        return self.transcript.messages

    @property
    def runtime_context(self) -> JsonObject:
        """What the run was given to hand on to tools, policies and its prepare function."""
        value = self.transcript.runtime_context.value
        return value if isinstance(value, JsonObject) else NO_CONTEXT

    @property
    def prompt(self) -> tuple[Message, ...]:
        """What a model is told next: the history, or what was put in its place, and all since."""
        said = self.transcript
        if said.base is None:
            return said.messages
        return said.base + said.messages[said.base_from :]

    @property
    def steps(self) -> tuple[StepResult, ...]:
        """The steps that have come to rest."""
        return self.transcript.steps

    @property
    def usage(self) -> Usage:
        """What all replies together reported."""
        return self.ledger.usage

    @property
    def cost(self) -> int | None:
        """What all replies together cost, in micro-units; `None` if that of one is unknown."""
        return self.ledger.cost

    @property
    def progress(self) -> Progress:
        """How far the run has come, as stop conditions see it."""
        ledger = self.ledger
        return Progress(
            self.transcript.steps,
            ledger.usage,
            self.now,
            self.identity.started,
            ledger.called,
            cost=ledger.cost,
        )


@final
@frozen(order=False)
class Transition:
    """What one event did: the next state, what to carry out, and what was decided."""

    state: LoopState
    commands: tuple[Command, ...] = ()
    notes: tuple[Note, ...] = ()


def slot_key(step: int, slot: Slot) -> CallKey:
    """The key of the work that a slot owes."""
    return CallKey(step, slot.index, slot.attempt)


def open_request(step: int, slot: Slot) -> OpenRequest | None:
    """What a person or client owes for a slot, if anything."""
    match slot.status:
        case "asked" if slot.approval is not None:
            return slot.approval.open_for(slot.call)
        case "awaited":
            return OpenCall(step, slot.index, slot.attempt, slot.call)
        case _:
            return None
