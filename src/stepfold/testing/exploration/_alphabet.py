"""The finite alphabet of an exploration: what may come of each command, and from outside."""

from collections.abc import Iterator
from typing import TypeAlias, final

from attrs import evolve, frozen

from stepfold.loop import (
    Done,
    LoopState,
    Program,
    Resting,
    Slot,
    Working,
    open_requests,
    pending,
)
from stepfold.loop.commands import (
    BindCall,
    BindOutput,
    CallKey,
    CallModel,
    CheckStop,
    Command,
    PrepareStep,
    RepairCall,
    ResolveApproval,
    RunTool,
    Wait,
)
from stepfold.loop.events import (
    ApprovalAnswered,
    ApprovalDecided,
    ApprovalDecision,
    CallBound,
    CallRepaired,
    Cancelled,
    CancelRequested,
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
from stepfold.testing._world import slot_of
from stepfold.values import (
    FinishReason,
    HookFailed,
    ModelErrorReason,
    ModelReply,
    OpenApproval,
    OpenRequest,
    Stop,
    Text,
    TextOutput,
    ToolCall,
    Usage,
    UsageError,
    UserMessage,
)

FINAL_REPLY = ModelReply((Text("That is all."),), FinishReason("stop"), Usage(10, 5))
"""What a model says when it has nothing more to ask of a tool."""

Pending: TypeAlias = Command | OpenRequest
"""Something that is owed: by the shell, by a person or by a client."""

_FAILS_OR_NOT: tuple[ToolOutcome, ...] = (
    ToolSucceeded(TextOutput("done")),
    ToolFailed("it broke"),
)


@final
@frozen(order=False, kw_only=True)
class Alphabet:
    """All that may happen in an exploration: each table lists the answers to one kind of question.

    `replies` are what the model may say, by step; the last entry is for all later steps, and must
    hold replies without calls, or the program limits that end the run, for it to be finite.
    `failures` are what an attempt at a model call may fail with. `outcomes` are of tools and of
    clients; `answers` of people. An empty table means that nobody answers.
    `cancels`, `cancels_after_step`, `times_out` (the whole run), `crashes` (how often a new process
    takes the run up) and `steers` (how many messages come) tell what may come from outside in every
    state.
    """

    replies: tuple[tuple[ModelReply, ...], ...] = ((FINAL_REPLY,),)
    failures: tuple[ModelErrorReason, ...] = ()
    plans: tuple[StepPlan | HookFailed, ...] = (StepPlan(),)
    repairs: tuple[str | None, ...] = (None,)
    bindings: tuple[str | None, ...] = (None,)
    decisions: tuple[ApprovalDecision, ...] = ("approved", "denied", "user-approval")
    outcomes: tuple[ToolOutcome, ...] = _FAILS_OR_NOT
    answers: tuple[bool, ...] = (True, False)
    stops: tuple[Stop | HookFailed | None, ...] = (None,)
    outputs: tuple[str | None, ...] = (None,)
    cancels: bool = True
    cancels_after_step: bool = False
    times_out: bool = False
    crashes: int = 0
    steers: int = 0

    def __attrs_post_init__(self) -> None:
        if not self.replies or not all(self.replies):
            msg = "Alphabet.replies: expected at least one reply for each step, got none"
            raise UsageError(msg)

    def events(self, program: Program, state: LoopState) -> Iterator[Event]:
        """Every event that may come next, in an order that depends on the state alone.

        Of calls that differ in nothing but their place, only the first is answered: what would
        come of the others is the same but for the names.
        """
        seen: set[Slot] = set()
        for command in pending(state):
            if not _is_mirrored(state, command, seen):
                yield from self._answers(program, state, command)
        for request in open_requests(state):
            if not _is_mirrored(state, request, seen):
                yield from self._replies_to(state, request)
        phase = state.phase
        if not isinstance(phase, Done):
            yield from self._from_outside(state, phase.step)

    def _answers(self, program: Program, state: LoopState, command: Command) -> Iterator[Event]:
        at = state.now
        match command:
            case CallModel(key):
                replies = self.replies[min(key.step, len(self.replies) - 1)]
                yield from (ModelReplied(key, reply, at, started=at) for reply in replies)
                yield from (ModelFailed(key, reason, at) for reason in self.failures)
            case RunTool(key):
                if not program.tools[command.tool_name].idempotent and not _has_started(state, key):
                    yield ToolStarted(key, at)
                    return
                spending = None if command.grant is None else Spending()
                for outcome in self.outcomes:
                    yield ToolReturned(key, outcome, at, started=at, spending=spending)
            case Wait(key):
                yield Waited(key, command.until)
            case PrepareStep(step):
                yield from (StepPrepared(step, plan, at) for plan in self.plans)
            case RepairCall(key):
                yield from (CallRepaired(key, text, at) for text in self.repairs)
            case BindCall(key):
                yield from (CallBound(key, error, at) for error in self.bindings)
            case ResolveApproval(key):
                yield from (ApprovalDecided(key, it, at) for it in self.decisions)
            case CheckStop(step):
                yield from (StopChecked(step, stop, at) for stop in self.stops)
            case BindOutput(step):
                yield from (OutputBound(step, error, at) for error in self.outputs)

    def _replies_to(self, state: LoopState, request: OpenRequest) -> Iterator[Event]:
        at = state.now
        match request:
            case OpenApproval(approval_id, _, digest):
                for approved in self.answers:
                    yield ApprovalAnswered(approval_id, digest, approved, at)
            case _:
                key = CallKey(request.step, request.index, request.attempt)
                yield from (ToolReturned(key, it, at, started=at) for it in self.outcomes)

    def _from_outside(self, state: LoopState, step: int) -> Iterator[Event]:
        at = state.now
        if self.cancels:
            yield Cancelled("enough", at)
        if self.cancels_after_step:
            yield CancelRequested("enough", at)
        if self.times_out:
            yield TimedOut("total", step, at)
        if state.identity.resumed < self.crashes:
            yield Resumed(state.identity.resumed + 1, at)
        if len(state.inbox.seen) < self.steers:
            number = str(len(state.inbox.seen) + 1)
            yield MessageSteered(number, UserMessage(f"By the way, {number}"), "steer", at)


def _has_started(state: LoopState, key: CallKey) -> bool:
    return slot_of(state, key).started


def _is_mirrored(state: LoopState, owed: Pending, seen: set[Slot]) -> bool:
    """Whether a call that differs in its place alone is answered already; it is so from now on."""
    slot = _slot(state, owed)
    if slot is None:
        return False
    approval = slot.approval
    plain = evolve(
        slot,
        index=0,
        call=evolve(slot.call, tool_call_id=""),
        approval=None if approval is None else evolve(approval, id="", signature=None),
    )
    if plain in seen:
        return True
    seen.add(plain)
    return False


def _slot(state: LoopState, owed: Pending) -> Slot | None:
    """The slot of a call of the reply at work; those of a history are named in it, and differ."""
    phase = state.phase
    if not isinstance(phase, Working | Resting) or phase.step < 0:
        return None
    match owed:
        case OpenApproval(approval_id):
            slots = (it for it in phase.slots if it.approval and it.approval.id == approval_id)
            return next(slots, None)
        case RunTool(key) | BindCall(key) | RepairCall(key) | ResolveApproval(key):
            return slot_of(state, key)
        case CallModel() | Wait() | PrepareStep() | CheckStop() | BindOutput():
            return None
        case _:
            return next((slot for slot in phase.slots if slot.index == owed.index), None)


def reply_with(*calls: tuple[str, str], step: int = 0) -> ModelReply:
    """A reply that calls tools, by name and arguments; ids tell the step and the place."""
    parts = tuple(
        ToolCall(f"call-{step}-{index}", name, text) for index, (name, text) in enumerate(calls)
    )
    return ModelReply(parts, FinishReason("tool-calls"), Usage(10, 5))
