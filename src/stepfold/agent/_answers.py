"""Answers to what a blocked run asks: a person's to approvals, a client's to calls."""

import json
from collections.abc import Mapping
from typing import Never, TypeAlias, final

from attrs import field, frozen

from stepfold.loop import LoopState, open_requests
from stepfold.loop.commands import CallKey
from stepfold.loop.events import (
    ApprovalAnswered,
    Event,
    ToolFailed,
    ToolOutcome,
    ToolReturned,
    ToolSucceeded,
)
from stepfold.schema import bind
from stepfold.shell import AnyTool, encoded_outcome
from stepfold.values import (
    AssistantMessage,
    Failure,
    Instant,
    OpenApproval,
    OpenCall,
    ToolOutput,
    ToolResult,
    UsageError,
    without_lone_surrogates,
)


@final
@frozen(order=False)
class Answer:
    """The answer to one open approval; it is for exactly the arguments of the request."""

    request: OpenApproval
    approved: bool
    reason: str | None = field(default=None, kw_only=True)


@final
@frozen(order=False)
class CallAnswer:
    """The answer to one open call: what came of it. Made by `tool_output` and `tool_error`."""

    request: OpenCall
    outcome: ToolOutcome


AnyAnswer: TypeAlias = Answer | CallAnswer
"""What `Agent.answer` takes."""


def approve(request: OpenApproval, *, reason: str | None = None) -> Answer:
    """Let the call run, with exactly these arguments, once.

    Raises:
        UsageError: this is no request for approval.
    """
    _require_approval("approve", request)
    return Answer(request, approved=True, reason=reason)


def deny(request: OpenApproval, *, reason: str | None = None) -> Answer:
    """Refuse the call; the model is told, with the reason.

    Raises:
        UsageError: this is no request for approval.
    """
    _require_approval("deny", request)
    return Answer(request, approved=False, reason=reason)


def tool_output(
    request: OpenCall, value: object, *, output: ToolOutput | None = None
) -> CallAnswer:
    """Give the result of a call that a client ran.

    `value` is what the program keeps: an object of the type that the tool was declared to return,
    or its JSON. `output` is what the model sees, where that is something else: files, or a text.
    Whether the value fits the declared type is checked by `Agent.answer`, which knows the tool.

    Raises:
        UsageError: this is no open call, or the value has no JSON form.
    """
    _require_call("tool_output", request)
    outcome = encoded_outcome(value)
    if isinstance(outcome, ToolFailed):
        raise UsageError(
            f"tool_output: expected a value with a JSON form, got {value!r:.200} "
            f"({outcome.message}); that a call failed is said by tool_error(request, message)"
        )
    if output is None:
        return CallAnswer(request, outcome)
    return CallAnswer(request, ToolSucceeded(output, _result(request, outcome).json))


def tool_error(request: OpenCall, message: str) -> CallAnswer:
    """Say that a call failed at the client; the model is told the message.

    Raises:
        UsageError: this is no open call.
    """
    _require_call("tool_error", request)
    return CallAnswer(request, ToolFailed(without_lone_surrogates(message)))


def _require_approval(name: str, given: object) -> None:
    if not isinstance(given, OpenApproval):
        raise UsageError(f"{name}: expected an open approval of a blocked run, got {given!r:.200}")


def _require_call(name: str, given: object) -> None:
    if not isinstance(given, OpenCall):
        raise UsageError(f"{name}: expected an open call of a blocked run, got {given!r:.200}")


def event_of(
    answer: AnyAnswer, state: LoopState, tools: Mapping[str, AnyTool[Never, object]], at: Instant
) -> Event:
    """What an answer is to the loop.

    Raises:
        UsageError: it answers a call that the run never made, or its value does not fit what the
            tool was declared to return.
    """
    match answer:
        case Answer(request, approved):
            return ApprovalAnswered(
                request.approval_id, request.digest, approved, at, reason=answer.reason
            )
        case CallAnswer(request, outcome):
            if request not in open_requests(state) and not _was_made(state, request):
                raise UsageError(
                    f"answers: expected an open call of the run {state.identity.run!r}, got "
                    f"{request.call.tool_name} {request.call.tool_call_id!r}, which it never made"
                )
            tool = tools.get(request.call.tool_name)
            if tool is not None and isinstance(outcome, ToolSucceeded):
                _require_fit(tool, _result(request, outcome))
            key = CallKey(request.step, request.index, request.attempt)
            return ToolReturned(key, outcome, at, started=at)


def _was_made(state: LoopState, request: OpenCall) -> bool:
    """Whether a request was one of this run's before; its answer then comes too late."""
    return any(
        request.call in message.content
        for message in state.messages
        if isinstance(message, AssistantMessage)
    )


def _result(request: OpenCall, outcome: ToolSucceeded) -> ToolResult:
    call = request.call
    return ToolResult(call.tool_call_id, call.tool_name, outcome.output, value=outcome.value)


def _require_fit(tool: AnyTool[Never, object], result: ToolResult) -> None:
    form = tool.parameters.returns
    if form is None:
        return
    bound = bind(form, json.loads(result.json.text))
    if isinstance(bound, Failure):
        fault = bound.failure()[0]
        where = f" at {fault.pointer}" if fault.pointer else ""
        raise UsageError(f"tool_output for {tool.name}{where}: {fault.message}")
