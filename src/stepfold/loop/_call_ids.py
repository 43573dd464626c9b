"""The ids of all calls of a run, read off its history: what a state holds beside its data."""

from collections.abc import Iterable, Iterator

from attrs import evolve

from stepfold.loop._ids import NO_IDS
from stepfold.loop._state import LoopState, Working
from stepfold.values import AssistantMessage, ContentPart, Message, ToolCall


def with_call_ids(state: LoopState) -> LoopState:
    """Give a state the ids of all calls in its history and in the reply at work.

    For states that were put together from stored parts; `begin` and `step` keep them themselves.
    """
    phase = state.phase
    ids = (
        *_ids_said(state.transcript.messages),
        *_ids_said(state.transcript.held_back),
        *(
            _ids_of(phase.replied.reply.content)
            if isinstance(phase, Working) and phase.replied is not None
            else ()
        ),
    )
    return evolve(state, call_ids=NO_IDS.adding(ids))


def _ids_said(messages: Iterable[Message]) -> Iterator[str]:
    for message in messages:
        if isinstance(message, AssistantMessage):
            yield from _ids_of(message.content)


def _ids_of(content: Iterable[ContentPart]) -> Iterator[str]:
    return (part.tool_call_id for part in content if isinstance(part, ToolCall))
