"""The law of answers: live or in the history, they lead to the same prompt."""

from attrs import evolve

from stepfold.codec import encode
from stepfold.loop import LoopState, Program, convert_to_model_prompt, request_of
from stepfold.testing.laws._equal import require_equal
from stepfold.values import AssistantMessage, Message, ToolCall, ToolMessage, ToolResult


def _as_told(message: Message) -> Message:
    """A message without what only those see who show it."""
    match message:
        case AssistantMessage(content):
            said = tuple(
                evolve(part, title=None, tool_metadata=None, dynamic=False)
                if isinstance(part, ToolCall | ToolResult)
                else part
                for part in content
            )
            return evolve(message, content=said)
        case ToolMessage(content):
            told = tuple(
                evolve(part, title=None, tool_metadata=None, dynamic=False)
                if isinstance(part, ToolResult)
                else part
                for part in content
            )
            return evolve(message, content=told)
        case _:
            return message


def same_prompt(program: Program, live: LoopState, begun: LoopState) -> None:
    """Law 19: answered live or in the history, an open request leads to the same prompt.

    Both states have a model call in flight: the one after the answers, the other after `begin`
    with a history that holds them. Titles, metadata and kinds of tools are told to no model.
    """
    one, other = (
        [
            encode(_as_told(message))
            for message in convert_to_model_prompt(request_of(program, state).messages)
        ]
        for state in (live, begun)
    )
    require_equal(one, other, "live answers, and answers in the history, gave two prompts")
