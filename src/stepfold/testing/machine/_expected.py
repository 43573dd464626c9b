"""What is expected of a run by somebody who only keeps count: a model to hold `step` to.

It knows nothing of barriers, policies and budgets. It counts what was issued and answered, as far
as that is seen from outside: searches for tools are answered within `step`, and what the runs of
tools spend is told, or taken for what was granted.
"""

from collections import Counter
from typing import Final, final

from stepfold.loop import Calling, Done, LoopState, Preparing, Program, Transition, Waiting
from stepfold.loop.commands import CallModel, Command, RunTool
from stepfold.loop.events import (
    Cancelled,
    Event,
    ModelFailed,
    ModelReplied,
    TimedOut,
)
from stepfold.loop.notes import CallOpened
from stepfold.testing._simulation import left_in_flight
from stepfold.testing.laws import pending_is_in_flight
from stepfold.testing.laws._equal import require, require_equal


@final
class Expected:
    """The counts of one run."""

    def __init__(self, program: Program, start: Transition) -> None:
        answered_within = {name for name, tool in program.tools.items() if tool.searches}
        self._limited: Final = {name for name, _ in program.limits.calls_of} - answered_within
        grants = any(tool.grant is not None for tool in program.tools.values())
        self._sees_all: Final = not answered_within and not grants
        self.in_flight: frozenset[Command] = frozenset(start.commands)
        self._replies = 0
        self._cut = 0
        self._asked: set[int] = set()
        self._calls: dict[tuple[int, int], str] = {}
        self._count(start)

    def take(self, event: Event, transition: Transition) -> None:
        """Count an event that changed the state, and what it led to."""
        self.in_flight = left_in_flight(self.in_flight, event, transition)
        match event:
            case ModelReplied():
                self._replies += 1
            case ModelFailed() | Cancelled() | TimedOut() if event.partial is not None:
                self._cut += 1
            case _:
                pass
        self._count(transition)

    def _count(self, transition: Transition) -> None:
        for command in transition.commands:
            if isinstance(command, CallModel):
                self._asked.add(command.key.step)
            elif isinstance(command, RunTool):
                self._calls[command.key.step, command.key.index] = command.tool_name
        for note in transition.notes:
            if isinstance(note, CallOpened):
                self._calls[note.key.step, note.key.index] = note.request.call.tool_name

    def agree(self, state: LoopState) -> None:
        """Compare the counts with what a state says.

        Raises:
            AssertionError: they differ.
        """
        pending_is_in_flight(self.in_flight, state)
        ledger = state.ledger
        called = Counter(name for name in self._calls.values() if name in self._limited)
        issued = {name: count for name, count in ledger.issued if name in self._limited}
        require_equal(issued, dict(called), "calls of limited tools: issued, and counted")
        count = len(self._calls)
        more = ledger.total_issued - count
        require(
            not more or (more > 0 and not self._sees_all),
            f"{ledger.total_issued} tool calls were issued, and {count} counted",
        )
        taken = len(state.steps)
        require(
            taken <= len(self._asked),
            f"a model was asked in {len(self._asked)} steps, and the run has {taken}",
        )
        if isinstance(state.phase, Preparing | Calling | Waiting | Done):
            most = self._replies + self._cut
            require(
                self._replies <= taken <= most,
                f"{self._replies} replies came, {self._cut} were cut, and {taken} steps are there",
            )
