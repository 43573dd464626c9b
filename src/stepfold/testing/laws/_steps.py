"""Laws of one transition: they hold for every state and every event."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeAlias

from stepfold.codec import encode
from stepfold.loop import (
    Calling,
    Done,
    LoopState,
    Program,
    Resting,
    Slot,
    Transition,
    Waiting,
    Working,
    convert_to_model_prompt,
    open_requests,
    pending,
    request_of,
    step,
)
from stepfold.loop.commands import CallKey, Command, ModelCallKey, RunTool
from stepfold.loop.events import (
    ApprovalAnswered,
    ApprovalDecided,
    CallBound,
    CallRepaired,
    Cancelled,
    Event,
    ModelFailed,
    ModelReplied,
    OutputBound,
    Resumed,
    StepPlan,
    StepPrepared,
    StopChecked,
    ToolFailed,
    ToolReturned,
    ToolStarted,
    ToolSucceeded,
    Waited,
)
from stepfold.testing.laws._equal import require, require_equal, rewritten
from stepfold.testing.laws._permission import arguments_fault, choice_fault, digest_of
from stepfold.values import (
    ApprovalResponse,
    AssistantMessage,
    DeniedOutput,
    ErrorTextOutput,
    FinishReason,
    IllegalEvent,
    Message,
    ModelErrorReason,
    ModelReply,
    OpenApproval,
    ToolCall,
    ToolError,
    ToolMessage,
    ToolOutput,
    ToolResult,
)
from stepfold.values import Cancelled as CancelledEnd

Reducer: TypeAlias = Callable[[Program, LoopState, Event], Transition]
"""`step`, or what stands in its place: one that another engine drives, or that somebody wraps."""

_CHANGED: Final = "step changed the state that it was given"


def step_is_deterministic(
    program: Program, state: LoopState, event: Event, *, reducer: Reducer = step
) -> None:
    """Law 1: equal inputs give equal outputs and equal bytes, also in another process.

    The state and the event are written and read again, and stepped once more.
    """
    copied_state = rewritten(state, LoopState)
    copied_event = rewritten(event, Event)
    require_equal(copied_state, state, "a state is not what it was after it was stored")
    require_equal(copied_event, event, "an event is not what it was after it was stored")
    first, again, copied = (
        _attempt(reducer, program, *inputs)
        for inputs in ((state, event), (state, event), (copied_state, copied_event))
    )
    require_equal(again, first, "step gave two different transitions for the same inputs")
    require_equal(copied, first, "step gave another transition for equal inputs that were stored")
    if isinstance(first, Transition):
        require_equal(
            encode(copied), encode(first), "equal transitions are written as different bytes"
        )


def _attempt(
    reducer: Reducer, program: Program, state: LoopState, event: Event
) -> Transition | str:
    try:
        return reducer(program, state, event)
    except IllegalEvent as error:
        return f"refused: {error}"


def step_is_total(
    program: Program, state: LoopState, event: Event, *, reducer: Reducer = step
) -> Transition | None:
    """Law 3: nothing makes `step` raise, but for an answer to something never issued.

    Gives the transition, or `None` where the event was refused; the old state stays usable.
    """
    written = encode(state)
    transition = _tried(program, state, event, reducer)
    require_equal(encode(state), written, _CHANGED)
    return transition


def _tried(program: Program, state: LoopState, event: Event, reducer: Reducer) -> Transition | None:
    try:
        return reducer(program, state, event)
    except IllegalEvent:
        return None
    except Exception as error:
        msg = f"step raised {type(error).__name__} ({error}) on {event!r:.500}"
        raise AssertionError(msg) from error


def history_only_grows(before: LoopState, after: LoopState) -> None:
    """Law 4: messages and steps are appended, and nothing that was said changes."""
    for name, old, new in (
        ("messages", before.messages, after.messages),
        ("steps", before.steps, after.steps),
    ):
        require_equal(new[: len(old)], old, f"the history did not only grow: {name} differ")


def prompt_is_paired(messages: Sequence[Message]) -> None:
    """Law 5: in a prompt each client call has exactly one answer, in the order of the calls.

    Takes messages as the history holds them, and puts them in order as for a provider.
    """
    prompt = convert_to_model_prompt(messages)
    for place, message in enumerate(prompt):
        following = prompt[place + 1] if place + 1 < len(prompt) else None
        previous = prompt[place - 1] if place else None
        if isinstance(message, AssistantMessage):
            calls = _client_calls(message)
            answers = _client_answers(following)
            require_equal(answers, calls, f"message {place} of the prompt: calls and answers")
        elif isinstance(message, ToolMessage):
            orphaned = not isinstance(previous, AssistantMessage)
            require(
                not orphaned or not _client_answers(message),
                f"message {place} of the prompt answers calls that nobody made: {message!r:.500}",
            )


def _client_calls(message: AssistantMessage) -> list[str]:
    return [
        part.tool_call_id
        for part in message.content
        if isinstance(part, ToolCall) and not part.provider_executed
    ]


def _client_answers(message: Message | None) -> list[str]:
    if not isinstance(message, ToolMessage):
        return []
    return [
        part.tool_call_id
        for part in message.content
        if isinstance(part, ToolResult) and not part.provider_executed
    ]


def request_is_paired(program: Program, state: LoopState) -> None:
    """Law 5, for the model call that is in flight, if one is."""
    if isinstance(state.phase, Calling):
        prompt_is_paired(request_of(program, state).messages)


def ends_absorb(
    program: Program, state: LoopState, event: Event, *, reducer: Reducer = step
) -> None:
    """Law 8: after an end every event gives the same state object and no commands."""
    if not isinstance(state.phase, Done):
        return
    transition = reducer(program, state, event)
    require(transition.state is state, f"an ended run was changed by {event!r:.500}")
    require_equal(transition.commands, (), "an ended run issued commands")
    require_equal(transition.notes, (), "an ended run had something to tell")


def pending_is_in_flight(in_flight: Iterable[Command], state: LoopState) -> None:
    """Law 2: `pending` lists exactly what was issued and not yet answered, each once."""
    listed = pending(state)
    require_equal(len(set(listed)), len(listed), "pending lists a command twice")
    require_equal(frozenset(listed), frozenset(in_flight), "pending, and what is in flight")


def stale_changes_nothing(
    program: Program, state: LoopState, event: Event, *, reducer: Reducer = step
) -> None:
    """Law 3: an event that came before, given again, gives the same state and no commands.

    Time-outs and cancellations apart, which speak of now.
    """
    transition = step_is_total(program, state, event, reducer=reducer)
    if transition is None:
        msg = f"an event that was legal before is refused when it comes again: {event!r:.500}"
        raise AssertionError(msg)
    require(transition.state is state, f"a run was changed by an old event: {event!r:.500}")
    require_equal(transition.commands, (), f"an old event issued commands: {event!r:.500}")


def never_issued_is_refused(program: Program, state: LoopState, *, reducer: Reducer = step) -> None:
    """Law 3: an answer to something that was never issued raises `IllegalEvent`."""
    if isinstance(state.phase, Done):
        return
    for event in forgeries(state):
        try:
            reducer(program, state, event)
        except IllegalEvent:
            continue
        msg = f"an answer to what was never issued was taken in {state.phase!r:.500}: {event!r}"
        raise AssertionError(msg)


def forgeries(state: LoopState) -> tuple[Event, ...]:
    """Answers to commands that no run can have issued in this state."""
    phase, now = state.phase, state.now
    at_step = len(state.steps) - 1 if isinstance(phase, Done) else phase.step
    reply = ModelReply((), FinishReason("stop"))
    reason = ModelErrorReason("server", "forged")
    model_keys = [ModelCallKey(at_step + 1, 0), ModelCallKey(-2, 0), ModelCallKey(at_step, -1)]
    call_keys = [CallKey(at_step + 1, 0, 0), CallKey(-2, 0, 0), CallKey(at_step, -1, 0)]
    if isinstance(phase, Calling):
        model_keys.append(ModelCallKey(at_step, phase.total + 1))
        call_keys.append(CallKey(at_step, 0, 0))
    if isinstance(phase, Working) and phase.replied is not None:
        call_keys.append(CallKey(at_step, len(phase.slots), 0))
        call_keys += [CallKey(at_step, slot.index, slot.attempt + 1) for slot in phase.slots]
    forged: list[Event] = [
        StepPrepared(at_step + 1, StepPlan(), now),
        StopChecked(at_step + 1, None, now),
        OutputBound(at_step + 1, None, now),
        Resumed(state.identity.resumed + 2, now),
    ]
    forged.append(Waited(ModelCallKey(at_step, 0), now))  # a first attempt has no pause before it
    if isinstance(phase, Waiting):
        coming = phase.calling.key
        model_keys.append(ModelCallKey(at_step, coming.total + 1))
        forged += [
            ModelReplied(coming, reply, now, started=now),
            ModelFailed(coming, reason, now),
        ]
    for model_key in model_keys:
        forged += [
            ModelReplied(model_key, reply, now, started=now),
            ModelFailed(model_key, reason, now),
            Waited(model_key, now),
        ]
    for key in call_keys:
        forged += [
            CallRepaired(key, "{}", now),
            CallBound(key, None, now),
            ApprovalDecided(key, "approved", now),
            ToolStarted(key, now),
            ToolReturned(key, ToolFailed("forged"), now, started=now),
        ]
    return tuple(forged)


def early_answer_changes_nothing(
    program: Program, state: LoopState, *, reducer: Reducer = step
) -> None:
    """Law 3: a call that waits for something else takes no result and no decision.

    Above all, a client cannot answer a call that waits for an approval.
    """
    phase, now = state.phase, state.now
    if not isinstance(phase, Working | Resting):
        return
    written = encode(state)
    for slot in phase.slots:
        key = CallKey(phase.step, slot.index, slot.attempt)
        early: dict[str, Event] = {
            "repairing": CallRepaired(key, "{}", now),
            "binding": CallBound(key, None, now),
            "deciding": ApprovalDecided(key, "approved", now),
            "running": ToolStarted(key, now),
        }
        if slot.status not in {"running", "awaited"}:
            early["awaited"] = ToolReturned(key, ToolFailed("early"), now, started=now)
        for status, event in early.items():
            if status != slot.status:
                transition = _tried(program, state, event, reducer)
                require(
                    transition is None or transition.state is state,
                    f"a call that is {slot.status} took {event!r}",
                )
    require_equal(encode(state), written, _CHANGED)


def approval_needs_its_digest(
    program: Program, state: LoopState, *, reducer: Reducer = step
) -> None:
    """Law 13: an approval counts only for exactly the arguments that were shown."""
    asked = [it for it in open_requests(state) if isinstance(it, OpenApproval)]
    if not asked:
        return
    written = encode(state)
    for request in asked:
        for approval_id, digest in (
            (request.approval_id, "0" * 64),
            (request.approval_id, ""),
            (f"{request.approval_id}'", request.digest),
        ):
            event = ApprovalAnswered(approval_id, digest, approved=True, at=state.now)
            transition = _tried(program, state, event, reducer)
            require(
                transition is None or transition.state is state,
                f"an approval was taken although its id or digest is wrong: {event!r}",
            )
    require_equal(encode(state), written, _CHANGED)


def tools_run_only_if_permitted(program: Program, transition: Transition) -> None:
    """Law 13: a tool is issued only for whole, valid, normally ended and approved calls."""
    for command in transition.commands:
        if isinstance(command, RunTool):
            phase = transition.state.phase
            if not isinstance(phase, Working):
                msg = f"{command!r} was issued outside of the work on a reply"
                raise AssertionError(msg)  # noqa: TRY004 - a law, not a type
            _permitted(program, phase, command)


def _permitted(program: Program, phase: Working, command: RunTool) -> None:
    slot = next((slot for slot in phase.slots if slot.index == command.key.index), None)
    require(slot is not None and slot.status == "running", f"{command!r} has no running slot")
    require_equal(phase.unresolved, 0, f"{command!r} was issued before all calls were resolved")
    if slot is None:
        return
    spec = program.tools.get(slot.call.tool_name)
    require(spec is not None and spec.executes, f"{command!r}: no such tool runs here")
    fault = arguments_fault(program, slot.call)
    require(fault is None, f"a tool runs with arguments that are not its own: {fault}")
    if spec is None or phase.replied is None:
        return
    finish = phase.replied.reply.finish_reason.unified
    require(finish in {"stop", "tool-calls"}, f"a tool of a reply that ended {finish} runs")
    violation = choice_fault(program, phase.replied, slot.call)
    require(violation is None, f"a tool runs although the choice was not honoured: {violation}")
    if spec.approval != "always":
        return
    approval = slot.approval
    require(approval is not None and approval.approved, f"{slot.call!r} runs without approval")
    if approval is not None:
        require_equal(approval.digest, digest_of(slot.call), "approved, and actual arguments")


def cancel_keeps_what_is_finished(
    program: Program, state: LoopState, *, reducer: Reducer = step
) -> None:
    """Law 15: cancelled at any time, a run ends, keeps all results, and can be sent again."""
    if isinstance(state.phase, Done):
        return
    after = reducer(program, state, Cancelled("law", state.now)).state
    phase = after.phase
    require(
        isinstance(phase, Done) and isinstance(phase.end, CancelledEnd),
        f"a cancelled run did not end as cancelled but in {phase!r:.500}",
    )
    history_only_grows(state, after)
    prompt_is_paired(after.messages)
    require_equal(pending(after), (), "a cancelled run owes commands")
    written = {
        part.tool_call_id: part
        for message in after.messages
        if isinstance(message, ToolMessage)
        for part in message.content
        if isinstance(part, ToolResult)
    }
    if isinstance(state.phase, Working | Resting):
        for slot in state.phase.slots:
            if slot.call.provider_executed:
                _provider_hears(after, slot)
                continue
            result = written.get(slot.call.tool_call_id)
            require(result is not None, f"a cancelled run left a call open: {slot.call!r}")
            if result is not None:
                given = _given(slot)
                kept = given is None or result.output == given
                require(kept, f"a cancelled run lost what was given: {given!r:.500}")


def _provider_hears(after: LoopState, slot: Slot) -> None:
    """The provider hears an answer to its request, if there is one, once; nothing is made up."""
    approval = slot.approval
    require(approval is not None, f"a call of the provider is worked on here: {slot.call!r}")
    if approval is None:
        return
    said = [
        part
        for message in after.messages[-2:]
        if isinstance(message, ToolMessage)
        for part in message.content
    ]
    told = [
        part.approved
        for part in said
        if isinstance(part, ApprovalResponse)
        and part.provider_executed
        and part.approval_id == approval.id
    ]
    expected = [] if approval.approved is None else [approval.approved]
    require_equal(told, expected, "what the provider hears of its request")
    made_up = [
        part
        for part in said
        if isinstance(part, ToolResult) and part.tool_call_id == slot.call.tool_call_id
    ]
    require_equal(made_up, [], "results of a call of the provider")


def _given(slot: Slot) -> ToolOutput | None:
    """What has been answered to a call, whether or not it has taken effect."""
    approval = slot.approval
    if isinstance(slot.part, ToolResult):
        return slot.part.output
    if isinstance(slot.part, ToolError):
        return ErrorTextOutput(slot.part.error)
    if slot.status == "awaited" and isinstance(slot.held, ToolSucceeded):
        return slot.held.output
    if slot.status == "awaited" and isinstance(slot.held, ToolFailed):
        return ErrorTextOutput(slot.held.message)
    if slot.status == "asked" and approval is not None and approval.approved is False:
        return DeniedOutput(approval.reason)
    return None


def end_can_be_sent(state: LoopState) -> None:
    """Law 15: the history of a run that has ended, however it ended, is a good prompt."""
    if isinstance(state.phase, Done):
        prompt_is_paired(state.messages)
        require_equal(state.ledger.reserved, 0, "an ended run has tokens reserved")
