"""Leaving out of a prompt what is no longer worth its tokens: reasoning, and calls.

What is left out goes as a whole. A call goes with its result, its request for approval and the
response to it; and none of them goes while a message that is kept refers to the call.
"""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias, final

from attrs import field, frozen

from stepfold.loop._standardise import require_messages
from stepfold.loop._stop import Named
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    Message,
    Reasoning,
    ReasoningFile,
    ToolCall,
    ToolMessage,
    ToolResult,
    UsageError,
)


def _tool_names(tools: Iterable[str | Named] | None) -> tuple[str, ...] | None:
    if tools is None:
        return None
    if isinstance(tools, str):
        msg = f"ToolCallPruning.tools: expected a sequence of tools or names, got {tools!r}"
        raise UsageError(msg)
    return tuple(tool if isinstance(tool, str) else tool.name for tool in tools)


@final
@frozen(order=False)
class ToolCallPruning:
    """Which calls to leave out: all but those that the last messages hold or refer to.

    `keep_last` is the number of messages at the end that are left alone; with 0, no call is kept.
    `tools` are those whose calls are meant, themselves or by their names; `None` means every tool.

    Raises:
        UsageError: `keep_last` is negative, or `tools` is a string.
    """

    keep_last: int = 0
    tools: tuple[str, ...] | None = field(default=None, converter=_tool_names)

    def __attrs_post_init__(self) -> None:
        if self.keep_last < 0:
            msg = f"ToolCallPruning.keep_last: expected a number from 0, got {self.keep_last!r}"
            raise UsageError(msg)


Pruning: TypeAlias = Literal["none", "all", "before-last-message"]
"""What to leave out: nothing, everything, or all that the last message does not hold."""

_RULES: dict[object, tuple[ToolCallPruning, ...]] = {
    "none": (),
    "all": (ToolCallPruning(),),
    "before-last-message": (ToolCallPruning(1),),
}


def prune_messages(
    messages: Sequence[Message],
    *,
    reasoning: Pruning = "none",
    tool_calls: Pruning | Sequence[ToolCallPruning] = "none",
    empty_messages: Literal["remove", "keep"] = "remove",
) -> tuple[Message, ...]:
    """Leave reasoning and calls out of a history, as the AI SDK does; nothing given is changed.

    Several rules for calls are applied one after another. Reasoning goes with the calls that it
    led to. A message that holds nothing, afterwards or before, is removed unless `empty_messages`
    says otherwise. Messages that need no change are the same objects. A valid history stays valid.

    Raises:
        UsageError: a word is none of these, or something is no message.
    """
    pruned = require_messages("messages", messages)
    if reasoning not in _RULES:
        raise _unknown("reasoning", reasoning)
    if empty_messages not in {"remove", "keep"}:
        msg = f"empty_messages: expected 'remove' or 'keep', got {empty_messages!r}"
        raise UsageError(msg)
    if isinstance(tool_calls, str) and tool_calls not in _RULES:
        raise _unknown("tool_calls", tool_calls)
    rules = _RULES[tool_calls] if isinstance(tool_calls, str) else tuple(tool_calls)
    if reasoning != "none":
        last = len(pruned) if reasoning == "all" else len(pruned) - 1
        pruned = (*map(_without_reasoning, pruned[:last]), *pruned[last:])
    for rule in rules:
        pruned = _without_calls(pruned, rule)
    if empty_messages == "remove":
        return tuple(message for message in pruned if message.content)
    return pruned


def _unknown(argument: str, given: object) -> UsageError:
    return UsageError(
        f"{argument}: expected 'none', 'all' or 'before-last-message'"
        f"{', or ToolCallPruning values' if argument == 'tool_calls' else ''}, got {given!r}"
    )


def _without_reasoning(message: Message) -> Message:
    if not isinstance(message, AssistantMessage):
        return message
    return _without(
        message,
        {
            i
            for i, part in enumerate(message.content)
            if isinstance(part, Reasoning | ReasoningFile)
        },
    )


def _without(message: AssistantMessage, dropped: set[int]) -> AssistantMessage:
    if not dropped:
        return message
    content = tuple(part for index, part in enumerate(message.content) if index not in dropped)
    return AssistantMessage(content, provider_options=message.provider_options)


def _without_calls(messages: tuple[Message, ...], rule: ToolCallPruning) -> tuple[Message, ...]:
    end = max(0, len(messages) - rule.keep_last)
    kept = _referred_to(messages, end)
    names: dict[str, str] = {}  # of the calls so far
    calls: dict[str, str] = {}  # of the requests so far, by the ids of the approvals

    def goes(part: object) -> bool:
        """Whether a part belongs to a call that is left out."""
        match part:
            case ToolCall(call_id, name):
                names[call_id] = name
            case ToolResult(call_id, name):
                name = names.get(call_id, name)
            case ApprovalRequest(approval_id, call_id):
                calls[approval_id] = call_id
                name = names.get(call_id, "")
            case ApprovalResponse(approval_id):
                call_id = calls.get(approval_id, "")
                name = names.get(call_id, "")
            case _:
                return False
        return call_id not in kept and (rule.tools is None or name in rule.tools)

    pruned: list[Message] = []
    for message in messages[:end]:
        if isinstance(message, AssistantMessage):
            dropped = {i for i, part in enumerate(message.content) if goes(part)}
            pruned.append(_without(message, dropped | _reasons_for(message, dropped)))
        elif isinstance(message, ToolMessage):
            content = tuple(part for part in message.content if not goes(part))
            if len(content) < len(message.content):
                options = message.provider_options
                pruned.append(ToolMessage(content, provider_options=options))
            else:
                pruned.append(message)
        else:
            pruned.append(message)
    return (*pruned, *messages[end:])


def _referred_to(messages: tuple[Message, ...], end: int) -> set[str]:
    """The ids of the calls that the messages from there on hold, answer or decide on."""
    asked: dict[str, str] = {}
    kept: set[str] = set()
    for place, message in enumerate(messages):
        if not isinstance(message, AssistantMessage | ToolMessage):
            continue
        for part in message.content:
            match part:
                case ToolCall(call_id) | ToolResult(call_id):
                    pass
                case ApprovalRequest(approval_id, call_id):
                    asked[approval_id] = call_id
                case ApprovalResponse(approval_id):
                    call_id = asked.get(approval_id, "")
                case _:
                    continue
            if place >= end:
                kept.add(call_id)
    return kept


def _reasons_for(message: AssistantMessage, dropped: set[int]) -> set[int]:
    """The reasoning of which nothing is left that it led to, up to the next reasoning."""
    reasons: set[int] = set()
    run: list[int] = []
    led_to: list[int] = []
    for index, part in enumerate(message.content):
        if not isinstance(part, Reasoning | ReasoningFile):
            led_to.append(index)
            continue
        if led_to:
            if dropped.issuperset(led_to):
                reasons.update(run)
            run, led_to = [], []
        run.append(index)
    if led_to and dropped.issuperset(led_to):
        reasons.update(run)
    return reasons
