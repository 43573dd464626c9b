"""Model calls: what a reply means, and what is done when there is none."""

from collections.abc import Mapping, Sequence

from attrs import evolve

from stepfold.loop._budget import (
    allowed_output,
    limit_met,
    reserved_cost,
    reserved_output,
    settle_attempt,
    settle_reply,
)
from stepfold.loop._calls import admit, closed, fault_of
from stepfold.loop._close import INTERRUPTED, advance, finish
from stepfold.loop._deferred import with_deferred
from stepfold.loop._draft import Draft, Work
from stepfold.loop._fold import normal_reply, unused_id
from stepfold.loop._ids import IdSet
from stepfold.loop._offer import tool_choice_of, visible_tools
from stepfold.loop._program import Program, ToolSpec
from stepfold.loop._provider_approval import ask_for_provider, asked_in
from stepfold.loop._record import write
from stepfold.loop._retry import pause_before_retry
from stepfold.loop._slots import Slot, slot_of
from stepfold.loop._state import Calling, Replied, Waiting
from stepfold.loop.commands import CallModel, Wait
from stepfold.loop.events import ModelFailed, ModelReplied
from stepfold.loop.notes import ModelRetried
from stepfold.values import (
    ApprovalRequest,
    Cancelled,
    Failed,
    JsonText,
    ModelErrorReason,
    ModelReply,
    NamedTool,
    ReplyPart,
    RunEnd,
    Stop,
    Stopped,
    ToolCall,
    ToolChoice,
    ToolChoiceViolated,
    ToolError,
    ToolResult,
    without_lone_surrogates,
)

NORMAL = frozenset({"stop", "tool-calls"})

REJECTED = frozenset(
    {
        "authentication",
        "permission",
        "not-found",
        "bad-request",
        "context-length",
        "content-filter",
        "rate-limit",
        "quota",
        "overloaded",
    }
)
"""Failures that a provider reports before it does any work, so that nothing was spent."""


# --- a reply ----------------------------------------------------------------------------------


def on_reply(program: Program, out: Draft, calling: Calling, event: ModelReplied) -> None:
    """Take in a reply: settle its tokens, name its calls, and let them be worked on."""
    reply, made = taken_in(program, out, calling.step, event.reply)
    cost = settle_reply(program, out, calling, reply.usage)
    _count(program, out, made)
    asked = asked_in(reply.content)
    if program.provider_tools or out.toolbox.deferred:
        reply = with_deferred(program, out, reply, made, asked)
    visible = visible_tools(program, out.toolbox, calling.plan)
    replied = Replied(
        reply,
        calling.model,
        calling.since,
        event.started,
        out.now,
        event.first_output,
        event.gaps,
        calling.wrap,
        calling.plan,
        cost,
    )
    step = calling.step
    calls = [made_here for made_here in made if not made_here.provider_executed]
    closing = closing_end(program, calling, reply, made)
    if out.toolbox.deferred and not calls and calling.wrap is None and _is_paused(closing):
        closing = None  # the provider is not done with the calls that it answers itself
    if closing is None and reply.finish_reason.unified in NORMAL:
        if asked:
            calls = [one for one in made if not one.provider_executed or one.tool_call_id in asked]
        slots = [
            ask_for_provider(step, slot_of(index, call), asked[call.tool_call_id], out)
            if call.provider_executed
            else admit(program, visible, step, slot_of(index, call), out)
            for index, call in enumerate(calls)
        ]
        unresolved = 0
        for slot in slots:
            unresolved += slot.is_unresolved
        advance(program, out, Work(step, replied, slots, unresolved=unresolved))
        return
    faults = [fault_of(program, visible, call) for call in calls]
    violated = isinstance(closing, Failed) and isinstance(closing.error, ToolChoiceViolated)
    if calls and not violated and calling.wrap is None and all(f is not None for f in faults):
        closing = None  # only errors to tell: the model may repair them in another step
    may_give = calling.wrap is not None and reply.finish_reason.unified in NORMAL
    slots = [
        admit(program, visible, step, slot, out)
        if may_give and call.tool_name == program.output.tool
        else _not_run(step, slot, fault, reply, out)
        for call, fault, slot in (
            (call, fault, slot_of(index, call))
            for index, (call, fault) in enumerate(zip(calls, faults, strict=True))
        )
    ]
    unresolved = sum(slot.is_unresolved for slot in slots)
    advance(program, out, Work(step, replied, slots, unresolved=unresolved, closing=closing))


def _is_paused(closing: RunEnd[JsonText] | None) -> bool:
    """Whether a reply ended for a reason of the provider's own, as one does that is to go on."""
    return isinstance(closing, Stopped) and closing.stop.name == "other"


def _not_run(step: int, slot: Slot, fault: str | None, reply: ModelReply, out: Draft) -> Slot:
    reason = reply.finish_reason.unified
    if fault is not None:
        cut = "" if reason in NORMAL else f"; the reply ended: {reason}"
        return closed(step, slot, "invalid", f"{fault}{cut}", out)
    why = "the tool choice was not honoured" if reason in NORMAL else f"the reply ended: {reason}"
    return closed(step, slot, "not-run", f"not run: {why}", out)


def closing_end(
    program: Program, calling: Calling, reply: ModelReply, made: Sequence[ToolCall]
) -> RunEnd[JsonText] | None:
    """The end that a reply makes certain, if any; `made` are its calls."""
    if calling.wrap is not None:
        return Stopped(calling.wrap)
    finish_reason = reply.finish_reason
    choice = tool_choice_of(program, calling)
    calls = tuple(one.tool_name for one in made)
    violation = _violation(choice, calls, finish_reason.unified)
    if violation is not None:
        return Failed(violation)
    if finish_reason.unified in NORMAL:
        return None
    raw = None if finish_reason.raw is None else without_lone_surrogates(finish_reason.raw[:200])
    if finish_reason.unified == "error":
        message = "the model ended its reply with an error"
        return Failed(ModelErrorReason("unknown", message, code=raw))
    evidence = JsonText.of({"raw": raw})
    return Stopped(Stop(finish_reason.unified, evidence))


def _violation(
    choice: ToolChoice, calls: tuple[str, ...], finish: str
) -> ToolChoiceViolated | None:
    match choice:
        case "none":
            if not calls:
                return None
            return ToolChoiceViolated(f"expected no tool call, got one of {calls[0][:100]!r}")
        case "required":
            if calls or finish not in NORMAL:
                return None
            return ToolChoiceViolated("expected a tool call, got none")
        case NamedTool(name):
            if name in calls or finish not in NORMAL:
                return None
            got = ", ".join(sorted(set(calls)))[:200] or "no call"
            return ToolChoiceViolated(f"expected a call of {name}, got {got}")
        case _:  # any reply honours "auto"
            return None


def taken_in(
    program: Program, out: Draft, step: int, given: ModelReply
) -> tuple[ModelReply, list[ToolCall]]:
    """A reply as the history holds it: without empty text, its calls under unique ids and marked.

    Gives its calls too, those among them that the provider answers.
    """
    reply = normal_reply(given)
    calls = [part for part in reply.content if isinstance(part, ToolCall)]
    if not calls:
        return reply, calls
    seen = out.call_ids
    ids = {call.tool_call_id for call in calls}
    if len(ids) < len(calls) or "" in ids or any(map(seen.__contains__, ids)):
        reply = _renamed(reply, seen, f"{out.run}/{step}")
        calls = [part for part in reply.content if isinstance(part, ToolCall)]
        ids = {call.tool_call_id for call in calls}
    out.call_ids = seen.adding(ids)
    if program.marked_tools:
        reply = _marked(reply, program.marked_tools)
        calls = [part for part in reply.content if isinstance(part, ToolCall)]
    return reply, calls


def _marked(reply: ModelReply, tools: Mapping[str, ToolSpec]) -> ModelReply:
    """Say on each client call of these tools what they are."""
    content: list[ReplyPart] = []
    for part in reply.content:
        if isinstance(part, ToolCall) and not part.provider_executed and part.tool_name in tools:
            tool = tools[part.tool_name]
            dynamic = part.dynamic or tool.dynamic
            content.append(
                evolve(part, dynamic=dynamic, title=tool.title, tool_metadata=tool.metadata)
            )
        else:
            content.append(part)
    return evolve(reply, content=tuple(content))


def _renamed(reply: ModelReply, seen: IdSet, prefix: str) -> ModelReply:
    """Name calls whose id is blank or taken after their position, and what speaks of them."""
    taken: list[str] = []
    named: dict[str, str] = {}
    content: list[ReplyPart] = []
    for part in reply.content:
        match part:
            case ToolCall(call_id):
                name = call_id
                if not call_id or call_id in taken or call_id in seen:
                    name = unused_id(f"{prefix}/{len(taken)}", seen, taken)
                taken.append(name)
                named[call_id] = name
                content.append(part if name == call_id else evolve(part, tool_call_id=name))
            case ToolResult(call_id) | ToolError(call_id) | ApprovalRequest(_, call_id):
                name = named.get(call_id, call_id)
                content.append(part if name == call_id else evolve(part, tool_call_id=name))
            case _:
                content.append(part)
    return evolve(reply, content=tuple(content))


# --- what was called --------------------------------------------------------------------------


def _count(program: Program, out: Draft, made: Sequence[ToolCall]) -> None:
    """Count the calls of a reply whose tools are known."""
    names = [call.tool_name for call in made if call.tool_name in program.tool_names]
    if names:
        out.called = _counted(out.called, names)


def _counted(counts: tuple[tuple[str, int], ...], names: list[str]) -> tuple[tuple[str, int], ...]:
    table = dict(counts)
    for name in names:
        table[name] = table.get(name, 0) + 1
    return tuple(sorted(table.items()))


# --- no reply ---------------------------------------------------------------------------------


def on_failure(program: Program, out: Draft, calling: Calling, event: ModelFailed) -> None:
    """Retry, ask the next model, or end; what a rejected request cost is nothing."""
    reason = event.reason
    partial, was_refused = event.partial, reason.kind in REJECTED
    cost = settle_attempt(program, out, calling, partial, was_refused=was_refused)
    place = f"{calling.step}/{calling.total}"
    pause = pause_before_retry(program.retry, calling.attempt, reason, out.identity.seed, place)
    following = next_model(program, calling, reason)
    if out.cancel_requested is not None and (pause is not None or following is not None):
        if partial is not None and partial.content:
            write_partial(program, out, calling, partial, INTERRUPTED, cost)
        finish(out, Cancelled(out.cancel_requested))
        return
    if pause is not None:
        until = out.now + pause
        again = evolve(calling, attempt=calling.attempt + 1, total=calling.total + 1)
        out.notes.append(ModelRetried(calling.step, again.total, again.model, reason, until))
        out.commands.append(Wait(again.key, until))
        out.phase = Waiting(again, until)
        return
    if following is not None:
        again = evolve(calling, model=following, attempt=0, total=calling.total + 1)
        out.notes.append(ModelRetried(calling.step, again.total, following, reason, out.now))
        recall(program, out, again)
        return
    if partial is not None and partial.content:
        write_partial(program, out, calling, partial, f"not run: {reason.kind}", cost)
    finish(out, Failed(reason) if calling.wrap is None else Stopped(calling.wrap))


def recall(program: Program, out: Draft, calling: Calling) -> None:
    """Make another attempt, if the budgets still leave room for it."""
    model, kept_back = calling.model, calling.wrap is None
    stop = limit_met(program, out, calling.step, model, kept_back=kept_back)
    if stop is not None:
        finish(out, Stopped(calling.wrap or stop))
        return
    # failed attempts may have used up some room
    allowed = allowed_output(program, out, calling.plan, model, kept_back=kept_back)
    output = reserved_output(program, calling.plan, allowed)
    cost = reserved_cost(program, out, model, output)
    calling = evolve(calling, max_output_tokens=allowed, reserved_cost=cost)
    out.commands.append(CallModel(calling.key, model))
    out.reserved += calling.reserved
    out.reserved_cost += calling.reserved_cost
    out.phase = calling


def next_model(program: Program, calling: Calling, reason: ModelErrorReason) -> str | None:
    """The model that follows one that could not answer; that of a plan is the first of its step."""
    models, plan = program.models, calling.plan
    if plan is not None and plan.model is not None:
        models = (plan.model, *(name for name in models if name != plan.model))
    if reason.kind not in program.retry.fallback_on or calling.model not in models:
        return None
    place = models.index(calling.model) + 1
    return models[place] if place < len(models) else None


def write_partial(
    program: Program,
    out: Draft,
    calling: Calling,
    partial: ModelReply,
    message: str,
    cost: int | None,
) -> None:
    """Keep what had come of a reply when it was cut; its calls are closed, none is run."""
    reply, made = taken_in(program, out, calling.step, partial)
    since = calling.since
    replied = Replied(reply, calling.model, since, since, out.now, cost=cost)
    slots = [
        closed(calling.step, slot_of(index, call), "interrupted", message, out)
        for index, call in enumerate(one for one in made if not one.provider_executed)
    ]
    write(out, Work(calling.step, replied, slots))
