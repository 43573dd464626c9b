"""`LoopMachine`: a state machine of hypothesis over `step`, for programs of the user's own."""

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar, Final, TypeVar, cast

from attrs import evolve
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule
from hypothesis.strategies import DataObject, SearchStrategy
from typing_extensions import override

from stepfold.codec import decode, encode
from stepfold.loop import (
    Done,
    JournalHeader,
    LoopState,
    Program,
    Transition,
    begin,
    command_ids,
    open_requests,
    step,
)
from stepfold.loop.commands import Command, command_id
from stepfold.loop.events import Cancelled, Event, TimedOut, ToolOutcome, ToolStarted
from stepfold.testing._simulation import (
    InterventionKind,
    Moment,
    Trace,
    event_from_outside,
)
from stepfold.testing._words import words_of_event, words_of_message
from stepfold.testing._world import World
from stepfold.testing.exploration import Law
from stepfold.testing.exploration._shown import shown
from stepfold.testing.laws import (
    moment_is_lawful,
    stale_changes_nothing,
    state_is_lawful,
    trace_is_lawful,
    transition_is_lawful,
)
from stepfold.testing.machine._expected import Expected
from stepfold.testing.strategies import prompts, tool_outcomes, worlds
from stepfold.testing.strategies._worlds import KINDS
from stepfold.values import (
    IllegalEvent,
    Message,
    OpenApproval,
    OpenCall,
    OpenRequest,
    UsageError,
    UserMessage,
)

F = TypeVar("F")

_NO_ARGUMENTS: Final[Mapping[str, Sequence[object]]] = {}
_ENDS: Final[frozenset[InterventionKind]] = frozenset(
    {"cancel", "cancel-after-step", "run-timeout", "step-timeout"}
)
_CRASHES: Final[frozenset[InterventionKind]] = frozenset({"crash"})
_LEAST: Final = (0, 1, 1, 2)
_ORDERS: Final = st.lists(st.integers(0, 7), min_size=1, max_size=8)
_AFTER: Final = st.integers(0, 4)
_PATIENCE: Final = (0, 3, 6, 9, 12, 12, 20, 20, 30)
_NO_LAWS: Final[Sequence[Law]] = ()


def _typed(decorator: object) -> Callable[[F], F]:
    """A decorator of hypothesis that leaves the type of a method what it was."""
    return cast("Callable[[F], F]", decorator)


class LoopMachine(RuleBasedStateMachine):
    """Any event at any time, and every law after each: a machine over `step`.

    Make one of your own program, and have your test framework run its `TestCase`:

        class Support(LoopMachine):
            program = agent.program

        TestSupport = Support.TestCase

    In each run models, tools, policies and people do what is drawn; commands are answered in any
    order, old events come again, words are said, processes die, time runs out. After each event
    all laws of events and states are checked, and at the end those of whole runs; beside it the
    machine keeps count of what was issued and answered, and the state has to agree. What fails is
    made small, and told as the events that lead there. Where a run ends another one begins, so
    that each example of hypothesis is several runs. Its default of 100 examples is what the
    machine is made for; with fewer, a rare fault is missed.

    Set in a subclass what shall be otherwise, override `programs`, `prompts` and `worlds`, and add
    rules and invariants as hypothesis has them: `state` and `trace` are there to be looked at.
    """

    program: ClassVar[Program]
    """What is run; needed unless `programs` is overridden."""

    arguments: ClassVar[Mapping[str, Sequence[object]]] = _NO_ARGUMENTS
    """What the model calls tools with, by tool; made from their schemas by default."""

    interventions: ClassVar[Sequence[InterventionKind]] = KINDS
    """What may come from outside."""

    laws: ClassVar[Sequence[Law]] = _NO_LAWS
    """Further laws, checked after each event: functions of the run so far."""

    # --- what may be overridden ---------------------------------------------------------------

    def programs(self) -> SearchStrategy[Program]:
        """Draw the program of a run: by default it is `program`.

        Raises:
            UsageError: there is none.
        """
        if not hasattr(self, "program"):
            name = type(self).__name__
            msg = f"{name}: expected a program, got none: write program = agent.program in {name}"
            raise UsageError(msg)
        return st.just(self.program)

    def prompts(self, program: Program) -> SearchStrategy[str | tuple[Message, ...]]:
        """Draw what a run begins with: mostly a question, else a history, also a broken one."""
        return prompts(tools=[*program.tools])

    def worlds(self, program: Program) -> SearchStrategy[World]:
        """Draw what models, tools, policies and people do."""
        return st.sampled_from(_LEAST).flatmap(
            lambda least: worlds(
                program=program, min_calls=least, min_turns=2 * least, arguments=self.arguments
            )
        )

    def step(self, program: Program, state: LoopState, event: Event) -> Transition:
        """Decide what an event means: override it to hold what stands in the place of `step`."""
        return step(program, state, event)

    # --- what there is ------------------------------------------------------------------------

    @property
    def state(self) -> LoopState:
        """The state that the run is in."""
        return self._state

    @property
    def possible(self) -> Sequence[InterventionKind]:
        """What may come from outside by now, crashes apart.

        Many runs are left alone for a while before an end.
        """
        is_over = len(self._moments) >= self._patience
        barred = _CRASHES if is_over else _CRASHES | _ENDS
        return [kind for kind in self.interventions if kind not in barred]

    @property
    def trace(self) -> Trace:
        """The run so far."""
        return Trace(self._program, self._world, self._header, self._start, tuple(self._moments))

    # --- how a run begins and ends ------------------------------------------------------------

    @_typed(initialize(data=st.data()))
    def begin(self, data: DataObject) -> None:
        """Begin a run."""
        self._is_broken = False
        self._moments: list[Moment] = []
        self._old: list[Event] = []
        self._spoken = 0
        self._order = data.draw(_ORDERS, label="order of answers")
        self._patience = data.draw(st.sampled_from(_PATIENCE), label="events before an end")
        self._program = data.draw(self.programs(), label="program")
        prompt = data.draw(self.prompts(self._program), label="prompt")
        self._world = data.draw(self.worlds(self._program), label="world")
        messages = (UserMessage(prompt),) if isinstance(prompt, str) else prompt
        self._start = begin(self._program, messages, run="run", seed=0, at=0)
        self._state = self._start.state
        self._header = JournalHeader(
            "run", 0, 0, messages, self._program.fingerprint, commands=command_ids(self._start)
        )
        self._expected = Expected(self._program, self._start)
        self._hold(lambda: self._look(self._start))

    @_typed(precondition(lambda self: isinstance(self._state.phase, Done)))
    @_typed(rule(data=st.data()))
    def begin_again(self, data: DataObject) -> None:
        """Begin another run, where one has ended."""
        self._hold(lambda: trace_is_lawful(self.trace))
        self.begin(data)

    @override
    def teardown(self) -> None:
        """Check the laws of whole runs."""
        if hasattr(self, "_header") and not self._is_broken:
            self._hold(lambda: trace_is_lawful(self.trace))

    # --- what may happen ----------------------------------------------------------------------

    # hypothesis leaves out some of the rules in each example. So that none of them stands still
    # for that, every rule lets the run go on.

    @_typed(precondition(lambda self: bool(self._owed)))
    @_typed(rule(count=st.integers(1, 5)))
    def answer(self, count: int) -> None:
        """What was issued or asked is answered, as the world has it."""
        self._go_on(count)

    @_typed(precondition(lambda self: bool(open_requests(self._state))))
    @_typed(
        rule(
            after=_AFTER,
            pick=st.integers(0, 7),
            approved=st.sampled_from((True, False)),
            outcome=tool_outcomes(),
        )
    )
    def reply(self, after: int, pick: int, *, approved: bool, outcome: ToolOutcome) -> None:
        """A person agrees or does not, or a client gives a result, whatever the world has."""
        self._go_on(after)
        owed = open_requests(self._state)
        if owed:
            world = evolve(self._world, answers=(approved,), outcomes=(outcome,))
            event = world.reply_to(self._state, owed[pick % len(owed)])
            if event is not None:
                self._give(event)

    @_typed(precondition(lambda self: bool(self._old)))
    @_typed(rule(after=_AFTER, pick=st.integers(0, 50)))
    def repeat(self, after: int, pick: int) -> None:
        """An event comes that has come before."""
        self._go_on(after)
        event = self._old[pick % len(self._old)]
        self._hold(
            lambda: stale_changes_nothing(self._program, self._state, event, reducer=self.step),
            event,
        )

    @_typed(precondition(lambda self: "crash" in self.interventions))
    @_typed(rule(after=_AFTER))
    def crash(self, after: int) -> None:
        """The process dies, and another one takes the run up: all it has is what was written."""
        self._go_on(after)
        self._state = decode(encode(self._state), LoopState).unwrap()
        self._intervene("crash")

    @_typed(precondition(lambda self: bool(self.possible)))
    @_typed(rule(after=_AFTER, pick=st.integers(0, 11), partial=st.booleans()))
    def intervene(self, after: int, pick: int, *, partial: bool) -> None:
        """Something else comes from outside: words or an end; see `interventions`."""
        self._go_on(after)
        self._intervene(self.possible[pick % len(self.possible)], partial=partial)

    def _intervene(self, kind: InterventionKind, *, partial: bool = False) -> None:
        self._spoken += kind in {"steer", "queue"}
        name = str(self._spoken)
        self._give(event_from_outside(self._world, self._state, kind, name, partial=partial))

    @property
    def _owed(self) -> Sequence[Command | OpenRequest]:
        """What the world may answer, in an order that depends on the run alone."""
        return (*sorted(self._expected.in_flight, key=command_id), *open_requests(self._state))

    def _go_on(self, count: int) -> None:
        """Let so many answers come; fewer, where a tool has started: see what happens then."""
        for _ in range(count):
            event = self._answered()
            if event is None:
                return
            self._give(event)
            if isinstance(event, ToolStarted):
                return

    def _answered(self) -> Event | None:
        """The next answer in the order drawn; `None` if nobody answers."""
        world, state, owed = self._world, self._state, self._owed
        for place in range(len(owed)):
            pick = self._order[len(self._moments) % len(self._order)] + place
            asked = owed[pick % len(owed)]
            if not isinstance(asked, OpenApproval | OpenCall):
                return world.answer(self._program, state, asked)
            event = world.reply_to(state, asked)
            if event is not None:
                return event
        return None

    # --- how it is checked --------------------------------------------------------------------

    def _give(self, event: Event) -> None:
        """Let an event come, and check all that has to hold then."""
        self._hold(lambda: self._take(event), event)
        if not isinstance(event, Cancelled | TimedOut):
            self._old.append(event)

    def _take(self, event: Event) -> None:
        before = self._state
        transition = self._transition(event)
        if transition.state is before:
            moment = Moment(before, event, transition, self._expected.in_flight)
            moment_is_lawful(self._program, moment, reducer=self.step)
            return
        self._state = transition.state
        self._expected.take(event, transition)
        moment = Moment(before, event, transition, self._expected.in_flight)
        self._moments.append(moment)
        moment_is_lawful(self._program, moment, reducer=self.step)
        self._look(transition)

    def _transition(self, event: Event) -> Transition:
        """Step once; what comes as an answer to what was issued must not be refused."""
        try:
            return self.step(self._program, self._state, event)
        except IllegalEvent as error:
            msg = f"an answer to what was issued is refused: {error}"
            raise AssertionError(msg) from error
        except Exception as error:
            msg = f"step raised {type(error).__name__}: {error}"
            raise AssertionError(msg) from error

    def _look(self, transition: Transition) -> None:
        transition_is_lawful(self._program, transition)
        state_is_lawful(self._program, self._state, reducer=self.step)
        self._expected.agree(self._state)
        for law in self.laws:
            law(self.trace)

    def _hold(self, check: Callable[[], None], event: Event | None = None) -> None:
        """Check, and tell what is broken with all that came before."""
        try:
            check()
        except AssertionError as error:
            self._is_broken = True
            law = str(error) or "a law is broken that does not say what it is"
            raise AssertionError(f"{law}\n{self._told(event)}") from error

    def _told(self, last: Event | None) -> str:
        """The run in the order of what happened; the last event need not have changed it."""
        events = [moment.event for moment in self._moments]
        if last is not None and (not events or events[-1] is not last):
            events.append(last)
        lines = [f"  0. {words_of_message(message)}" for message in self._header.messages]
        lines += [f"  {number}. {words_of_event(event)}" for number, event in enumerate(events, 1)]
        if not isinstance(self._state.phase, Done):
            lines.append(f"  now: {shown(self._state.phase)}")
        return "\n".join(("in this run:", *lines))
