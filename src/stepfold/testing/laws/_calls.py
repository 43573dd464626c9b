"""Laws of whole runs that look at their calls: what runs, how often, and with whose word."""

import json
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

from attrs import evolve

from stepfold.loop import Calling, Done, LoopState, Working, request_of
from stepfold.loop.commands import RunTool
from stepfold.loop.events import (
    ApprovalAnswered,
    ApprovalDecided,
    CallBound,
    CallRepaired,
    ToolStarted,
)
from stepfold.testing._simulation import Trace
from stepfold.testing.laws._budgets import Place
from stepfold.testing.laws._equal import require, require_equal
from stepfold.testing.laws._permission import arguments_fault, digest_if_any, digest_of
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    Completed,
    DeniedOutput,
    Message,
    ToolCall,
    ToolError,
    ToolMessage,
    ToolResult,
)


def repairs_count(trace: Trace) -> None:
    """What a hook gave is what runs, what is asked about, and what the history holds.

    Refined arguments that the tool does not take are no arguments: the call is refused as it was.
    So is a call that a history approved with others.
    """
    for moment in trace.moments:
        match moment.event:
            case CallBound(key, None, input=str(text)) if moment.changed:
                call = _call_at(moment.before, key.step, key.index)
                if call is None or arguments_fault(trace.program, evolve(call, input=text)):
                    continue
                if _is_of_the_history(moment.before):
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


def _is_of_the_history(state: LoopState) -> bool:
    """Whether what is at work are calls of the history, which no reply of this run made."""
    return isinstance(state.phase, Working) and state.phase.step < 0


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
    Of a call that has to be approved nothing is.
    """
    tools = trace.program.provider_tools.values()
    slow = [tool for tool in tools if tool.supports_deferred_results]
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
            asked = {part.tool_call_id for part in content if isinstance(part, ApprovalRequest)}
            owed |= {
                part.tool_call_id: part
                for part in content
                if isinstance(part, ToolCall)
                and part.provider_executed
                and part.tool_call_id not in asked
                and any(tool.makes(part.tool_name) for tool in slow)
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
