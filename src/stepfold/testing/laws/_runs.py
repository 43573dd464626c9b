"""Laws of whole runs: of journals, of the order of answers, of crashes."""

import json
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet

from attrs import evolve

from stepfold.codec import encode
from stepfold.loop import (
    Calling,
    Done,
    JournalEntry,
    JournalHeader,
    LoopState,
    Program,
    Transition,
    Working,
    replay,
    request_of,
)
from stepfold.loop.commands import CallKey, RunTool
from stepfold.loop.events import (
    ApprovalAnswered,
    ApprovalDecided,
    CallBound,
    CallRepaired,
    Cancelled,
    Event,
    Resumed,
    TimedOut,
    ToolStarted,
)
from stepfold.testing._simulation import Moment, Trace
from stepfold.testing.laws import _steps as laws
from stepfold.testing.laws._budgets import (
    Place,
    budgets_hold,
    cost_is_that_of_the_replies,
    cost_keeps_its_limit,
    grants_keep_the_limits,
    tokens_keep_their_limit,
    tool_calls_keep_their_limits,
)
from stepfold.testing.laws._equal import require, require_equal, rewritten
from stepfold.testing.laws._permission import arguments_fault, digest_if_any, digest_of
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    Completed,
    DeniedOutput,
    Failure,
    Message,
    Success,
    TextOutput,
    ToolCall,
    ToolError,
    ToolMessage,
    ToolPart,
    ToolResult,
    UserMessage,
)


def every_law_holds(trace: Trace) -> None:
    """All laws of one run in a simulated world: the one line for your own program.

        laws.every_law_holds(simulate(program, "Hello", World(), Schedule((1, 0))))

    They are checked at every state and every event. Whether two schedules agree
    (`same_history`) is for two traces.
    """
    program, start = trace.program, trace.start
    laws.pending_is_in_flight(start.commands, start.state)
    for moment in trace.moments:
        _moment_is_lawful(program, moment)
    for state in trace.states:
        _state_is_lawful(program, state)
    for transition in trace.transitions:
        laws.tools_run_only_if_permitted(program, transition)
        grants_keep_the_limits(program, transition)
    run_is_replayable(program, trace.header, trace.entries, trace.end)
    old_events_change_nothing(trace)
    tools_start_at_most_once(trace)
    tool_calls_keep_their_limits(trace)
    tokens_keep_their_limit(trace)
    cost_keeps_its_limit(trace)
    policies_are_asked(trace)
    nothing_said_is_lost(trace)
    repairs_count(trace)
    provider_results_are_awaited(trace)
    errors_in_a_row_are_bounded(trace)
    tools_are_found_before_they_run(trace)


def _moment_is_lawful(program: Program, moment: Moment) -> None:
    laws.step_is_total(program, moment.before, moment.event)
    laws.step_is_deterministic(program, moment.before, moment.event)
    laws.history_only_grows(moment.before, moment.after)
    laws.ends_absorb(program, moment.before, moment.event)
    laws.pending_is_in_flight(moment.in_flight, moment.after)
    if isinstance(moment.event, Resumed) and moment.transition is not None and moment.changed:
        nothing_runs_twice(program, moment.before, moment.transition)
    if moment.transition is not None and not moment.changed:
        require_equal(moment.transition.commands, (), "an event without effect issued commands")
        require_equal(moment.transition.notes, (), "an event without effect was told of")
    require(moment.after.now >= moment.before.now, "time ran back")


def _state_is_lawful(program: Program, state: LoopState) -> None:
    laws.request_is_paired(program, state)
    budgets_hold(program, state)
    cost_is_that_of_the_replies(program, state)
    laws.never_issued_is_refused(program, state)
    laws.early_answer_changes_nothing(program, state)
    laws.approval_needs_its_digest(program, state)
    laws.cancel_keeps_what_is_finished(program, state)
    laws.end_can_be_sent(state)


def run_is_replayable(
    program: Program, header: JournalHeader, entries: Sequence[JournalEntry], state: LoopState
) -> None:
    """Law 2: folding the journal gives the state that was reached, byte for byte.

    The journal is written and read again first.
    """
    header = rewritten(header, JournalHeader)
    stored = [rewritten(entry, JournalEntry) for entry in entries]
    match replay(program, header, stored):
        case Success(reached):
            require_equal(reached, state, "a replayed run reached another state")
            require_equal(encode(reached), encode(state), "a replayed run has other bytes")
        case Failure(diverged):
            msg = f"a run cannot be replayed from its own journal: {diverged}"
            raise AssertionError(msg)


def old_events_change_nothing(trace: Trace) -> None:
    """Law 3: every event that came before, given again at any later state, changes nothing."""
    seen: list[Event] = []
    for moment in trace.moments:
        for event in seen:
            laws.stale_changes_nothing(trace.program, moment.before, event)
        if moment.changed and not isinstance(moment.event, TimedOut | Cancelled):
            seen.append(moment.event)


def same_history(one: LoopState, other: LoopState) -> None:
    """Law 6: two orders of answers to the same commands end in the same history."""
    require_equal(_written(one.messages), _written(other.messages), "two orders gave two histories")


def same_run(one: LoopState, other: LoopState) -> None:
    """Two runs that may differ in time alone: messages, steps, figures and end."""
    same_history(one, other)
    require_equal(
        _timeless(one),
        _timeless(other),
        "two runs differ in more than time",
    )


def _timeless(state: LoopState) -> tuple[object, ...]:
    steps = tuple(
        (
            step.step,
            step.model,
            step.content,
            step.finish_reason,
            step.usage,
            step.warnings,
            step.response,
            step.provider_metadata,
            step.late,
        )
        for step in state.steps
    )
    return steps, state.ledger, type(state.phase), getattr(state.phase, "end", None)


def _written(messages: Iterable[Message]) -> list[bytes]:
    return [encode(message) for message in messages]


def repairs_count(trace: Trace) -> None:
    """What a hook gave is what runs, what is asked about, and what the history holds.

    Refined arguments that the tool does not take are no arguments: the call is refused as it was.
    """
    for moment in trace.moments:
        match moment.event:
            case CallBound(key, None, input=str(text)) if moment.changed:
                call = _call_at(moment.before, key.step, key.index)
                if call is None or arguments_fault(trace.program, evolve(call, input=text)):
                    continue
                held = _inputs_of(moment.after, call.tool_call_id)
                require(text in held, f"a refined call has the arguments {held}, not {text!r:.500}")
            case CallRepaired(key, text) if moment.changed and text is not None:
                call = _call_at(moment.before, key.step, key.index)
                held = [] if call is None else _inputs_of(moment.after, call.tool_call_id)
                require(
                    text in held, f"a repaired call has the arguments {held}, not {text!r:.500}"
                )
            case _:
                pass


def _inputs_of(state: LoopState, call_id: str) -> list[str]:
    """The arguments of a call that is at work, else as the history holds them."""
    at_work = (slot.call for slot in getattr(state.phase, "slots", ()))
    written = (
        part
        for message in state.messages
        if isinstance(message, AssistantMessage)
        for part in message.content
        if isinstance(part, ToolCall)
    )
    return [call.input for call in (*at_work, *written) if call.tool_call_id == call_id]


def nothing_said_is_lost(trace: Trace) -> None:
    """Law 4: whenever a model is asked, and at the end, all that people said is in the history.

    Messages that follow an open call have to wait for its result; they are not dropped.
    """
    said = [message for message in trace.header.messages if isinstance(message, UserMessage)]
    for state in trace.states:
        if isinstance(state.phase, Calling | Done):
            heard = iter(state.messages)
            for message in said:
                require(message in heard, f"what was said is not in the history: {message!r:.500}")


# --- tools ------------------------------------------------------------------------------------


def tools_start_at_most_once(trace: Trace) -> None:
    """Law 14: no call of a tool that is not idempotent starts twice, crashes or not."""
    started: set[Place] = set()
    for moment in trace.moments:
        if isinstance(moment.event, ToolStarted) and moment.changed:
            key = moment.event.key
            slot = _call_at(moment.before, key.step, key.index)
            spec = None if slot is None else trace.program.tools.get(slot.tool_name)
            if spec is not None and not spec.idempotent:
                place = (key.step, key.index)
                require(place not in started, f"{slot!r} started twice and is not idempotent")
                started.add(place)


def provider_results_are_awaited(trace: Trace) -> None:
    """A call whose result the provider may give later keeps the run going until it is there.

    What is owed is read off the history of each state, and no run is complete that is owed any.
    """
    tools = trace.program.provider_tools.values()
    slow = {tool.name for tool in tools if tool.supports_deferred_results}
    for state in trace.states:
        phase = state.phase
        if isinstance(phase, Done):
            if isinstance(phase.end, Completed):
                require_equal(state.toolbox.deferred, (), "a run ended that was owed results")
            continue
        owed: dict[str, ToolCall] = {}
        contents = [step.content for step in state.steps]
        if isinstance(phase, Working) and phase.replied is not None:
            contents.append(phase.replied.reply.content)
        for content in contents:
            owed |= {
                part.tool_call_id: part
                for part in content
                if isinstance(part, ToolCall) and part.provider_executed and part.tool_name in slow
            }
            for part in content:
                if isinstance(part, ToolResult | ToolError) and part.provider_executed:
                    owed.pop(part.tool_call_id, None)
        require_equal(state.toolbox.deferred, tuple(owed.values()), "results that are owed")


def errors_in_a_row_are_bounded(trace: Trace) -> None:
    """No model is asked again after more errors of a tool in a row than the tool bears.

    But for the last answer of a wrap-up. Counted in the steps, where no answer came after its step.
    """
    for state in trace.states:
        phase = state.phase
        if not isinstance(phase, Calling) or phase.wrap is not None:
            continue
        if any(isinstance(message, ToolMessage) for step in state.steps for message in step.late):
            continue
        if any(isinstance(message, ToolMessage) for message in state.transcript.late):
            continue
        for name, most in trace.program.max_retries.items():
            count = 0
            for part in (part for step in state.steps for part in step.content):
                match part:
                    case ToolError(_, called, kind="invalid" | "failed" | "timeout"):
                        count += called == name
                    case ToolResult(_, called, output) if called == name:
                        count = count if isinstance(output, DeniedOutput) else 0
                    case _:
                        pass
            require(count <= most, f"{count} errors of {name} in a row, and it bears {most}")


def tools_are_found_before_they_run(trace: Trace) -> None:
    """A tool that is hidden until it is found is offered, and runs, only after a search found it.

    What was found is read off the results of searches in the steps before.
    """
    tools = trace.program.tools
    hidden = {name for name, tool in tools.items() if tool.defer_loading}
    searches = {name for name, tool in tools.items() if tool.searches is not None}
    for state in trace.states:
        if not isinstance(state.phase, Calling):
            continue
        found = {
            match["name"]
            for step in state.steps
            for part in step.tool_results
            if part.tool_name in searches
            for match in json.loads(part.json.text)["tools"]
        }
        offered = {tool.name for tool in request_of(trace.program, state).tools}
        require(
            offered & hidden <= found,
            f"{sorted(offered & hidden)} were offered, and {sorted(found)} had been found",
        )
    _hidden_tools_do_not_run(trace, hidden)


def _hidden_tools_do_not_run(trace: Trace, hidden: AbstractSet[str]) -> None:
    for moment in trace.moments:
        for command in () if moment.transition is None else moment.transition.commands:
            if isinstance(command, RunTool) and command.key.step >= 0:
                found = moment.after.toolbox.found
                is_known = command.tool_name not in hidden or command.tool_name in found
                require(is_known, f"{command!r} runs a tool that was not found")


def policies_are_asked(trace: Trace) -> None:
    """Law 13: a call that needs a policy or a person runs only after a yes, for its arguments.

    A call of the history needs it from a person; a policy, which is asked about it again, can only
    say no.
    """
    agreed: set[Place] = set()
    refused: set[Place] = set()
    digests = dict.fromkeys(_approved_before(trace.header.messages), True)
    for moment in trace.moments:
        match moment.event:
            case ApprovalDecided(key, decision) if moment.changed:
                if decision == "denied":
                    refused.add((key.step, key.index))
                elif decision != "user-approval" and key.step >= 0:
                    agreed.add((key.step, key.index))
            case ApprovalAnswered(_, digest, approved) if moment.changed:
                digests[digest] = digests.get(digest, False) or approved
            case _:
                pass
        if moment.transition is None:
            continue
        for command in moment.transition.commands:
            if not isinstance(command, RunTool):
                continue
            call = _call_at(moment.after, command.key.step, command.key.index)
            spec = trace.program.tools[command.tool_name]
            if call is None or (spec.approval == "never" and command.key.step >= 0):
                continue
            place = (command.key.step, command.key.index)
            yes = place in agreed or digests.get(digest_of(call), False)
            require(yes, f"{call!r} runs, and nobody has agreed")
            require(place not in refused, f"{call!r} runs, and the policy has denied it")


def _approved_before(messages: Sequence[Message]) -> Iterator[str]:
    """The digests of the arguments that were approved in a history."""
    responses: dict[str, bool] = {}
    for message in messages:
        for part in message.content:
            if isinstance(part, ApprovalResponse):
                responses.setdefault(part.approval_id, part.approved)
    for message in messages:
        if not isinstance(message, AssistantMessage):
            continue
        calls = {part.tool_call_id: part for part in message.content if isinstance(part, ToolCall)}
        for part in message.content:
            if isinstance(part, ApprovalRequest) and responses.get(part.approval_id, False):
                call = calls.get(part.tool_call_id)
                digest = part.digest or (None if call is None else digest_if_any(call))
                if digest is not None:
                    yield digest


def _call_at(state: LoopState, step: int, index: int) -> ToolCall | None:
    phase = state.phase
    slots = getattr(phase, "slots", ()) if getattr(phase, "step", None) == step else ()
    return next((slot.call for slot in slots if slot.index == index), None)


# --- crashes ----------------------------------------------------------------------------------


def interrupted_calls(trace: Trace, state: LoopState) -> frozenset[str]:
    """The ids of the calls that a crash in this state would close as interrupted."""
    phase = state.phase
    return frozenset(
        slot.call.tool_call_id
        for slot in getattr(phase, "slots", ())
        if slot.status == "running"
        and slot.started
        and not trace.program.tools[slot.call.tool_name].idempotent
    )


def nothing_runs_twice(program: Program, before: LoopState, resumed: Transition) -> None:
    """Law 14: what a new process is asked to run.

    A call that never started runs; an idempotent one that had started runs as another attempt;
    any other one that had started does not run again. Where that leaves nothing at work, the
    calls that people approved meanwhile may run.
    """
    phase = before.phase
    if not isinstance(phase, Working):
        return
    issued = {command.key for command in resumed.commands if isinstance(command, RunTool)}
    expected: set[CallKey] = set()
    approved: set[CallKey] = set()
    for slot in phase.slots:
        spec = program.tools.get(slot.call.tool_name)
        if slot.status == "asked" and slot.approval is not None and slot.approval.approved:
            approved.add(CallKey(phase.step, slot.index, slot.attempt))
        elif slot.status == "running" and spec is not None:
            if not slot.started:
                expected.add(CallKey(phase.step, slot.index, slot.attempt))
            elif spec.idempotent:
                expected.add(CallKey(phase.step, slot.index, slot.attempt + 1))
    if not expected:
        issued -= approved
    require_equal(issued, expected, "the calls that run after a crash, and those that may")


def resumed_run_is_the_same(
    undisturbed: LoopState, resumed: LoopState, interrupted: frozenset[str]
) -> None:
    """Law 14: a run taken up after a crash ends as the undisturbed one.

    Only calls that had started and must not run twice differ: they are closed as interrupted.
    (A stop condition that looks at their results may so decide otherwise.)
    """
    law = "a resumed run ended otherwise than the undisturbed one"
    require_equal(
        _without_results(resumed.messages, interrupted),
        _without_results(undisturbed.messages, interrupted),
        law,
    )
    if interrupted:  # what they were granted counts as spent
        require_equal(resumed.ledger.called, undisturbed.ledger.called, law)
        require_equal(resumed.ledger.issued, undisturbed.ledger.issued, law)
    else:
        require_equal(resumed.ledger, undisturbed.ledger, law)
    require_equal(type(resumed.phase), type(undisturbed.phase), law)
    if not interrupted:
        same_run(resumed, undisturbed)


def _without_results(messages: Sequence[Message], ids: frozenset[str]) -> list[Message]:
    def cleared(part: ToolPart) -> ToolPart:
        if isinstance(part, ToolResult) and part.tool_call_id in ids:
            return ToolResult(part.tool_call_id, part.tool_name, NOTHING)
        return part

    return [
        ToolMessage(tuple(map(cleared, message.content)))
        if isinstance(message, ToolMessage)
        else message
        for message in messages
    ]


NOTHING = TextOutput("")

# --- answers ----------------------------------------------------------------------------------
