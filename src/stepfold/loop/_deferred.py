"""Results that a provider gives in a later reply than the one that made the call.

Such a call keeps the run going, as a client call does, until its result is here or a condition or
limit stops the run: there is nothing to add to the history, so the next prompt ends with what the
model said. A late result is kept where it came, in the content of its own reply. A call whose
approval the provider asked for is owed nothing: it may be denied.
"""

from collections.abc import Container

from attrs import evolve

from stepfold.loop._draft import Draft
from stepfold.loop._program import Program
from stepfold.values import ModelReply, ReplyPart, ToolCall, ToolError, ToolResult


def with_deferred(
    program: Program, out: Draft, reply: ModelReply, made: list[ToolCall], asked: Container[str]
) -> ModelReply:
    """Note which results are still to come; give the reply with late ones under their call's name.

    Calls whose approval was `asked` for are not among them.

    Some wires name the tool of a result after its kind where its call is not at hand. A result that
    answers no call that is known stays as it came.
    """
    owed = {call.tool_call_id: call for call in out.toolbox.deferred}
    if owed:
        reply = evolve(reply, content=tuple(_named(part, owed) for part in reply.content))
    answered = {
        part.tool_call_id
        for part in reply.content
        if isinstance(part, ToolError) or (isinstance(part, ToolResult) and not part.preliminary)
    }
    owed |= {
        call.tool_call_id: call
        for call in made
        if call.tool_call_id not in asked and _is_deferrable(program, call)
    }
    deferred = tuple(call for call_id, call in owed.items() if call_id not in answered)
    if deferred != out.toolbox.deferred:
        out.toolbox = evolve(out.toolbox, deferred=deferred)
    return reply


def _named(part: ReplyPart, owed: dict[str, ToolCall]) -> ReplyPart:
    if not isinstance(part, ToolResult | ToolError):
        return part
    call = owed.get(part.tool_call_id)
    if call is None or (part.tool_name, part.dynamic) == (call.tool_name, call.dynamic):
        return part
    return evolve(part, tool_name=call.tool_name, dynamic=call.dynamic)


def _is_deferrable(program: Program, call: ToolCall) -> bool:
    return call.provider_executed and any(
        tool.supports_deferred_results and tool.makes(call.tool_name)
        for tool in program.provider_tools.values()
    )
