"""How a step comes to rest: the one way in which anything is written to the history.

Order: write the messages and the `StepResult`; the end that was already certain, if any; rest if
somebody outside owes an answer; the natural end; the stop conditions; the hard limits; deliver
what was steered; prepare the next step; call the model.
"""

from typing_extensions import TypeIs

from stepfold.loop._calls import Emitted, given_up, issue, taken_up
from stepfold.loop._program import Program
from stepfold.loop._record import write
from stepfold.loop._state import (
    Calling,
    Checking,
    Done,
    Inbox,
    LoopState,
    Preparing,
    Resting,
    Working,
    open_request,
)
from stepfold.loop._stop import Progress
from stepfold.loop.commands import CallModel, CheckStop, PrepareStep
from stepfold.loop.events import MessageSteered, StepPlan
from stepfold.loop.notes import (
    RunBlocked,
    RunEnded,
    SteeringDelivered,
    SteeringDropped,
    StepStarted,
)
from stepfold.values import (
    Completed,
    Failed,
    Failure,
    HookFailed,
    JsonText,
    RunEnd,
    Stop,
    Stopped,
    Success,
)

LIMIT_STEPS = "limit-steps"
LIMIT_TOKENS = "limit-tokens"
LIMIT_TOOL_CALLS = "limit-tool-calls"


def advance(program: Program, state: LoopState, working: Working, out: Emitted) -> LoopState:
    """Go on as far as the barriers allow after a slot has changed."""
    if working.unresolved:
        return state.with_phase(working)
    if not working.running and any(slot.status == "ready" for slot in working.slots):
        state, working = issue(program, state, working, out)
    if working.running:
        return state.with_phase(working)
    return close(program, state, working, out)


def close(program: Program, state: LoopState, working: Working, out: Emitted) -> LoopState:
    """Write what is settled, then find out how the run goes on."""
    step, slots = working.step, working.slots
    if working.closing is not None:
        slots = tuple(given_up(step, slot, "not-run", _CLOSING, out) for slot in slots)
    state = write(state, working, slots, out)
    replied = working.replied
    if working.closing is not None:
        wrap = None if replied is None else replied.wrap
        output = None if wrap is None else final_output(program, state)
        return finish(state, working.closing, out, output)
    left = tuple(slot for slot in slots if slot.is_open)
    if left:
        return rest(program, state, Resting(step, left, working.refused), out)
    if state.transcript.held_back:
        state = flush(state)
    if replied is not None and not slots:
        return after_final_answer(program, state, step, out)
    return after_step(program, state, step, out, refused=working.refused)


_CLOSING = "not run: the run ended before this call could be run"


def rest(program: Program, state: LoopState, resting: Resting, out: Emitted) -> LoopState:
    """Rest until everything is answered; go on at once if everything is answered already."""
    if all(slot.is_held for slot in resting.slots):
        slots = tuple(taken_up(resting.step, slot, out) for slot in resting.slots)
        working = Working(resting.step, None, slots, 0, 0, None, resting.refused)
        return advance(program, state, working, out)
    open_now = tuple(
        request
        for slot in resting.slots
        if (request := open_request(resting.step, slot)) is not None and not slot.is_held
    )
    out.notes.append(RunBlocked(open_now))
    return state.with_phase(resting)


def flush(state: LoopState) -> LoopState:
    """Append the messages that had to wait for the results of calls before them."""
    return state.with_transcript(state.transcript.flushed(), state.phase)


# --- natural end ------------------------------------------------------------------------------


def after_final_answer(program: Program, state: LoopState, step: int, out: Emitted) -> LoopState:
    """The last reply left nothing to answer: end, unless somebody has more to say."""
    if not any(item.mode == "steer" for item in state.inbox.waiting):
        if not state.inbox.waiting:
            return complete(program, state, out)
        state = state.with_inbox(_promoted(state.inbox))
    return after_step(program, state, step, out)


def _promoted(inbox: Inbox) -> Inbox:
    """The inbox, in which only queued messages wait, with the first to be delivered now."""
    first, *others = inbox.waiting
    steered = MessageSteered(first.id, first.message, "steer", first.at)
    return Inbox((steered, *others), inbox.seen)


def complete(program: Program, state: LoopState, out: Emitted) -> LoopState:
    """End with the output that was promised, or without it."""
    match program.output.check(state.steps[-1].text):
        case Success(output):
            return finish(state, Completed(output), out, output)
        case Failure(error):
            return finish(state, Failed(error), out)


def final_output(program: Program, state: LoopState) -> JsonText | None:
    """The output of a wrap-up, if it is what was promised."""
    match program.output.check(state.steps[-1].text):
        case Success(output):
            return output
        case Failure(_):
            return None


# --- stop, limits, next step ------------------------------------------------------------------


def after_step(
    program: Program, state: LoopState, step: int, out: Emitted, *, refused: bool = False
) -> LoopState:
    """There is a reason to go on: ask the stop conditions, then the limits, then take a step."""
    if state.transcript.steps:
        verdict = ask_condition(program, state)
        if isinstance(verdict, HookFailed):
            return finish(state, Failed(verdict), out)
        if verdict is not None:
            return stopped(program, state, step, verdict, out)
    if refused:
        evidence = JsonText(f'{{"limit":{program.limits.tool_calls}}}')
        return stopped(program, state, step, Stop(LIMIT_TOOL_CALLS, evidence), out)
    if program.checks_stop and state.transcript.steps:
        out.commands.append(CheckStop(step))
        return state.with_phase(Checking(step))
    return next_step(program, state, step + 1, out)


def ask_condition(program: Program, state: LoopState) -> Stop | HookFailed | None:
    """Ask the stop condition, which is the user's code and may be wrong."""
    ledger = state.ledger
    progress = Progress(
        state.transcript.steps, ledger.usage, state.now, state.identity.started, ledger.called
    )
    try:
        verdict: object = program.stop_when(progress)
    except Exception as error:  # noqa: BLE001 - the user's code; its text is not kept
        return HookFailed("stop_when", type(error).__qualname__)
    if _is_verdict(verdict):
        return verdict
    return HookFailed(
        "stop_when", f"TypeError: returned {type(verdict).__name__}, not Stop or None"
    )


def _is_verdict(answer: object) -> TypeIs[Stop | None]:
    return answer is None or isinstance(answer, Stop)


def next_step(program: Program, state: LoopState, step: int, out: Emitted) -> LoopState:
    """Take a step, if the hard limits leave room for it."""
    stop = limit_met(program, state, step, kept_back=True)
    if stop is not None:
        return stopped(program, state, step - 1, stop, out)
    state = deliver(state, step, out)
    if program.prepares:
        out.commands.append(PrepareStep(step))
        return state.with_phase(Preparing(step, state.now))
    return call(program, state, step, state.now, None, out)


def limit_met(program: Program, state: LoopState, step: int, *, kept_back: bool) -> Stop | None:
    """The hard limit that leaves no room for a call; with `kept_back`, room for a wrap-up stays."""
    limits = program.limits
    wrap_up = limits.wrap_up_tokens if kept_back else None
    if limits.steps is not None:
        allowed = limits.steps if wrap_up is None else limits.steps - 1
        if step >= allowed:
            return Stop(LIMIT_STEPS, JsonText(f'{{"reached":{step},"limit":{limits.steps}}}'))
    if limits.tokens is not None:
        room = room_for_output(program, state, kept_back=kept_back)
        if room is not None and room <= 0:
            spent = state.ledger.spent
            return Stop(LIMIT_TOKENS, JsonText(f'{{"spent":{spent},"limit":{limits.tokens}}}'))
    return None


def room_for_output(program: Program, state: LoopState, *, kept_back: bool) -> int | None:
    """How many tokens are left for the output of the next call; `None` is no limit.

    A call whose settings ask for a number of output tokens needs room for all of them.
    """
    limits, ledger = program.limits, state.ledger
    if limits.tokens is None:
        return None
    wrap_up = (limits.wrap_up_tokens or 0) if kept_back else 0
    room = limits.tokens - wrap_up - ledger.spent - ledger.reserved - ledger.estimate
    wanted = program.settings.max_output_tokens
    return 0 if wanted is not None and wanted > room else room


def stopped(program: Program, state: LoopState, step: int, stop: Stop, out: Emitted) -> LoopState:
    """Stop, after one last answer if one is wanted and the limits leave room for it."""
    if program.limits.wrap_up_tokens is None:
        return finish(state, Stopped(stop), out)
    if limit_met(program, state, step + 1, kept_back=False) is not None:
        return finish(state, Stopped(stop), out)
    return call(program, state, step + 1, state.now, None, out, wrap=stop)


def call(
    program: Program,
    state: LoopState,
    step: int,
    since: int,
    plan: StepPlan | None,
    out: Emitted,
    *,
    wrap: Stop | None = None,
) -> LoopState:
    """Issue the first model call of a step and reserve its tokens."""
    model = program.models[0]
    if plan is not None and plan.model is not None:
        model = plan.model
    ledger = state.ledger
    wanted = program.settings.max_output_tokens
    room = room_for_output(program, state, kept_back=wrap is None)
    reserved = ledger.estimate + (wanted or 0)
    if room is not None and wanted is None:
        wanted = room
    calling = Calling(step, since, model, 0, 0, reserved, plan, wrap, wanted)
    out.notes.append(StepStarted(step, model))
    out.commands.append(CallModel(calling.key, model))
    return state.with_ledger(
        ledger.reserve(reserved),
        calling,
    )


def deliver(state: LoopState, step: int, out: Emitted) -> LoopState:
    """Write the steered messages into the history, in the order in which they came."""
    waiting = state.inbox.waiting
    heard = tuple(item for item in waiting if item.mode == "steer")
    if not heard:
        return state
    out.notes.extend(SteeringDelivered(item.id, step) for item in heard)
    messages = tuple(item.message for item in heard)
    transcript = state.transcript.with_late(messages)
    kept = tuple(item for item in waiting if item.mode != "steer")
    inbox = Inbox(kept, state.inbox.seen)
    return state.with_transcript(transcript, state.phase).with_inbox(inbox)


def finish(
    state: LoopState, end: RunEnd[JsonText], out: Emitted, output: JsonText | None = None
) -> LoopState:
    """End the run; what was steered and never heard is dropped, and said so."""
    if state.transcript.held_back:
        state = flush(state)
    if state.inbox.waiting:
        reason = type(end).__name__.lower()
        out.notes.extend(SteeringDropped(item.id, reason) for item in state.inbox.waiting)
        state = state.with_inbox(Inbox((), state.inbox.seen))
    out.notes.append(RunEnded(end))
    return state.with_phase(Done(end, output))
