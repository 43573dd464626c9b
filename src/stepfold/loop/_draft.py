"""The working copy of a state within one transition.

What a step costs is the number of objects it makes. So a transition works on one mutable draft,
made from the old state and turned into the new one at its end; it is never seen from outside,
and `step` stays a pure function. Commands and notes are collected beside it, in order.
"""

from typing import final

from stepfold.loop._ids import IdSet
from stepfold.loop._slots import Slot
from stepfold.loop._state import (
    Identity,
    Inbox,
    Ledger,
    LoopState,
    Phase,
    Replied,
    Toolbox,
    Transcript,
    Working,
)
from stepfold.loop.commands import Command
from stepfold.loop.notes import Note
from stepfold.values import Instant, JsonText, RunEnd, Usage


@final
class Draft:
    """A state that is being made; `changed` tells whether it differs from the old one.

    The figures of the ledger stand here one by one: see `Ledger`.
    """

    __slots__ = (
        "_old",
        "call_ids",
        "called",
        "cancel_requested",
        "changed",
        "commands",
        "cost",
        "estimate",
        "identity",
        "inbox",
        "issued",
        "notes",
        "now",
        "output_retries",
        "phase",
        "reserved",
        "reserved_calls",
        "reserved_cost",
        "spent",
        "spent_cost",
        "toolbox",
        "total_issued",
        "transcript",
        "usage",
    )

    def __init__(self, old: LoopState) -> None:
        self._old = old
        self.changed = False
        self.commands: list[Command] = []
        self.notes: list[Note] = []
        self.identity: Identity = old.identity
        self.now: Instant = old.now
        self.transcript: Transcript = old.transcript
        self.phase: Phase = old.phase
        self.inbox: Inbox = old.inbox
        self.toolbox: Toolbox = old.toolbox
        self.cancel_requested: str | None = old.cancel_requested
        self.call_ids: IdSet = old.call_ids
        ledger = old.ledger
        self.usage: Usage = ledger.usage
        self.spent: int = ledger.spent
        self.reserved: int = ledger.reserved
        self.estimate: int = ledger.estimate
        self.called: tuple[tuple[str, int], ...] = ledger.called
        self.issued: tuple[tuple[str, int], ...] = ledger.issued
        self.total_issued: int = ledger.total_issued
        self.output_retries: int = ledger.output_retries
        self.cost: int | None = ledger.cost
        self.spent_cost: int = ledger.spent_cost
        self.reserved_cost: int = ledger.reserved_cost
        self.reserved_calls: int = ledger.reserved_calls

    @property
    def run(self) -> str:
        """The name of the run."""
        return self.identity.run

    def at(self, instant: Instant) -> None:
        """Let this be a later instant, and the draft count as changed; time never runs back."""
        self.changed = True
        self.now = max(self.now, instant)

    def settle(self, reserved: int, spent: int, usage: Usage) -> None:
        """Count a call that had reserved so many tokens and has spent so many."""
        self.usage += usage
        self.spent += spent
        self.reserved -= reserved

    def settle_cost(self, reserved: int, spent: int, cost: int | None) -> None:
        """Count what a call cost: `spent` in the hard budget, `cost` as far as it is known."""
        self.cost = None if self.cost is None or cost is None else self.cost + cost
        self.spent_cost += spent
        self.reserved_cost -= reserved

    def state(self) -> LoopState:
        """The state that was made: the old object if nothing has changed."""
        if not self.changed:
            return self._old
        ledger = Ledger(
            self.usage,
            self.spent,
            self.reserved,
            self.estimate,
            self.called,
            self.issued,
            self.total_issued,
            self.output_retries,
            self.cost,
            self.spent_cost,
            self.reserved_cost,
            self.reserved_calls,
        )
        return LoopState(
            self.identity,
            self.now,
            self.transcript,
            ledger,
            self.phase,
            self.inbox,
            self.toolbox,
            self.cancel_requested,
            self.call_ids,
        )


@final
class Work:
    """The calls of a step while a transition changes them: see `Working`, which it becomes."""

    __slots__ = ("closing", "refused", "replied", "running", "slots", "step", "unresolved")

    def __init__(
        self,
        step: int,
        replied: Replied | None,
        slots: list[Slot],
        *,
        unresolved: int = 0,
        running: int = 0,
        closing: RunEnd[JsonText] | None = None,
        refused: bool = False,
    ) -> None:
        self.step = step
        self.replied = replied
        self.slots = slots
        self.unresolved = unresolved
        self.running = running
        self.closing = closing
        self.refused = refused

    @staticmethod
    def of(phase: Working) -> "Work":
        """The work of a phase, to be changed."""
        return Work(
            phase.step,
            phase.replied,
            list(phase.slots),
            unresolved=phase.unresolved,
            running=phase.running,
            closing=phase.closing,
            refused=phase.refused,
        )

    def phase(self) -> Working:
        """The phase that this work amounts to."""
        return Working(
            self.step,
            self.replied,
            tuple(self.slots),
            self.unresolved,
            self.running,
            self.closing,
            self.refused,
        )
