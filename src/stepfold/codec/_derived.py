"""What a value holds beside what is written of it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from stepfold.loop import (
    EMPTY_TOOLBOX,
    Identity,
    Inbox,
    Ledger,
    LoopState,
    Phase,
    Toolbox,
    Transcript,
    with_call_ids,
)
from stepfold.values import Instant


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
    return with_call_ids(state)


BUILDERS: Final[Mapping[type, object]] = MappingProxyType({LoopState: _state})
"""Functions that build values of a class, where the class itself does not find all by itself."""
