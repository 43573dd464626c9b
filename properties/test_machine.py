"""The loop as a machine that hypothesis operates: any rule at any time, every law after each."""

from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from typing_extensions import override

from stepfold.codec import decode, encode
from stepfold.loop import (
    Done,
    JournalEntry,
    JournalHeader,
    LoopState,
    Program,
    Transition,
    begin,
    command_ids,
    open_requests,
    pending,
    step,
)
from stepfold.loop.commands import Command, command_id
from stepfold.loop.events import Cancelled, Event, MessageSteered, Resumed, TimedOut
from stepfold.testing import World, answered_command, laws
from stepfold.testing.strategies import programs, prompts, worlds
from stepfold.values import Message, UserMessage


class Loop(RuleBasedStateMachine):
    """One run; `in_flight` is what its host believes, by counting alone."""

    program: Program
    world: World
    state: LoopState
    header: JournalHeader

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[JournalEntry] = []
        self.in_flight: dict[str, Command] = {}
        self.old: list[Event] = []
        self.spoken = 0

    @initialize(data=st.data(), program=programs(min_tools=2))
    def begin(self, data: st.DataObject, program: Program) -> None:
        prompt: str | tuple[Message, ...] = data.draw(prompts(tools=[*program.tools]))
        messages = (UserMessage(prompt),) if isinstance(prompt, str) else prompt
        self.program = program
        self.world = data.draw(worlds(program=program, min_calls=1, min_turns=2))
        first = begin(program, messages, run="run", seed=0, at=0)
        self.header = JournalHeader(
            "run", 0, 0, messages, program.fingerprint, commands=command_ids(first)
        )
        self.state = first.state
        self.issued(first)

    def issued(self, transition: Transition) -> None:
        self.in_flight.update({command_id(it): it for it in transition.commands})
        laws.tools_run_only_if_permitted(self.program, transition)

    def give(self, event: Event) -> None:
        before = self.state
        transition = step(self.program, before, event)
        laws.step_is_deterministic(self.program, before, event)
        laws.history_only_grows(before, transition.state)
        if transition.state is before:
            assert not transition.commands
            return
        self.state = transition.state
        self.entries.append(JournalEntry(event, command_ids(transition)))
        answered = answered_command(event)
        if isinstance(event, Resumed) or isinstance(self.state.phase, Done):
            self.in_flight.clear()
        elif answered is not None:
            self.in_flight.pop(answered, None)
        self.issued(transition)
        if not isinstance(event, Cancelled | TimedOut):
            self.old.append(event)

    # --- what may happen ----------------------------------------------------------------------

    @precondition(lambda self: bool(self.in_flight))
    @rule(pick=st.integers(0, 7))
    def answer_a_command(self, pick: int) -> None:
        command = self.in_flight[sorted(self.in_flight)[pick % len(self.in_flight)]]
        self.give(self.world.answer(self.program, self.state, command))

    @precondition(lambda self: bool(open_requests(self.state)))
    @rule(pick=st.integers(0, 7))
    def answer_a_request(self, pick: int) -> None:
        owed = open_requests(self.state)
        event = self.world.reply_to(self.state, owed[pick % len(owed)])
        if event is not None:
            self.give(event)

    @precondition(lambda self: bool(self.old))
    @rule(pick=st.integers(0, 50))
    def give_an_old_event_again(self, pick: int) -> None:
        laws.stale_changes_nothing(self.program, self.state, self.old[pick % len(self.old)])

    @rule(queued=st.booleans())
    def speak(self, *, queued: bool) -> None:
        self.spoken += 1
        said = UserMessage(f"By the way, {self.spoken}")
        name, now = str(self.spoken), self.state.now
        if queued:
            self.give(MessageSteered(name, said, "queue", now))
        else:
            self.give(MessageSteered(name, said, "steer", now))

    @rule()
    def crash(self) -> None:
        """All that another process has is what was written."""
        self.state = decode(encode(self.state), LoopState).unwrap()
        self.give(Resumed(self.state.identity.resumed + 1, self.state.now))

    @precondition(lambda self: len(self.entries) > 12)
    @rule(by_time=st.booleans())
    def end(self, *, by_time: bool) -> None:
        at_step = getattr(self.state.phase, "step", 0)
        now = self.state.now
        self.give(TimedOut("total", at_step, now) if by_time else Cancelled("enough", now))

    # --- what always holds --------------------------------------------------------------------

    @invariant()
    def pending_is_in_flight(self) -> None:
        laws.pending_is_in_flight(self.in_flight.values(), self.state)

    @invariant()
    def the_state_is_lawful(self) -> None:
        laws.request_is_paired(self.program, self.state)
        laws.budgets_hold(self.program, self.state)
        laws.never_issued_is_refused(self.program, self.state)
        laws.early_answer_changes_nothing(self.program, self.state)
        laws.approval_needs_its_digest(self.program, self.state)
        laws.cancel_keeps_what_is_finished(self.program, self.state)
        laws.end_can_be_sent(self.state)

    @override
    def teardown(self) -> None:
        if self.entries:
            laws.run_is_replayable(self.program, self.header, self.entries, self.state)
            assert not isinstance(self.state.phase, Done) or not pending(self.state)


TestLoop = Loop.TestCase
