"""Calls that a tool makes of other tools, within its own.

They are checked by schema, counted as tool calls of the run, and run as the shell runs any tool;
the model sees nothing of them but what the calling tool makes of it. No event tells of them: after
a crash the calling tool is what is closed or run again, with all that it calls.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Never, TypeVar, final

from attrs import evolve
from typing_extensions import TypeIs

from stepfold.loop.events import Spending, ToolFailed
from stepfold.ports import Clock
from stepfold.shell._children import ChildRuns
from stepfold.shell._decoded import decoded_result
from stepfold.shell._execute import execute
from stepfold.shell._tool import AnyTool, ToolContext
from stepfold.shell._waiting import Waiting
from stepfold.values import (
    Failure,
    Instant,
    JsonText,
    Success,
    ToolCall,
    ToolFault,
    ToolResult,
    UsageError,
)

D = TypeVar("D")


@final
class InnerCalls:
    """What one call of a tool may call in its turn."""

    def __init__(
        self,
        allowed: Sequence[AnyTool[Never, object]],
        children: ChildRuns | None,
        clock: Clock,
        waiting: Waiting,
    ) -> None:
        self._allowed = allowed
        self._children = children
        self._clock = clock
        self._waiting = waiting
        self._count = 0

    async def call(
        self,
        tool: AnyTool[Never, object],
        arguments: Mapping[str, object],
        context: ToolContext[object],
    ) -> object:
        """Run one call, and give what it gave, read by the returned type of the tool.

        Raises:
            ToolFault: the arguments do not fit, no call is left, or the tool failed.
            UsageError: the calling tool did not name this one.
        """
        if not any(one.function == tool.function for one in self._allowed):
            known = ", ".join(one.name for one in self._allowed) or "none"
            raise UsageError(
                f"call: expected one of the tools in calls=[…] ({known}), got {tool.name}"
            )
        text = _fitting(tool, arguments)
        if self._children is not None:
            self._children.take_call(tool.name)
        place = self._count
        self._count += 1
        call = ToolCall(f"{context.call_id}/{place}", tool.name, text)
        timeout = tool.spec.timeout
        deadline = _earlier(context.deadline, timeout, self._clock)
        inner = evolve(
            context,
            call_id=call.tool_call_id,
            idempotency_key=f"{context.idempotency_key}/{place}",
            deadline=deadline,
            children=None,
            within=None,
        )
        outcome = await execute(
            tool, call, inner, deadline, timeout, self._clock, self._waiting, _shown_to_nobody
        )
        if isinstance(outcome, ToolFailed):
            raise ToolFault(f"{tool.name}: {outcome.message}")
        given = ToolResult(call.tool_call_id, tool.name, outcome.output, value=outcome.value)
        match decoded_result(tool, given.json):
            case Success(value):
                return value
            case Failure(message):
                raise ToolFault(message)


def _fitting(tool: AnyTool[Never, object], arguments: Mapping[str, object]) -> str:
    """The arguments as JSON, if the tool takes them."""
    try:
        text = JsonText.of(arguments).text
    except (TypeError, ValueError) as error:
        msg = f"call of {tool.name}: expected arguments with a JSON form, got {error}"
        raise ToolFault(msg) from error
    faults = tool.spec.check(json.loads(text))
    if faults:
        told = "; ".join(f"{one.pointer or '(the whole input)'}: {one.message}" for one in faults)
        raise ToolFault(f"the arguments do not fit the schema of {tool.name}: {told}")
    return text


def _earlier(deadline: Instant | None, timeout: int | None, clock: Clock) -> Instant | None:
    if timeout is None:
        return deadline
    own = clock.now() + timeout
    return own if deadline is None else min(deadline, own)


def _shown_to_nobody(_: JsonText) -> None:
    """Preliminary results of an inner call are nobody's."""


def inner_calls_of(
    tool: AnyTool[D, object], children: ChildRuns | None, clock: Clock, waiting: Waiting
) -> InnerCalls | None:
    """What a call of this tool may call in its turn, if anything.

    Of a grant that is for that alone all is known.
    """
    options = tool.options
    if not options.calls:
        return None
    if children is not None and options.grant is None:
        children.report(Spending())
    allowed = [one for one in options.calls if _is_tool(one)]
    return InnerCalls(allowed, children, clock, waiting)


def _is_tool(given: object) -> TypeIs[AnyTool[Never, object]]:
    return isinstance(given, AnyTool)
