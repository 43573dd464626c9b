"""What a value holds beside what is written of it."""

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from attrs import evolve

from stepfold.loop import (
    EMPTY_TOOLBOX,
    Identity,
    Inbox,
    Ledger,
    LoopState,
    Phase,
    Toolbox,
    Transcript,
    Working,
)
from stepfold.values import AssistantMessage, ContentPart, Instant, Message, ToolCall


def _state(
    identity: Identity,
    now: Instant,
    transcript: Transcript,
    ledger: Ledger,
    phase: Phase,
    inbox: Inbox,
    toolbox: Toolbox = EMPTY_TOOLBOX,
    cancel_requested: str | None = None,
) -> LoopState:
    """Build a state and find the ids of all calls in its history and in the reply at work."""
    state = LoopState(identity, now, transcript, ledger, phase, inbox, toolbox, cancel_requested)
    ids = (
        *_ids_said(transcript.messages),
        *_ids_said(transcript.held_back),
        *_ids_replied(phase),
    )
    return evolve(state, call_ids=state.call_ids.adding(ids))


def _ids_said(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        if isinstance(message, AssistantMessage):
            yield from _ids_of(message.content)


def _ids_replied(phase: Phase) -> Iterator[str]:
    if isinstance(phase, Working) and phase.replied is not None:
        yield from _ids_of(phase.replied.reply.content)


def _ids_of(content: Iterable[ContentPart]) -> Iterator[str]:
    return (part.tool_call_id for part in content if isinstance(part, ToolCall))


BUILDERS: Final[Mapping[type, object]] = MappingProxyType({LoopState: _state})
"""Functions that build values of a class, where the class itself does not find all by itself."""
