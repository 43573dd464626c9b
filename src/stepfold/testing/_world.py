"""A simulated world: it answers commands, and so plays models, tools, policies and people.

An answer depends on the command and on the tables below, never on the order of asking, nor on
how often it was asked. Two schedules of one world can so be compared.
"""

import zlib
from collections.abc import Sequence
from typing import TypeVar, final

from attrs import evolve, frozen

from stepfold.loop import LoopState, Program, Resting, Slot, Working
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
    command_id,
)
from stepfold.loop.events import (
    ApprovalAnswered,
    ApprovalDecided,
    ApprovalDecision,
    CallBound,
    CallRepaired,
    Event,
    ModelFailed,
    ModelReplied,
    OutputBound,
    Spending,
    StepPlan,
    StepPrepared,
    StopChecked,
    ToolOutcome,
    ToolReturned,
    ToolStarted,
    ToolSucceeded,
    Waited,
)
from stepfold.values import (
    FinishReason,
    HookFailed,
    Instant,
    ModelErrorReason,
    ModelReply,
    OpenApproval,
    OpenRequest,
    Stop,
    Text,
    TextOutput,
    ToolCall,
    ToolResult,
    Usage,
    UsageError,
)

T = TypeVar("T")

_FINAL = ModelReply((Text("That is all."),), FinishReason("stop"), Usage(10, 5))
_STEP_TIME = 1_000_000


@final
@frozen(order=False)
class Turn:
    """What comes of the model calls of one step: attempts that fail, then a reply."""

    reply: ModelReply
    failures: tuple[ModelErrorReason, ...] = ()


@final
@frozen(order=False, kw_only=True)
class World:
    """Tables of answers; each command gets the entry that its name falls on.

    `turns` are the model's, by step; after the last one it says a final answer, with the results
    that the provider still owes. `plans` are of
    the prepare function, by step. `outcomes` are of tools and clients; `answers` tell
    whether people agree (`None`: neither they nor a client answer); `outputs` are what validators
    say of final answers. A failed attempt reports what had come of the reply until then if
    `reports_partial`. `spendings` are what the runs of tools with a grant have spent, `None` if
    nobody tells. `announces` makes the world tell of the start of idempotent tools as well.
    """

    turns: tuple[Turn, ...] = ()
    plans: tuple[StepPlan | HookFailed, ...] = ()
    repairs: tuple[str | None, ...] = (None,)
    bindings: tuple[str | None, ...] = (None,)
    refinements: tuple[str | None, ...] = (None,)
    decisions: tuple[ApprovalDecision, ...] = ("approved",)
    outcomes: tuple[ToolOutcome, ...] = (ToolSucceeded(TextOutput("done")),)
    answers: tuple[bool | None, ...] = (True,)
    stops: tuple[Stop | HookFailed | None, ...] = (None,)
    outputs: tuple[str | None, ...] = (None,)
    spendings: tuple[Spending | None, ...] = (None,)
    reports_partial: bool = False
    announces: bool = False

    def answer(self, program: Program, state: LoopState, command: Command) -> Event:
        """What comes of a command that is in flight.

        A tool that is not idempotent is announced first; the command is then asked once more.
        """
        at = self._time(state, command)
        match command:
            case CallModel(key):
                return self._model(state, command, at)
            case RunTool(key):
                slot = slot_of(state, key)
                if not slot.started and (
                    self.announces or not program.tools[command.tool_name].idempotent
                ):
                    return ToolStarted(key, at)
                spending = self._spending(command)
                outcome = self._outcome(slot)
                return ToolReturned(key, outcome, at, started=at - 1, spending=spending)
            case PrepareStep(step):
                known = step < len(self.plans)
                return StepPrepared(step, self.plans[step] if known else StepPlan(), at)
            case Wait(key):
                return Waited(key, command.until)
            case RepairCall(key):
                return CallRepaired(key, _entry(self.repairs, command_id(command)), at)
            case BindCall(key):
                error = _entry(self.bindings, command_id(command))
                text = _entry(self.refinements, command_id(command))
                spec = program.tools[slot_of(state, key).call.tool_name]
                is_refined = spec.refines and error is None
                return CallBound(key, error, at, input=text if is_refined else None)
            case ResolveApproval(key):
                decision = _entry(self.decisions, command_id(command))
                return ApprovalDecided(key, decision, at, reason="policy")
            case CheckStop(step):
                return StopChecked(step, _entry(self.stops, command_id(command)), at)
            case BindOutput(step):
                return OutputBound(step, _entry(self.outputs, command_id(command)), at)

    def reply_to(self, state: LoopState, request: OpenRequest) -> Event | None:
        """What a person or a client answers, if anybody does."""
        call = request.call
        approved = _entry(self.answers, f"{call.tool_call_id} {call.input}")
        if approved is None:
            return None
        match request:
            case OpenApproval(approval_id, _, digest):
                return ApprovalAnswered(
                    approval_id, digest, approved, state.identity.started, reason="asked"
                )
            case _:
                key = CallKey(request.step, request.index, request.attempt)
                at = state.identity.started
                return ToolReturned(key, self._outcome(slot_of(state, key)), at, started=at)

    def partial(self, step: int) -> ModelReply:
        """What had come of the reply of a step when it was cut."""
        reply = self._turn(step).reply
        return evolve(
            reply, finish_reason=FinishReason("interrupted"), usage=Usage(output_tokens=1)
        )

    def _turn(self, step: int) -> Turn:
        return self.turns[step] if step < len(self.turns) else Turn(_FINAL)

    def _model(self, state: LoopState, command: CallModel, at: Instant) -> Event:
        key = command.key
        turn = self._turn(key.step)
        if key.total < len(turn.failures):
            partial = self.partial(key.step) if self.reports_partial else None
            return ModelFailed(key, turn.failures[key.total], at, partial=partial)
        reply = turn.reply
        if key.step >= len(self.turns) and state.toolbox.deferred:
            reply = evolve(reply, content=(*_late(state.toolbox.deferred), *reply.content))
        return ModelReplied(key, reply, at, started=at - 1)

    def _outcome(self, slot: Slot) -> ToolOutcome:
        """What a tool gives: a function of the call alone, however often it runs."""
        call = slot.call
        return _entry(self.outcomes, f"{call.tool_call_id} {call.tool_name} {call.input}")

    def _spending(self, command: RunTool) -> Spending | None:
        """What the runs of a tool with a grant have spent; their calls keep to the grant."""
        grant = command.grant
        if grant is None:
            return None
        key = command.key  # but for the attempt: a child run that is resumed spends no more
        spent = _entry(self.spendings, f"{command.tool_name} {key.step} {key.index}")
        if spent is None or grant.tool_calls is None:
            return spent
        return evolve(spent, tool_calls=min(spent.tool_calls, grant.tool_calls))

    def _time(self, state: LoopState, command: Command) -> Instant:
        """When a command is answered: a function of its place, whatever else has happened."""
        match command:
            case PrepareStep(step) | CheckStop(step) | BindOutput(step):
                place = 0
            case CallModel(key) | Wait(key):
                step, place = key.step, 1 + key.total
            case _:
                step, place = command.key.step, 100 + command.key.index
        return state.identity.started + (step + 2) * _STEP_TIME + place


def _late(calls: Sequence[ToolCall]) -> tuple[ToolResult, ...]:
    """What the provider has found in the end."""
    found = TextOutput("found")
    return tuple(
        ToolResult(call.tool_call_id, call.tool_name, found, provider_executed=True)
        for call in calls
    )


def _entry(table: Sequence[T], name: str) -> T:
    if not table:
        msg = "World: expected at least one entry in every table of answers, got none"
        raise UsageError(msg)
    return table[zlib.crc32(name.encode("utf-8", "surrogatepass")) % len(table)]


def slot_of(state: LoopState, key: CallKey) -> Slot:
    """The slot that the key of a command in flight names.

    Raises:
        UsageError: the state has no such slot.
    """
    phase = state.phase
    if isinstance(phase, Working | Resting) and phase.step == key.step:
        for slot in phase.slots:
            if slot.index == key.index:
                return slot
    msg = f"expected a call that the state works on, got {key!r}"
    raise UsageError(msg)
