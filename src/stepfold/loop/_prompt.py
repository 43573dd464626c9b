"""The order that providers want a history in.

A history keeps answers in the order in which they were settled. In the prompt, every client call
has its answer in one tool message after it, in call order, and nothing else stands between.
"""

from collections.abc import Sequence

from attrs import evolve

from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    AssistantPart,
    Message,
    Text,
    ToolCall,
    ToolMessage,
    ToolPart,
    ToolResult,
    UserMessage,
    merge_options,
)


def convert_to_model_prompt(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Merge adjacent tool messages, sort results into call order, drop what models never see.

    Dropped are approval requests, approval responses that the provider did not ask for, texts
    without a character (but for those of a model that carry `provider_options`), and messages that
    are empty without them. Of tool messages that are merged, the last gives its
    `provider_options`; those of the others go to the last part of theirs, under its own. Messages
    that need no change are the same objects.
    """
    prompt: list[Message] = []
    order: dict[str, int] = {}
    results: list[ToolMessage] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            results.append(message)
            continue
        if results:
            _append_results(prompt, results, order)
            results = []
        if isinstance(message, AssistantMessage):
            calls = (part for part in message.content if isinstance(part, ToolCall))
            order = {call.tool_call_id: index for index, call in enumerate(calls)}
            shown = _as_said(message)
            if shown is not None:
                prompt.append(shown)
        elif isinstance(message, UserMessage):
            asked = _as_asked(message)
            if asked is not None:
                prompt.append(asked)
        else:
            prompt.append(message)
    if results:
        _append_results(prompt, results, order)
    return tuple(prompt)


def unpaired(messages: Sequence[Message]) -> str | None:
    """Say which client call of a prompt has not one result of its own, or which result no call."""
    owed: set[str] = set()
    for message in messages:
        if isinstance(message, ToolMessage):
            for part in message.content:
                if not isinstance(part, ToolResult) or part.provider_executed:
                    continue
                if part.tool_call_id not in owed:
                    return f"the result of {part.tool_call_id!r} answers no call before it"
                owed.remove(part.tool_call_id)
            continue
        if owed:
            break
        if isinstance(message, AssistantMessage):
            for call in message.content:
                if not isinstance(call, ToolCall) or call.provider_executed:
                    continue
                if call.tool_call_id in owed:
                    return f"two calls of one message have the id {call.tool_call_id!r}"
                owed.add(call.tool_call_id)
    return f"the call {min(owed)!r} has no result after it" if owed else None


def _as_asked(message: UserMessage) -> UserMessage | None:
    for part in message.content:
        if isinstance(part, Text) and not part.text:
            break
    else:
        return message if message.content else None
    content = tuple(part for part in message.content if not isinstance(part, Text) or part.text)
    return UserMessage(content, provider_options=message.provider_options) if content else None


def _as_said(message: AssistantMessage) -> AssistantMessage | None:
    for part in message.content:
        if _is_hidden(part):
            break
    else:
        return message if message.content else None
    content = tuple(part for part in message.content if not _is_hidden(part))
    return AssistantMessage(content, provider_options=message.provider_options) if content else None


def _is_hidden(part: AssistantPart) -> bool:
    if isinstance(part, Text):
        return not part.text and part.provider_options is None
    return isinstance(part, ApprovalRequest)


def _append_results(
    prompt: list[Message], results: list[ToolMessage], order: dict[str, int]
) -> None:
    first = results[0]
    merged: list[ToolPart] = []
    for index, message in enumerate(results, 1):
        shown = [
            part
            for part in message.content
            if not isinstance(part, ApprovalResponse) or part.provider_executed
        ]
        if shown and message.provider_options is not None and index < len(results):
            own = merge_options(message.provider_options, shown[-1].provider_options)
            shown[-1] = evolve(shown[-1], provider_options=own)
        merged += shown
    last = len(order)

    def position(part: ToolPart) -> int:
        return order.get(part.tool_call_id, last) if isinstance(part, ToolResult) else last

    merged.sort(key=position)
    content = tuple(merged)
    if len(results) == 1 and content == first.content:
        prompt.append(first)
    elif content:
        prompt.append(ToolMessage(content, provider_options=results[-1].provider_options))
