"""Observers: who is told what happens in a run, and cannot change it.

Rules. What is to be told waits in one `Line`, in the order in which it happened; whoever carries a
command on makes sure first that the line is empty. So an observer is told of one thing at a time,
all of them in their order, before the loop goes on, whoever drives the run. Nobody is told of
anything twice, not even an observer that was interrupted. What one raises goes to the log.
"""

import inspect
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Never, TypeAlias, TypeVar, cast, final, get_args, overload

import anyio
from attrs import frozen

from stepfold.loop import Calling, LoopState, Program, Transition, request_of
from stepfold.loop.commands import CallKey, ModelCallKey
from stepfold.loop.events import Event, ModelFailed, ModelReplied, ToolReturned
from stepfold.loop.notes import Note
from stepfold.ports import (
    BLOCKING,
    EmbeddingReply,
    EmbeddingRequest,
    RerankingReply,
    RerankingRequest,
)
from stepfold.shell._tool import ToolContext
from stepfold.shell._tool_spec import name_of
from stepfold.shell._waiting import Waiting, missed_loop, needs_loop, run_now
from stepfold.values import Instant, ModelErrorReason, ModelRequest, ToolCall, UsageError


@final
@frozen(order=False)
class RunTakenUp:
    """A run begins here, or goes on after it rested; `transition` is where it stands."""

    run: str
    program: Program
    transition: Transition


@final
@frozen(order=False)
class ModelCallStarted:
    """A model is about to be asked; told of each attempt."""

    run: str
    key: ModelCallKey
    model: str
    request: ModelRequest
    at: Instant


@final
@frozen(order=False)
class ModelCallEnded:
    """A model answered, or failed; not told of a call that was cut off by the end of the run."""

    run: str
    key: ModelCallKey
    request: ModelRequest
    event: ModelReplied | ModelFailed


@final
@frozen(order=False)
class ToolExecutionStarted:
    """The code of a tool is about to run here; `context` is what it may see."""

    run: str
    key: CallKey
    call: ToolCall
    context: ToolContext[object]
    at: Instant


@final
@frozen(order=False)
class ToolExecutionEnded:
    """The code of a tool gave an outcome; not told of one that the end of the run cut off."""

    run: str
    key: CallKey
    call: ToolCall
    context: ToolContext[object]
    event: ToolReturned


@final
@frozen(order=False)
class EmbeddingCallStarted:
    """An embedding model is about to be asked for a batch; told of each attempt."""

    run: str
    batch: int
    attempt: int
    model: str
    request: EmbeddingRequest
    at: Instant


@final
@frozen(order=False)
class EmbeddingCallEnded:
    """An embedding model answered for a batch, or failed."""

    run: str
    batch: int
    attempt: int
    model: str
    request: EmbeddingRequest
    outcome: EmbeddingReply | ModelErrorReason
    started: Instant
    at: Instant


@final
@frozen(order=False)
class RerankingCallStarted:
    """A reranking model is about to be asked; told of each attempt."""

    run: str
    attempt: int
    model: str
    request: RerankingRequest
    at: Instant


@final
@frozen(order=False)
class RerankingCallEnded:
    """A reranking model answered, or failed."""

    run: str
    attempt: int
    model: str
    request: RerankingRequest
    outcome: RerankingReply | ModelErrorReason
    started: Instant
    at: Instant


@final
@frozen(order=False)
class EventHappened:
    """An event changed the state; `transition` holds what that led to."""

    run: str
    event: Event
    transition: Transition


Observation: TypeAlias = (
    RunTakenUp
    | ModelCallStarted
    | ModelCallEnded
    | ToolExecutionStarted
    | ToolExecutionEnded
    | EventHappened
    | EmbeddingCallStarted
    | EmbeddingCallEnded
    | RerankingCallStarted
    | RerankingCallEnded
)
"""Anything that an observer is told of."""

Observer: TypeAlias = Callable[[Observation], Awaitable[None] | None]
"""Is told what happens in a run, and cannot change it.

It may be sync or async. A sync one is called where the run goes on, so it should be quick, as a
handler of a log; an async one is awaited. What it raises is reported to the logger `stepfold`.
"""

N = TypeVar("N", bound=Note)
E = TypeVar("E", bound=Event)
S = TypeVar("S", bound=Observation)

_Told: TypeAlias = Awaitable[None] | None

_EVENTS: Final[tuple[type[object], ...]] = get_args(Event)
_NOTES: Final[tuple[type[object], ...]] = get_args(Note)
_OBSERVATIONS: Final[tuple[type[object], ...]] = get_args(Observation)


@overload
def on(
    kind: type[N], function: Callable[[N, Transition], Awaitable[None] | None], /
) -> Observer: ...
@overload
def on(
    kind: type[E], function: Callable[[E, Transition], Awaitable[None] | None], /
) -> Observer: ...
@overload
def on(kind: type[S], function: Callable[[S], Awaitable[None] | None], /) -> Observer: ...
def on(
    kind: type[object],
    function: Callable[[Never, Transition], _Told] | Callable[[Never], _Told],
    /,
) -> Observer:
    """Make an observer that is told of one kind of note, event or observation.

    A function for a note or an event is given that and the transition that it belongs to, in
    whose `state` are the id of the run, its steps and its usage. A function for an observation is
    given that alone. Several notes of one transition come one by one, in their order.

    Raises:
        UsageError: `kind` is no kind of note, event or observation.
    """
    with_transition = cast("Callable[[object, Transition], _Told]", function)
    alone = cast("Callable[[object], _Told]", function)

    def on_note(seen: Observation) -> _Told:
        if not isinstance(seen, RunTakenUp | EventHappened):
            return None
        notes = [note for note in seen.transition.notes if type(note) is kind]
        if len(notes) == 1:
            return with_transition(notes[0], seen.transition)
        return _one_by_one(with_transition, notes, seen.transition) if notes else None

    def on_event(seen: Observation) -> _Told:
        if isinstance(seen, EventHappened) and type(seen.event) is kind:
            return with_transition(seen.event, seen.transition)
        return None

    def on_observation(seen: Observation) -> _Told:
        return alone(seen) if type(seen) is kind else None

    for kinds, observer in (
        (_NOTES, on_note),
        (_EVENTS, on_event),
        (_OBSERVATIONS, on_observation),
    ):
        if kind in kinds:
            observer.__name__ = name_of(function)
            return observer
    known = ", ".join(one.__name__ for one in (*_NOTES, *_EVENTS, *_OBSERVATIONS))
    raise UsageError(f"on: expected a kind among {known}; got {kind!r:.200}")


async def _one_by_one(
    function: Callable[[object, Transition], _Told], notes: Sequence[Note], transition: Transition
) -> None:
    """Tell of each note, whatever became of those before."""
    errors: list[Exception] = []
    for note in notes:
        try:
            told = function(note, transition)
            if inspect.isawaitable(told):
                await told
        except Exception as error:  # noqa: BLE001 - raised again below
            errors.append(error)
    if errors:
        raise errors[0] if len(errors) == 1 else ExceptionGroup("an observer failed", errors)


@final
class Watch:
    """Tells observers of what one driver does; see the module."""

    def __init__(
        self,
        program: Program,
        first: Transition,
        observers: Sequence[Observer],
        waiting: Waiting,
    ) -> None:
        self._program = program
        self._line = Line(observers, waiting)
        self._at_work: dict[CallKey, ToolExecutionStarted] = {}
        self._line.append(RunTakenUp(first.state.identity.run, program, first))

    def happened(self, before: LoopState, event: Event, transition: Transition) -> None:
        """Put an event in line that changed the state; it is told by the next `tell`."""
        run = before.identity.run
        match event:
            case (ModelReplied() | ModelFailed()) as answer if isinstance(before.phase, Calling):
                request = request_of(self._program, before)
                self._line.append(ModelCallEnded(run, answer.key, request, answer))
            case ToolReturned(key) if key in self._at_work:
                began = self._at_work.pop(key)
                self._line.append(ToolExecutionEnded(run, key, began.call, began.context, event))
            case _:
                pass
        self._line.append(EventHappened(run, event, transition))

    async def begins(self, begun: ModelCallStarted | ToolExecutionStarted) -> None:
        """Tell that something begins, before it does."""
        if isinstance(begun, ToolExecutionStarted):
            self._at_work[begun.key] = begun
        self._line.append(begun)
        await self._line.tell()

    async def tell(self) -> None:
        """Return once everything in line is told."""
        await self._line.tell()


@final
class Line:
    """What observers are still to be told, in order."""

    def __init__(self, observers: Sequence[Observer], waiting: Waiting) -> None:
        self._observers = observers
        self._waiting = waiting
        self._untold: deque[Observation] = deque()
        self._told = 0  # how many observers know of the first of these
        self._is_telling = False
        self._freed: anyio.Event | None = None

    def append(self, seen: Observation) -> None:
        """Put something at the end of the line."""
        self._untold.append(seen)

    async def tell(self) -> None:
        """Return once everything in line is told."""
        while self._untold:
            if self._is_telling:
                if self._freed is None:
                    self._freed = anyio.Event()
                await self._freed.wait()
                continue
            self._is_telling = True
            try:
                await self._tell_in_turn()
            finally:
                self._is_telling = False
                if self._freed is not None:
                    self._freed.set()
                    self._freed = None

    async def _tell_in_turn(self) -> None:
        untold, observers = self._untold, self._observers
        while untold:
            while self._told < len(observers):
                observer = observers[self._told]
                self._told += 1
                work = self._ask(observer, untold[0])
                if BLOCKING.get():
                    run_now(work, lambda: f"the observer {name_of(observer)}")  # noqa: B023 - run here
                else:
                    await work
            self._told = 0
            untold.popleft()

    async def _ask(self, observer: Observer, seen: Observation) -> None:
        """Tell one observer; what it raises is reported, and changes nothing.

        Raises:
            UsageError: it needs an event loop and there is none.
        """
        try:
            told = observer(seen)
            if inspect.isawaitable(told):
                await self._waiting.for_code(told)
        except Exception as error:
            name = name_of(observer)
            if BLOCKING.get() and missed_loop(error):
                raise needs_loop(f"the observer {name}") from error
            logging.getLogger("stepfold").exception(
                "the observer %s failed, told of %s in the run %s",
                name,
                type(seen).__name__,
                seen.run,
            )
