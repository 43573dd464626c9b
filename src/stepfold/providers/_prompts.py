"""What the prompts of several protocols have in common."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from attrs import evolve

from stepfold.loop import convert_to_model_prompt
from stepfold.providers._json import is_object
from stepfold.providers._wire import Fragment
from stepfold.values import (
    AssistantMessage,
    Message,
    ModelWarning,
    Success,
    SystemMessage,
    Text,
    parse_json,
)

D = TypeVar("D")

DENIED = "Tool call execution denied."
"""What a model is told of a call that nobody allowed, where no reason was given."""


def left_out(subject: str, why: str, warnings: list[ModelWarning]) -> list[dict[str, object]]:
    """Say that something of the prompt is not sent; what stands in its place is nothing."""
    warnings.append(ModelWarning("unsupported", subject, f"it was left out of the prompt: {why}"))
    return []


def arguments_object(text: str) -> Mapping[str, object]:
    """The arguments of a call, where they have to be an object; `{}` stands for any other text."""
    match parse_json(text):
        case Success(value) if is_object(value):
            return value
        case _:
            return {}


def alternating_turns(
    messages: Sequence[Message],
    fragments: Callable[[Message, D], Fragment],
    dialect: D,
    warnings: list[ModelWarning],
) -> tuple[list[Fragment], list[Fragment]]:
    """The blocks of system messages, and the turns: neighbours of one role are one turn.

    A fragment is the content blocks of a message, without the brackets around them.
    """
    system: list[Fragment] = []
    turns: list[tuple[str, list[bytes]]] = []
    for message in _without_last_space(convert_to_model_prompt(messages)):
        fragment = fragments(message, dialect)
        if fragment.warnings:
            warnings += fragment.warnings
        if not fragment.data:
            _note_emptiness(message, fragment, warnings)
        elif isinstance(message, SystemMessage):
            if turns:
                subject = "system message inside the conversation"
                what = "it was moved to the beginning: the protocol has no place for it"
                warnings.append(ModelWarning("compatibility", subject, what))
            system.append(fragment)
        else:
            role = "assistant" if isinstance(message, AssistantMessage) else "user"
            if turns and turns[-1][0] == role:
                turns[-1][1].append(fragment.data)
            else:
                turns.append((role, [fragment.data]))
    written = [
        Fragment(b'{"role":"%s","content":[%s]}' % (role.encode(), b",".join(blocks)))
        for role, blocks in turns
    ]
    return system, written


def _note_emptiness(message: Message, fragment: Fragment, warnings: list[ModelWarning]) -> None:
    if not fragment.warnings and not isinstance(message, SystemMessage):
        what = "it was left out: the API refuses a turn without content"
        warnings.append(ModelWarning("compatibility", f"empty {type(message).__name__}", what))


def _without_last_space(messages: Sequence[Message]) -> Sequence[Message]:
    """Take the white space from the end of a reply that is to be continued, which is refused."""
    last = messages[-1] if messages else None
    if not isinstance(last, AssistantMessage):
        return messages
    match last.content[-1]:
        case Text(text) as part if text != text.rstrip():
            content = (*last.content[:-1], evolve(part, text=text.rstrip()))
            return (*messages[:-1], evolve(last, content=content))
        case _:
            return messages
