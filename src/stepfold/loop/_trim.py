"""Shortening a history from its beginning, without tearing apart what belongs together.

A history can be cut before a message only if nothing from there on answers something before it: no
result a call, no response a request.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate

from stepfold.loop._standardise import require_messages
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolResult,
    UsageError,
    UserMessage,
)


def trim_messages(
    messages: Sequence[Message],
    *,
    max_messages: int | None = None,
    max_tokens: int | None = None,
    count: Callable[[Message], int] | None = None,
    keep_instructions: bool = True,
    keep_first_user: bool = False,
) -> tuple[Message, ...]:
    """Keep the end of a history that is too long; nothing given is changed.

    The longest end is kept that is within all limits, as far as calls and their results stay
    together. Where the first message of a person is not kept, it begins with a later one of a
    person if it holds any, since some providers want that. What cannot be cut any further is
    kept even if it exceeds the limits. A valid history stays valid.

    Args:
        messages: The history.
        max_messages: How many messages to keep at most.
        max_tokens: How many tokens to keep at most, as `count` counts them.
        count: Counts or estimates the tokens of one message.
        keep_instructions: Keep the system messages at the start.
        keep_first_user: Keep the first message of a person, which often says what it is all about.

    Raises:
        UsageError: no limit is given, one is not positive, or `max_tokens` comes without `count`.
    """
    given = require_messages("messages", messages)
    budgets = _budgets(given, max_messages, max_tokens, count)
    head = 0
    while keep_instructions and head < len(given) and isinstance(given[head], SystemMessage):
        head += 1
    kept = list(range(head))
    if keep_first_user:
        people = (i for i in range(head, len(given)) if isinstance(given[i], UserMessage))
        kept += list(people)[:1]
    cuts = [cut for cut in _cuts(given) if cut >= head] or [head]
    start = next((cut for cut in cuts if _fits(budgets, kept, cut)), cuts[-1])
    if start > head and not keep_first_user:
        later = (cut for cut in cuts if cut >= start)
        start = next((cut for cut in later if isinstance(given[cut], UserMessage)), start)
    return (*(given[i] for i in kept if i < start), *given[start:])


_Budget = tuple[int, list[int], list[int]]  # the limit, the sizes, and those from each on summed up


def _budgets(
    messages: tuple[Message, ...],
    max_messages: int | None,
    max_tokens: int | None,
    count: Callable[[Message], int] | None,
) -> list[_Budget]:
    for name, limit in (("max_messages", max_messages), ("max_tokens", max_tokens)):
        if limit is not None and limit < 1:
            msg = f"{name}: expected a number from 1, got {limit!r}"
            raise UsageError(msg)
    if max_messages is None and max_tokens is None:
        msg = "trim_messages: expected max_messages or max_tokens, got neither"
        raise UsageError(msg)
    budgets: list[_Budget] = []
    if max_messages is not None:
        budgets.append(_budget(max_messages, [1] * len(messages)))
    if max_tokens is not None:
        if count is None:
            msg = "max_tokens: expected count=… too, a function that counts the tokens of a message"
            raise UsageError(msg)
        budgets.append(_budget(max_tokens, [count(message) for message in messages]))
    return budgets


def _budget(limit: int, sizes: list[int]) -> _Budget:
    sums = list(accumulate(reversed(sizes), initial=0))
    sums.reverse()
    return limit, sizes, sums


def _fits(budgets: list[_Budget], kept: list[int], start: int) -> bool:
    """Whether these messages, and all from there on, are within all limits."""
    return all(
        sums[start] + sum(sizes[i] for i in kept if i < start) <= limit
        for limit, sizes, sums in budgets
    )


def _cuts(messages: tuple[Message, ...]) -> list[int]:
    """The places before which a history can be cut, its beginning among them."""
    needed = list(range(len(messages)))  # the first message that each one answers
    called: dict[str, int] = {}
    asked: dict[str, int] = {}
    for place, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            needed[place] = max(0, place - 1)
        if not isinstance(message, AssistantMessage | ToolMessage):
            continue
        for part in message.content:
            match part:
                case ToolCall(call_id):
                    called[call_id] = place
                case ApprovalRequest(approval_id):
                    asked[approval_id] = place
                case ToolResult(call_id):
                    needed[place] = min(needed[place], called.get(call_id, place))
                case ApprovalResponse(approval_id):
                    needed[place] = min(needed[place], asked.get(approval_id, place))
                case _:
                    pass
    cuts: list[int] = []
    first = len(messages)
    for place in reversed(range(len(messages))):
        first = min(first, needed[place])
        if first == place:
            cuts.append(place)
    cuts.reverse()
    return cuts
