"""Histories as they come from outside: whole, half-written, or wrong."""

from collections.abc import Sequence

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from stepfold.loop.events import ToolOutcome, ToolSucceeded
from stepfold.testing.strategies._programs import TOOL_NAMES, flags
from stepfold.testing.strategies._worlds import argument_texts, call_ids, tool_outcomes
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    AssistantPart,
    ErrorTextOutput,
    JsonText,
    Message,
    Success,
    Text,
    TextOutput,
    ToolCall,
    ToolMessage,
    ToolPart,
    ToolResult,
    UserMessage,
    parse_json,
)


def _result(call: ToolCall, outcome: ToolOutcome) -> ToolResult:
    match outcome:
        case ToolSucceeded(output, value):
            return ToolResult(call.tool_call_id, call.tool_name, output, value=value)
        case _:
            output = ErrorTextOutput(outcome.message)
            return ToolResult(call.tool_call_id, call.tool_name, output)


@st.composite
def _exchanges(
    draw: DrawFn, *, tools: Sequence[str], turn: int, broken: int
) -> tuple[Message, ...]:
    """Draw what a model said and asked for, and the answers; so many of a hundred are missing."""
    content: list[AssistantPart] = [Text("Let me see.")] if draw(flags(percent=50)) else []
    answers: list[ToolPart] = []
    late: list[ToolPart] = []
    names = [*tools, "forgotten"]
    for index in range(draw(st.integers(0, 3))):
        call_id = f"h{turn}.{index}" if draw(flags(percent=80)) else draw(call_ids())
        text = draw(argument_texts(hostile=10))
        call = ToolCall(call_id, draw(st.sampled_from(names)), text)
        content.append(call)
        if draw(flags(percent=35)):
            parsed = isinstance(parse_json(text), Success)
            digest = JsonText(text).digest() if parsed and draw(flags(percent=80)) else None
            if draw(flags(percent=15)):
                digest = "0" * 64
            request = ApprovalRequest(f"a{turn}.{index}", call_id, digest=digest)
            content.append(request)
            if draw(flags(percent=75)):
                approved = draw(flags(percent=70))
                late.append(ApprovalResponse(request.approval_id, approved, reason="history"))
            if not draw(flags(percent=20)):
                continue
        if not draw(flags(percent=broken)):
            answers.append(_result(call, draw(tool_outcomes())))
    if draw(flags(percent=broken // 2)):
        answers.append(ToolResult("orphan", "look", TextOutput("nobody asked")))
    if draw(flags(percent=50)):
        answers.reverse()
    messages: list[Message] = [AssistantMessage(tuple(content) or (Text("Fine."),))]
    messages += [ToolMessage(tuple(answers))] if answers else []
    if draw(flags(percent=30)) and late:
        messages.append(UserMessage("And hurry."))
    messages += [ToolMessage(tuple(late))] if late else []
    return tuple(messages)


@st.composite
def histories(
    draw: DrawFn,
    *,
    tools: Sequence[str] = TOOL_NAMES,
    min_turns: int = 0,
    max_turns: int = 3,
    broken: int = 20,
) -> tuple[Message, ...]:
    """Draw conversations; so many of a hundred calls are unanswered, or answers without a call.

    The last turn may wait for approvals, hold answers to them, and be overtaken by a message.
    """
    messages: list[Message] = []
    for turn in range(draw(st.integers(min_turns, max_turns))):
        if draw(flags(percent=90)):
            messages.append(UserMessage(f"Question {turn}"))
        messages += draw(_exchanges(tools=tools, turn=turn, broken=broken))
    if not messages or draw(flags(percent=50)):
        messages.append(UserMessage("The last question"))
    return tuple(messages)


_EMPTY: tuple[Message, ...] = (AssistantMessage(()), ToolMessage(()), UserMessage(""))


@st.composite
def messy_histories(
    draw: DrawFn, *, tools: Sequence[str] = TOOL_NAMES, max_turns: int = 4
) -> tuple[Message, ...]:
    """Draw conversations that were cut, reordered and written twice, as clients and stores do it.

    Results stand before their calls, behind other messages or in those of the model; whole
    messages are missing, empty, or there again; ids are used again.
    """
    messages = list(draw(histories(tools=tools, min_turns=1, max_turns=max_turns, broken=30)))
    for _ in range(draw(st.integers(0, 4))):
        place = draw(st.integers(0, len(messages) - 1))
        message = messages[place]
        match draw(st.sampled_from(["move", "move", "lose", "repeat", "empty", "confuse"])):
            case "move":
                messages.insert(draw(st.integers(0, len(messages) - 1)), messages.pop(place))
            case "lose" if len(messages) > 1:
                del messages[place]
            case "repeat":
                messages.insert(draw(st.integers(0, len(messages))), message)
            case "empty":
                messages.insert(place, draw(st.sampled_from(_EMPTY)))
            case "confuse":
                messages[place] = _confused(message)
            case _:
                pass
    return tuple(messages)


def _confused(message: Message) -> Message:
    """The same, said by somebody else: results by the model, or all of it by the provider."""
    if not isinstance(message, ToolMessage):
        return message
    results = [part for part in message.content if isinstance(part, ToolResult)]
    if len(results) < len(message.content):
        return ToolMessage([evolve(part, provider_executed=True) for part in message.content])
    return AssistantMessage(results)


def prompts(
    *, tools: Sequence[str] = TOOL_NAMES, histories_percent: int = 40
) -> SearchStrategy[str | tuple[Message, ...]]:
    """Draw what a run begins with: mostly one question, else a history."""
    question: SearchStrategy[str | tuple[Message, ...]] = st.just("Hello")
    given = histories(tools=tools)
    return flags(percent=histories_percent).flatmap(
        lambda is_given: given if is_given else question
    )
