"""Bounded exhaustive search of all that can become of a run.

`step` is pure, so a run's future is a graph: states, and the events that lead from one to the
next. The search goes through it breadth first, so the path to whatever it finds is a shortest
one. States are told apart by value. Times and seed are fixed, so equal histories are equal states.
"""

import time
import traceback
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final, TypeAlias, final

from attrs import frozen
from typing_extensions import override

from stepfold.loop import (
    Done,
    JournalHeader,
    LoopState,
    Program,
    Resting,
    Transition,
    begin,
    command_ids,
    open_requests,
    pending,
    step,
)
from stepfold.loop.commands import Command
from stepfold.loop.events import Cancelled, Event, TimedOut
from stepfold.testing._simulation import Moment, Trace, left_in_flight
from stepfold.testing._words import words_of_event
from stepfold.testing._world import World
from stepfold.testing.exploration._alphabet import Alphabet
from stepfold.testing.exploration._graph import Edge, mermaid_of, place_of
from stepfold.testing.exploration._shown import shown
from stepfold.testing.laws import (
    Reducer,
    moment_is_lawful,
    stale_changes_nothing,
    state_is_lawful,
    trace_is_lawful,
    transition_is_lawful,
)
from stepfold.values import Message, UserMessage

Law: TypeAlias = Callable[[Trace], None]
"""A law of the user's own: raises `AssertionError` where a run does not keep it."""


@final
@frozen(order=False)
class Violation:
    """A law that does not hold, and a shortest way there: events from the beginning of the run."""

    law: str
    path: tuple[Event, ...]

    @override
    def __str__(self) -> str:
        lines = (
            f"  {number}. {words_of_event(event)}" for number, event in enumerate(self.path, 1)
        )
        way = "\n".join(lines) or "  (at the beginning)"
        return f"{self.law}\nafter {len(self.path)} events, and no fewer lead there:\n{way}"


@final
@frozen(order=False)
class Exploration:
    """What a search has seen.

    `states` and `transitions` count what is different by value. `endings` counts the states at
    which runs end or rest, by name. `is_exhaustive` is false where a bound was hit (`bound` says
    which): then nothing is known of what was not seen. `edges` is the graph, drawn together by
    step and phase, with the number of transitions of each kind.
    """

    states: int
    transitions: int
    endings: tuple[tuple[str, int], ...]
    edges: tuple[tuple[Edge, int], ...]
    longest: int
    bound: str | None = None
    violation: Violation | None = None

    @property
    def is_exhaustive(self) -> bool:
        """Whether all that can happen was seen."""
        return self.bound is None and self.violation is None

    def require_lawful(self) -> None:
        """Raise `AssertionError` with the shortest path if a law was broken."""
        if self.violation is not None:
            raise AssertionError(str(self.violation))

    def mermaid(self) -> str:
        """The graph as a Mermaid state diagram: one node for each step and phase, and each end.

        An arrow says which events lead from one to the other, and how many transitions do.
        """
        return mermaid_of(self.edges)

    @override
    def __str__(self) -> str:
        seen = f"{self.states:,} states and {self.transitions:,} transitions"
        if self.violation is not None:
            return f"BROKEN after {seen}: {self.violation}"
        how = "exhaustive" if self.bound is None else f"not exhaustive ({self.bound})"
        ends = ", ".join(f"{count:,} {name}" for name, count in self.endings)
        return f"{how}: {seen}, at most {self.longest} events deep; {ends}"


def explore(
    program: Program,
    prompt: str | Sequence[Message] = "Begin.",
    *,
    alphabet: Alphabet,
    laws: Sequence[Law] = (),
    reducer: Reducer = step,
    max_states: int = 100_000,
    max_seconds: float | None = None,
    on_progress: Callable[[int, int], object] | None = None,
) -> Exploration:
    """Go through every state that a program can reach, and check every law in each.

    `laws` are further ones of your own. They are given a run for each state, by a shortest way
    there, also where it goes on: `trace.end.phase` tells. Laws of a whole run are checked by one
    shortest way to each state, and by each other event that leads to it. The search ends at the
    first law that is broken, at `max_states` or after `max_seconds`.
    `reducer` is what decides, if it is not `step`: one that you have wrapped, or driven elsewhere.
    `on_progress` is told how many states were seen and how many of them wait, now and then.

    Raises:
        UsageError: as `begin` does.
    """
    search = _Search(program, prompt, alphabet, laws, reducer)
    return search.run(max_states, max_seconds, on_progress)


class _Search:
    def __init__(
        self,
        program: Program,
        prompt: str | Sequence[Message],
        alphabet: Alphabet,
        laws: Sequence[Law],
        reducer: Reducer,
    ) -> None:
        self._program: Final = program
        self._alphabet: Final = alphabet
        self._laws: Final = laws
        self._reducer: Final[Reducer] = reducer
        self._start: Final = begin(program, prompt, run="run", seed=0, at=0)
        messages = (UserMessage(prompt),) if isinstance(prompt, str) else tuple(prompt)
        self._header: Final = JournalHeader(
            "run", 0, 0, messages, program.fingerprint, commands=command_ids(self._start)
        )
        self._came_by: Final[dict[LoopState, tuple[LoopState, Event] | None]] = {}
        self._waiting: Final[deque[tuple[LoopState, int]]] = deque()
        self._endings: Final[Counter[str]] = Counter()
        self._edges: Final[Counter[Edge]] = Counter()
        self._transitions = 0
        self._longest = 0

    def run(
        self,
        max_states: int,
        max_seconds: float | None,
        on_progress: Callable[[int, int], object] | None,
    ) -> Exploration:
        until = None if max_seconds is None else time.monotonic() + max_seconds
        first = self._broken(self._begin)
        if first is not None:
            return self._seen(violation=Violation(first, ()))
        while self._waiting:
            if len(self._came_by) >= max_states:
                return self._seen(bound=f"max_states={max_states:,}")
            if until is not None and time.monotonic() >= until:
                return self._seen(bound=f"max_seconds={max_seconds:g}")
            if on_progress is not None:
                on_progress(len(self._came_by), len(self._waiting))
            state, depth = self._waiting.popleft()
            for event in self._alphabet.events(self._program, state):
                broken = self._broken(partial(self._take, state, event, depth + 1))
                if broken is not None:
                    way = (*self._path_to(state), event)
                    return self._seen(violation=Violation(broken, way))
        return self._seen()

    def _begin(self) -> None:
        transition_is_lawful(self._program, self._start)
        self._see(self._start.state, None, 0)

    def _broken(self, check: Callable[[], None]) -> str | None:
        """What a check says is broken, if anything; one that fails otherwise is broken, too."""
        try:
            check()
        except AssertionError as error:
            return str(error) or "a law is broken that does not say what it is"
        except Exception as error:  # noqa: BLE001 - laws are the user's code, and step may be at fault
            where = traceback.extract_tb(error.__traceback__)[-1]
            said = f"{type(error).__name__}: {error}"
            return f"{said} ({where.name}, {where.filename}, line {where.lineno})"
        return None

    def _take(self, state: LoopState, event: Event, depth: int) -> None:
        program = self._program
        transition = self._reducer(program, state, event)
        after = transition.state
        self._transitions += 1
        moment = Moment(state, event, transition, _left(state, event, transition))
        moment_is_lawful(program, moment, reducer=self._reducer)
        if not moment.changed:
            return
        transition_is_lawful(program, transition)
        self._edges[place_of(state), type(event).__name__, place_of(after)] += 1
        if after not in self._came_by:
            self._see(after, (state, event), depth)
        else:  # what was seen of the state holds, and not what was seen of the way there
            self._check_way((*self._path_to(state), event))

    def _see(self, state: LoopState, came_by: tuple[LoopState, Event] | None, depth: int) -> None:
        self._came_by[state] = came_by
        self._longest = max(self._longest, depth)
        state_is_lawful(self._program, state, reducer=self._reducer)
        way = self._path_to(state)
        is_done = isinstance(state.phase, Done)
        is_at_rest = is_done or isinstance(state.phase, Resting)
        if is_at_rest:
            self._endings[place_of(state) if is_done else "Blocked"] += 1
        if not is_done:
            if not pending(state) and not open_requests(state):
                msg = f"a run that has not ended waits for nothing: {shown(state.phase)}"
                raise AssertionError(msg)
            for event in way:
                if not isinstance(event, TimedOut | Cancelled):
                    stale_changes_nothing(self._program, state, event, reducer=self._reducer)
            self._waiting.append((state, depth))
        if is_at_rest or self._laws:
            self._check_way(way)

    def _check_way(self, way: Sequence[Event]) -> None:
        moments = tuple(self._moments(way))
        trace = Trace(self._program, World(), self._header, self._start, moments)
        for law in self._laws:
            law(trace)
        trace_is_lawful(trace)

    def _moments(self, way: Sequence[Event]) -> Iterator[Moment]:
        state = self._start.state
        for event in way:
            transition = self._reducer(self._program, state, event)
            yield Moment(state, event, transition, _left(state, event, transition))
            state = transition.state

    def _path_to(self, state: LoopState) -> tuple[Event, ...]:
        events: list[Event] = []
        came_by = self._came_by.get(state)
        while came_by is not None:
            before, event = came_by
            events.append(event)
            came_by = self._came_by[before]
        return tuple(reversed(events))

    def _seen(self, bound: str | None = None, violation: Violation | None = None) -> Exploration:
        return Exploration(
            len(self._came_by),
            self._transitions,
            tuple(sorted(self._endings.items())),
            tuple(sorted(self._edges.items())),
            self._longest,
            bound,
            violation,
        )


def _left(before: LoopState, event: Event, transition: Transition) -> frozenset[Command]:
    """What is in flight after an event, by counting what was issued and answered alone."""
    in_flight = pending(before)
    if transition.state is before:
        return frozenset(in_flight)
    return left_in_flight(in_flight, event, transition)
