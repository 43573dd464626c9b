"""How a step comes to rest: the one way in which anything is written to the history.

Order: write the messages and the `StepResult`; the end that was already certain, if any; rest if
somebody outside owes an answer; the natural end, or an answer that has to be sent back; the stop
conditions; the hard limits, those of errors in a row among them; tell the model what is wrong with
its answer; deliver what was steered; prepare the next step; call the model.

A word from outside is a reason to go on after a final answer, and overrules neither a condition nor
a limit. If one of them leaves no room to hear it, the word is dropped and the run ends as it would
have without it: a final answer that is there is not lost to a stop. Nor does an answer that is sent
back overrule them: without room for another, the run fails for want of its output. A word that
comes while validators look at the answer is heard if they refuse it, and after it if they do not.

A run that is asked to end once its step is over writes the step in the same way. Then it ends: a
final answer is its end as always, and takes no more than its validators; where it would go on, it
is cancelled, and neither conditions nor limits are asked. Nobody outside is waited for.
"""

from typing_extensions import TypeIs

from stepfold.loop._answer import answer_in, feedback, is_final, refused_call
from stepfold.loop._budget import (
    LIMIT_TOOL_CALLS,
    allowed_output,
    at_limit,
    limit_met,
    reserved_cost,
    reserved_output,
)
from stepfold.loop._calls import given_up, issue, taken_up
from stepfold.loop._draft import Draft, Work
from stepfold.loop._granted import limits_of
from stepfold.loop._program import Program
from stepfold.loop._record import write
from stepfold.loop._retries import count_errors, retries_met
from stepfold.loop._slots import Slot
from stepfold.loop._state import (
    Calling,
    Checking,
    Concluding,
    Done,
    Inbox,
    Preparing,
    Resting,
    open_request,
)
from stepfold.loop._stop import Progress
from stepfold.loop.commands import BindOutput, CallModel, CheckStop, PrepareStep
from stepfold.loop.events import MessageSteered, StepPlan
from stepfold.loop.notes import (
    OutputRejected,
    RunBlocked,
    RunEnded,
    SteeringDelivered,
    SteeringDropped,
    StepStarted,
)
from stepfold.values import (
    Cancelled,
    Completed,
    Failed,
    Failure,
    HookFailed,
    Instant,
    JsonText,
    NoOutput,
    NoOutputCause,
    RunEnd,
    StepResult,
    Stop,
    Stopped,
    Success,
    UserMessage,
)


def advance(program: Program, out: Draft, work: Work) -> None:
    """Go on as far as the barriers allow after a slot has changed."""
    if not work.unresolved:
        if not work.running:
            issue(program, out, work)
        if not work.running:
            close(program, out, work)
            return
    out.phase = work.phase()


def close(program: Program, out: Draft, work: Work) -> None:
    """Write what is settled, then find out how the run goes on."""
    step, slots, closing = work.step, work.slots, work.closing
    if out.cancel_requested is not None and any(_is_awaited(slot) for slot in slots):
        slots[:] = [given_up(step, slot, "interrupted", INTERRUPTED, out) for slot in slots]
    if closing is not None:
        slots[:] = [given_up(step, slot, "not-run", _CLOSING, out) for slot in slots]
    write(out, work)
    if program.max_retries:
        count_errors(program, out, slots)
    replied = work.replied
    if closing is not None:
        wrap = None if replied is None else replied.wrap
        if wrap is None:
            finish(out, closing)
        else:
            conclude_wrap_up(program, out, step, wrap)
        return
    left = tuple(slot for slot in slots if slot.is_open)
    if left:
        rest(program, out, Resting(step, left, work.refused))
        return
    flush(out)
    if (not slots or program.output.needs_call is not None) and has_final_answer(program, out):
        after_final_answer(program, out, step)
    elif replied is None or not send_back_call(program, out, out.transcript.steps[-1]):
        after_step(program, out, step, refused=work.refused)


INTERRUPTED = "interrupted: the run ended while this call was open; it may or may not have run"

_CLOSING = "not run: the run ended before this call could be run"


def _is_awaited(slot: Slot) -> bool:
    """Whether somebody outside owes an answer."""
    return slot.is_open and not slot.is_held


def rest(program: Program, out: Draft, resting: Resting) -> None:
    """Rest until everything is answered; go on at once if everything is answered already."""
    step = resting.step
    if all(slot.is_held for slot in resting.slots):
        slots = [taken_up(step, slot, out) for slot in resting.slots]
        advance(program, out, Work(step, None, slots, refused=resting.refused))
        return
    open_now = tuple(
        request
        for slot in resting.slots
        if (request := open_request(step, slot)) is not None and not slot.is_held
    )
    out.notes.append(RunBlocked(open_now))
    out.phase = resting


def flush(out: Draft) -> None:
    """Append the messages that had to wait for the results of calls before them."""
    if out.transcript.held_back:
        out.transcript = out.transcript.flushed()


# --- natural end ------------------------------------------------------------------------------


def after_final_answer(
    program: Program, out: Draft, step: int, answer: JsonText | None = None
) -> None:
    """The last reply left nothing to answer: end, unless somebody has more to say.

    `answer` is the output, if it is certain already.
    """
    waiting = out.inbox.waiting
    if not waiting or out.cancel_requested is not None:
        if answer is None:
            conclude(program, out, step, is_last=False)
        else:
            finish(out, Completed(answer), answer)
        return
    if not any(item.mode == "steer" for item in waiting):
        out.inbox = _promoted(out.inbox)
    after_step(program, out, step, answer=answer)


def _promoted(inbox: Inbox) -> Inbox:
    """The inbox, in which only queued messages wait, with the first to be delivered now."""
    first, *others = inbox.waiting
    steered = MessageSteered(first.id, first.message, "steer", first.at)
    return Inbox((steered, *others), inbox.seen)


def has_final_answer(program: Program, out: Draft) -> bool:
    """Whether the last step left nothing to answer, here or by the provider, or gave the output."""
    return is_final(program, out.transcript, is_waiting=bool(out.toolbox.deferred))


def conclude(program: Program, out: Draft, step: int, *, is_last: bool) -> None:
    """End with the output that was promised, ask for it again, or end without it."""
    match answer_in(program, out.transcript):
        case Success(output):
            if needs_binding(program):
                out.commands.append(BindOutput(step))
                out.phase = Concluding(step, output, is_last=is_last)
            else:
                finish(out, Completed(output), output)
        case Failure(error):
            not_fit(program, out, step, error, is_last=is_last)


def needs_binding(program: Program) -> bool:
    """Whether an answer has to pass the user's validators; a call of a tool has passed them."""
    return program.output.binds and program.output.tool is None


def not_fit(program: Program, out: Draft, step: int, error: NoOutput, *, is_last: bool) -> None:
    """Send an answer back that is not the output, if there are retries left, or fail."""
    if is_last or not _may_retry(program, out):
        finish(out, Failed(error))
        return
    out.notes.append(OutputRejected(step, error))
    after_step(program, out, step, answer=error)


def _may_retry(program: Program, out: Draft) -> bool:
    """Whether an answer may be sent back; that is counted."""
    if out.output_retries >= program.output.retries:
        return False
    out.output_retries += 1
    return True


def send_back_call(program: Program, out: Draft, result: StepResult) -> bool:
    """Fail a run whose output tool was called wrongly once too often; its error is the feedback."""
    refused = refused_call(program, result.content)
    if refused is None:
        return False
    cause: NoOutputCause = "schema-mismatch" if refused.kind == "invalid" else "no-answer"
    finish_reason = result.finish_reason.unified
    error = NoOutput(refused.error, result.text, cause=cause, finish_reason=finish_reason)
    if _may_retry(program, out):
        out.notes.append(OutputRejected(result.step, error))
        return False
    finish(out, Failed(error))
    return True


def conclude_wrap_up(program: Program, out: Draft, step: int, wrap: Stop) -> None:
    """End with the stop that a wrap-up followed, and with its output, if it is one."""
    match answer_in(program, out.transcript):
        case Success(output) if needs_binding(program):
            out.commands.append(BindOutput(step))
            out.phase = Concluding(step, output, wrap)
        case Success(output):
            finish(out, Stopped(wrap), output)
        case Failure(_):
            finish(out, Stopped(wrap))


# --- stop, limits, next step ------------------------------------------------------------------


def after_step(
    program: Program,
    out: Draft,
    step: int,
    *,
    refused: bool = False,
    answer: JsonText | NoOutput | None = None,
) -> None:
    """There is a reason to go on: ask the stop conditions, then the limits, then take a step.

    `answer` is what is known of a final answer before it: the output, or why it is none.
    """
    if out.cancel_requested is not None:
        finish(out, Cancelled(out.cancel_requested))
        return
    if out.transcript.steps:
        verdict = ask_condition(program, out)
        if isinstance(verdict, HookFailed):
            finish(out, Failed(verdict))
            return
        if verdict is not None:
            stopped(program, out, step, verdict, answer)
            return
    limit = None
    if refused:
        limits = limits_of(program, out.identity.granted)
        limit = at_limit(LIMIT_TOOL_CALLS, out.total_issued, limits.tool_calls)
    elif out.toolbox.errors:
        limit = retries_met(program, out)
    if limit is not None:
        stopped(program, out, step, limit, answer)
    elif program.checks_stop and out.transcript.steps:
        out.commands.append(CheckStop(step))
        out.phase = Checking(step, answer)
    else:
        next_step(program, out, step + 1, answer)


def ask_condition(program: Program, out: Draft) -> Stop | HookFailed | None:
    """Ask the stop condition, which is the user's code and may be wrong."""
    steps, started = out.transcript.steps, out.identity.started
    progress = Progress(steps, out.usage, out.now, started, out.called, cost=out.cost)
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


def leave(program: Program, out: Draft, step: int, answer: JsonText | NoOutput | None) -> None:
    """Conditions were being asked when the run was told to end: do so, whatever they say."""
    if has_final_answer(program, out) and not isinstance(answer, NoOutput):
        after_final_answer(program, out, step, answer)
    else:
        after_step(program, out, step)


def next_step(
    program: Program, out: Draft, step: int, answer: JsonText | NoOutput | None = None
) -> None:
    """Take a step, if the hard limits leave room for it."""
    stop = limit_met(program, out, step, program.models[0], kept_back=True)
    if stop is not None:
        stopped(program, out, step - 1, stop, answer)
        return
    if isinstance(answer, NoOutput):
        told = UserMessage(feedback(program, answer))
        out.transcript = out.transcript.with_late((told,))
    deliver(out, step)
    if program.prepares:
        out.commands.append(PrepareStep(step))
        out.phase = Preparing(step, out.now)
    else:
        call(program, out, step, out.now, None)


def stopped(
    program: Program,
    out: Draft,
    step: int,
    stop: Stop,
    answer: JsonText | NoOutput | None = None,
) -> None:
    """Stop, after one last answer if one is wanted and the limits leave room for it.

    After a final answer the only reason to go on was what was steered, or to have the answer
    mended: see above.
    """
    if has_final_answer(program, out):
        _drop(out, stop.name)
        match answer:
            case None:
                conclude(program, out, step, is_last=True)
            case NoOutput():
                finish(out, Failed(answer))
            case _:
                finish(out, Completed(answer), answer)
        return
    wraps_up = limits_of(program, out.identity.granted).wrap_up_tokens is not None
    model = program.models[0]
    if wraps_up and limit_met(program, out, step + 1, model, kept_back=False) is None:
        call(program, out, step + 1, out.now, None, wrap=stop)
    else:
        finish(out, Stopped(stop))


def call(
    program: Program,
    out: Draft,
    step: int,
    since: Instant,
    plan: StepPlan | None,
    *,
    wrap: Stop | None = None,
) -> None:
    """Issue the first model call of a step and reserve what it may take."""
    model = program.models[0]
    if plan is not None and plan.model is not None:
        model = plan.model
        stop = limit_met(program, out, step, model, kept_back=True)  # it may be a dearer one
        if stop is not None:
            stopped(program, out, step - 1, stop)
            return
    allowed = allowed_output(program, out, plan, model, kept_back=wrap is None)
    output = reserved_output(program, plan, allowed)
    reserved, cost = out.estimate + output, reserved_cost(program, out, model, output)
    calling = Calling(step, since, model, 0, 0, reserved, plan, wrap, allowed, cost)
    out.notes.append(StepStarted(step, model))
    out.commands.append(CallModel(calling.key, model))
    out.reserved += reserved
    out.reserved_cost += cost
    out.phase = calling


def deliver(out: Draft, step: int) -> None:
    """Write the steered messages into the history, in the order in which they came."""
    waiting = out.inbox.waiting
    heard = tuple(item for item in waiting if item.mode == "steer") if waiting else ()
    if not heard:
        return
    out.notes.extend(SteeringDelivered(item.id, step) for item in heard)
    out.transcript = out.transcript.with_late(tuple(item.message for item in heard))
    out.inbox = Inbox(tuple(item for item in waiting if item.mode != "steer"), out.inbox.seen)


def finish(out: Draft, end: RunEnd[JsonText], output: JsonText | None = None) -> None:
    """End the run; what was steered and never heard is dropped, and said so."""
    flush(out)
    if out.inbox.waiting:
        _drop(out, type(end).__name__.lower())
    out.notes.append(RunEnded(end))
    out.phase = Done(end, output)


def _drop(out: Draft, reason: str) -> None:
    out.notes.extend(SteeringDropped(item.id, reason) for item in out.inbox.waiting)
    out.inbox = Inbox((), out.inbox.seen)
