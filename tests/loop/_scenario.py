"""Driving the loop by hand: short words for programs, replies and answers.

`Run` holds a state and feeds it one event after another, as a shell would; what was issued and
told is kept, so that a test can ask for it. Each event comes `TICK` after the one before.
"""

from collections.abc import Mapping
from typing import TypeVar, final

from attrs import define, field
from typing_extensions import TypedDict, Unpack

from stepfold.loop import (
    Calling,
    Checking,
    Concluding,
    Done,
    Granted,
    Limits,
    LoopState,
    OutputSpec,
    Preparing,
    Program,
    Resting,
    RetryPolicy,
    Slot,
    StopCondition,
    Timeouts,
    ToolSpec,
    Transition,
    Waiting,
    Working,
    begin,
    never,
    open_requests,
    step,
)
from stepfold.loop.commands import CallKey, Command
from stepfold.loop.events import (
    ApprovalAnswered,
    ApprovalDecided,
    ApprovalDecision,
    CallBound,
    CallRepaired,
    Cancelled,
    Event,
    MessageSteered,
    ModelFailed,
    ModelReplied,
    OutputBound,
    Resumed,
    Spending,
    StepPlan,
    StepPrepared,
    StopChecked,
    TimedOut,
    ToolFailed,
    ToolOutcome,
    ToolReturned,
    ToolStarted,
    ToolSucceeded,
    Waited,
)
from stepfold.loop.notes import Note
from stepfold.schema import SchemaFault
from stepfold.values import (
    EMPTY_OBJECT,
    NO_USAGE,
    CallSettings,
    FinishReason,
    HookFailed,
    JsonBounds,
    JsonText,
    Message,
    ModelErrorReason,
    ModelReply,
    OpenApproval,
    OpenRequest,
    Price,
    ReplyPart,
    RunEnd,
    Stop,
    Text,
    TextOutput,
    ToolCall,
    ToolChoice,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UnifiedFinishReason,
    Usage,
    UserMessage,
)

P = TypeVar("P")
N = TypeVar("N")

ONE = "acme/one"
TWO = "acme/two"
TICK = 10
SECOND = 1_000_000_000

SERVER = ModelErrorReason("server", "try later")
REFUSED = ModelErrorReason("authentication", "who are you?")


class ToolOptions(TypedDict, total=False):
    """What a tool may be beside its name."""

    executes: bool
    binds: bool
    is_output: bool
    refines: bool
    idempotent: bool
    max_retries: int | None
    defer_loading: bool
    timeout: int | None


class ProgramOptions(TypedDict, total=False):
    """What a program may be beside its tools."""

    models: tuple[str, ...]
    instructions: str
    settings: CallSettings
    tool_choice: ToolChoice
    active_tools: tuple[str, ...]
    output: OutputSpec
    stop_when: StopCondition
    limits: Limits
    prices: Mapping[str, Price]
    retry: RetryPolicy
    timeouts: Timeouts
    bounds: JsonBounds
    headers: tuple[tuple[str, str], ...]
    allow_system_messages: bool
    prepares: bool
    repairs: bool
    checks_stop: bool
    provider_options: JsonText
    tool_approval_secret: str
    version: str


def without_bad(value: object) -> tuple[SchemaFault, ...]:
    """Check an input: any object will do that has no property `bad`."""
    if not isinstance(value, dict):
        return (SchemaFault("", "expected an object"),)
    return (SchemaFault("/bad", "expected no such property"),) if "bad" in value else ()


def tool(name: str = "look", **options: Unpack[ToolOptions]) -> ToolSpec:
    """Make a tool that needs nobody's approval."""
    return ToolSpec(definition=_definition(name), check=without_bad, **options)


def guarded(name: str = "pay", **options: Unpack[ToolOptions]) -> ToolSpec:
    """Make a tool that a person has to approve."""
    return ToolSpec(definition=_definition(name), check=without_bad, approval="always", **options)


def policed(name: str = "pay", **options: Unpack[ToolOptions]) -> ToolSpec:
    """Make a tool that a policy has to approve."""
    return ToolSpec(definition=_definition(name), check=without_bad, approval="policy", **options)


def _definition(name: str) -> ToolDefinition:
    return ToolDefinition(name, f"The tool {name}.", JsonText('{"type":"object"}'))


def program(*tools: ToolSpec, **options: Unpack[ProgramOptions]) -> Program:
    """Make a program with one model, which stops for no condition unless told so."""
    options.setdefault("models", (ONE,))
    options.setdefault("stop_when", never)
    return Program(tools={spec.name: spec for spec in tools}, **options)


def call(name: str = "look", text: str = "{}", *, id: str = "c1") -> ToolCall:
    """Ask for a tool, as a model does."""
    return ToolCall(id, name, text)


def calls(*names: str) -> tuple[ToolCall, ...]:
    """Ask for these tools, under the ids c1, c2 …."""
    return tuple(call(name, id=f"c{number}") for number, name in enumerate(names, 1))


def reply_of(
    *content: ReplyPart | str,
    finish: UnifiedFinishReason | None = None,
    usage: Usage = NO_USAGE,
    raw: str | None = None,
) -> ModelReply:
    """Make a reply; it ends as the calls in it suggest, unless told otherwise."""
    parts = tuple(Text(part) if isinstance(part, str) else part for part in content)
    asks = any(isinstance(part, ToolCall) and not part.provider_executed for part in parts)
    return ModelReply(parts, FinishReason(finish or ("tool-calls" if asks else "stop"), raw), usage)


def answers_in(messages: tuple[Message, ...]) -> tuple[ToolResult, ...]:
    """List all results of a history, in its order."""
    return tuple(
        part
        for message in messages
        if isinstance(message, ToolMessage)
        for part in message.content
        if isinstance(part, ToolResult)
    )


def succeeded(text: str = "warm") -> ToolSucceeded:
    """Tell what a tool gave."""
    return ToolSucceeded(TextOutput(text))


def json(text: str) -> JsonText:
    """Write a JSON string."""
    return JsonText.of(text)


@final
@define
class Run:
    """A run, driven by hand."""

    program: Program
    transition: Transition
    commands: list[Command] = field(factory=list[Command])
    notes: list[Note] = field(factory=list[Note])

    # --- where it is --------------------------------------------------------------------------

    @property
    def state(self) -> LoopState:
        """The state now."""
        return self.transition.state

    def issued(self) -> tuple[Command, ...]:
        """What the last event issued."""
        return self.transition.commands

    @property
    def end(self) -> RunEnd[JsonText]:
        """How the run ended; it must have."""
        return self.phase(Done).end

    def open(self) -> tuple[OpenRequest, ...]:
        """What people and clients owe."""
        return open_requests(self.state)

    @property
    def answers(self) -> tuple[ToolResult, ...]:
        """All results in the history."""
        return answers_in(self.state.messages)

    def phase(self, kind: type[P]) -> P:
        """Give the phase, which must be of this kind."""
        phase = self.state.phase

        assert isinstance(phase, kind), phase
        return phase

    def told(self, kind: type[N]) -> list[N]:
        """List the notes of this kind so far."""
        return [note for note in self.notes if isinstance(note, kind)]

    # --- what happens to it -------------------------------------------------------------------

    def feed(self, event: Event) -> Transition:
        """Take any event."""
        self.transition = step(self.program, self.state, event)
        self.commands.extend(self.transition.commands)
        self.notes.extend(self.transition.notes)
        return self.transition

    @property
    def soon(self) -> int:
        """The time of the next event."""
        return self.state.now + TICK

    def reply(
        self,
        *content: ReplyPart | str,
        finish: UnifiedFinishReason | None = None,
        usage: Usage = NO_USAGE,
        raw: str | None = None,
    ) -> Transition:
        """Let the model answer."""
        reply = reply_of(*content, finish=finish, usage=usage, raw=raw)
        key = self.phase(Calling).key
        return self.feed(ModelReplied(key, reply, self.soon, started=self.state.now))

    def fail(
        self, reason: ModelErrorReason = SERVER, *, partial: ModelReply | None = None
    ) -> Transition:
        """Let the model call fail."""
        return self.feed(ModelFailed(self.phase(Calling).key, reason, self.soon, partial=partial))

    def wait(self) -> Transition:
        """Let the pause pass."""
        waiting = self.phase(Waiting)
        return self.feed(Waited(waiting.calling.key, waiting.until))

    def prepare(self, plan: StepPlan | HookFailed) -> Transition:
        """Let the prepare function answer."""
        return self.feed(StepPrepared(self.phase(Preparing).step, plan, self.soon))

    def check(self, stop: Stop | HookFailed | None = None) -> Transition:
        """Let the conditions that need the outside world answer."""
        return self.feed(StopChecked(self.phase(Checking).step, stop, self.soon))

    def bind_output(self, error: str | None = None) -> Transition:
        """Let the validators of the output answer."""
        return self.feed(OutputBound(self.phase(Concluding).step, error, self.soon))

    def slot(self, index: int = 0) -> Slot:
        """Give the call of this index."""
        phase = self.state.phase

        assert isinstance(phase, Working | Resting), phase
        return next(slot for slot in phase.slots if slot.index == index)

    def key(self, index: int = 0) -> CallKey:
        """Name the attempt at the call of this index."""
        phase = self.state.phase

        assert isinstance(phase, Working | Resting), phase
        return CallKey(phase.step, index, self.slot(index).attempt)

    def start(self, index: int = 0) -> Transition:
        """Let a tool start."""
        return self.feed(ToolStarted(self.key(index), self.soon))

    def finish(
        self,
        index: int = 0,
        outcome: ToolOutcome | str = "warm",
        *,
        took: int = TICK,
        spending: Spending | None = None,
    ) -> Transition:
        """Let a tool return, or a client answer."""
        given = succeeded(outcome) if isinstance(outcome, str) else outcome
        key, at = self.key(index), self.soon
        return self.feed(ToolReturned(key, given, at, started=at - took, spending=spending))

    def break_down(self, index: int = 0, message: str = "no") -> Transition:
        """Let a tool fail."""
        return self.finish(index, ToolFailed(message))

    def repair(self, index: int = 0, text: str | None = None) -> Transition:
        """Let the repair hook answer."""
        return self.feed(CallRepaired(self.key(index), text, self.soon))

    def bind(
        self, index: int = 0, error: str | None = None, *, refined: str | None = None
    ) -> Transition:
        """Let the user's validators answer, and the refine hook."""
        return self.feed(CallBound(self.key(index), error, self.soon, input=refined))

    def decide(
        self, decision: ApprovalDecision, index: int = 0, *, reason: str | None = None
    ) -> Transition:
        """Let the policy answer."""
        return self.feed(ApprovalDecided(self.key(index), decision, self.soon, reason=reason))

    def approval(self, index: int = 0) -> OpenApproval:
        """Give the open request for the approval of the call of this index."""
        wanted = self.slot(index).call.tool_call_id
        return next(
            request
            for request in self.open()
            if isinstance(request, OpenApproval) and request.call.tool_call_id == wanted
        )

    def answer(
        self, index: int = 0, *, approved: bool = True, reason: str | None = None
    ) -> Transition:
        """Let a person answer."""
        request = self.approval(index)
        return self.feed(
            ApprovalAnswered(
                request.approval_id, request.digest, approved, self.soon, reason=reason
            )
        )

    def steer(self, text: str, *, id: str = "m1") -> Transition:
        """Let somebody speak to the running model."""
        return self.feed(MessageSteered(id, UserMessage(text), "steer", self.soon))

    def queue(self, text: str, *, id: str = "q1") -> Transition:
        """Let somebody speak to the model once it has given its final answer."""
        return self.feed(MessageSteered(id, UserMessage(text), "queue", self.soon))

    def cancel(self, *, partial: ModelReply | None = None) -> Transition:
        """Let somebody end the run."""
        return self.feed(Cancelled("enough", self.soon, partial=partial))

    def time_out(self, *, partial: ModelReply | None = None) -> Transition:
        """Let the time of the run be over."""
        return self.feed(TimedOut("total", 0, self.soon, partial=partial))

    def resume(self) -> Transition:
        """Let a new process take the run up."""
        return self.feed(Resumed(self.state.identity.resumed + 1, self.soon))


def started(
    program: Program,
    prompt: str | list[Message] = "Is it warm?",
    *,
    at: int = 0,
    seed: int = 7,
    runtime_context: JsonText = EMPTY_OBJECT,
    granted: Granted | None = None,
) -> Run:
    """Begin a run named `r`."""
    transition = begin(
        program,
        prompt,
        run="r",
        seed=seed,
        at=at,
        runtime_context=runtime_context,
        granted=granted,
    )
    return Run(program, transition, list(transition.commands), list(transition.notes))


def digest_of(text: str) -> str:
    """Give the digest that an approval of these arguments is for."""
    return JsonText(text).digest()


EMPTY_DIGEST = EMPTY_OBJECT.digest()
