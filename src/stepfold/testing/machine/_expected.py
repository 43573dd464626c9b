"""What is expected of a run by somebody who only keeps count: a model to hold `step` to.

It knows nothing of phases, barriers or limits. It counts what was issued, answered and said.
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
    ToolReturned,
)
from stepfold.loop.notes import CallOpened
from stepfold.testing._simulation import left_in_flight
from stepfold.testing.laws import pending_is_in_flight
from stepfold.testing.laws._equal import require, require_equal


@final
class Expected:
    """The counts of one run."""

    def __init__(self, program: Program, start: Transition) -> None:
        self._limited: Final = {name for name, _ in program.limits.calls_of}
        self.in_flight: frozenset[Command] = frozenset(start.commands)
        self._replies = 0
        self._cut = 0
        self._asked: set[int] = set()
        self._calls_of_tools = 0
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
            case ToolReturned() if event.spending is not None:
                self._calls_of_tools += event.spending.tool_calls
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
        require_equal(
            dict(ledger.issued), dict(called), "calls of limited tools: noted, and issued"
        )
        issued = len(self._calls) + self._calls_of_tools
        require_equal(ledger.total_issued, issued, "tool calls: noted, and issued")
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
