"""Laws of whole runs: all of them at once, those of journals, and of what people said."""

from collections.abc import Sequence

from stepfold.codec import encode
from stepfold.loop import (
    Calling,
    Done,
    JournalEntry,
    JournalHeader,
    LoopState,
    Program,
    Transition,
    replay,
    step,
)
from stepfold.loop.events import Cancelled, Event, Resumed, TimedOut
from stepfold.testing._simulation import Moment, Trace
from stepfold.testing.laws import _steps as laws
from stepfold.testing.laws._budgets import (
    budgets_hold,
    cost_is_that_of_the_replies,
    cost_keeps_its_limit,
    grants_keep_the_limits,
    tokens_keep_their_limit,
    tool_calls_keep_their_limits,
)
from stepfold.testing.laws._calls import (
    errors_in_a_row_are_bounded,
    policies_are_asked,
    provider_results_are_awaited,
    repairs_count,
    tools_are_found_before_they_run,
    tools_start_at_most_once,
)
from stepfold.testing.laws._crashes import nothing_runs_twice
from stepfold.testing.laws._endings import (
    cancel_after_step_waits,
    no_model_is_asked_any_more,
    result_is_the_output,
)
from stepfold.testing.laws._equal import require, require_equal, rewritten
from stepfold.testing.laws._steering import words_are_heard_once
from stepfold.values import Failure, Success, UserMessage


def every_law_holds(trace: Trace) -> None:
    """All laws of one run in a simulated world: the one line for your own program.

        laws.every_law_holds(simulate(program, "Hello", World(), Schedule((1, 0))))

    They are checked at every state and every event. Whether two schedules agree
    (`same_history`) is for two traces.
    """
    program, start = trace.program, trace.start
    laws.pending_is_in_flight(start.commands, start.state)
    for moment in trace.moments:
        moment_is_lawful(program, moment)
    for state in trace.states:
        state_is_lawful(program, state)
    for transition in trace.transitions:
        transition_is_lawful(program, transition)
    old_events_change_nothing(trace)
    trace_is_lawful(trace)


def trace_is_lawful(trace: Trace) -> None:
    """The laws of a run as a whole; those of its events and states are apart."""
    run_is_replayable(trace.program, trace.header, trace.entries, trace.end)
    tools_start_at_most_once(trace)
    tool_calls_keep_their_limits(trace)
    tokens_keep_their_limit(trace)
    cost_keeps_its_limit(trace)
    policies_are_asked(trace)
    nothing_said_is_lost(trace)
    words_are_heard_once(trace)
    repairs_count(trace)
    provider_results_are_awaited(trace)
    errors_in_a_row_are_bounded(trace)
    tools_are_found_before_they_run(trace)
    no_model_is_asked_any_more(trace)
    result_is_the_output(trace)


def moment_is_lawful(program: Program, moment: Moment, *, reducer: laws.Reducer = step) -> None:
    """The laws of one event: what it may do to a state, and what it must not."""
    laws.step_is_total(program, moment.before, moment.event, reducer=reducer)
    laws.step_is_deterministic(program, moment.before, moment.event, reducer=reducer)
    laws.history_only_grows(moment.before, moment.after)
    laws.ends_absorb(program, moment.before, moment.event, reducer=reducer)
    laws.pending_is_in_flight(moment.in_flight, moment.after)
    if isinstance(moment.event, Resumed) and moment.transition is not None and moment.changed:
        nothing_runs_twice(program, moment.before, moment.transition)
    if moment.transition is not None and not moment.changed:
        require_equal(moment.transition.commands, (), "an event without effect issued commands")
        require_equal(moment.transition.notes, (), "an event without effect was told of")
    require(moment.after.now >= moment.before.now, "time ran back")


def transition_is_lawful(program: Program, transition: Transition) -> None:
    """The laws of one transition that changed something."""
    laws.tools_run_only_if_permitted(program, transition)
    grants_keep_the_limits(program, transition)


def state_is_lawful(program: Program, state: LoopState, *, reducer: laws.Reducer = step) -> None:
    """The laws of one state, whichever way led to it."""
    laws.request_is_paired(program, state)
    budgets_hold(program, state)
    cost_is_that_of_the_replies(program, state)
    laws.never_issued_is_refused(program, state, reducer=reducer)
    laws.early_answer_changes_nothing(program, state, reducer=reducer)
    laws.approval_needs_its_digest(program, state, reducer=reducer)
    laws.cancel_keeps_what_is_finished(program, state, reducer=reducer)
    cancel_after_step_waits(program, state, reducer=reducer)
    laws.end_can_be_sent(state)


def run_is_replayable(
    program: Program, header: JournalHeader, entries: Sequence[JournalEntry], state: LoopState
) -> None:
    """Law 2: folding the journal gives the state that was reached, byte for byte.

    The journal is written and read again first.
    """
    header = rewritten(header, JournalHeader)
    stored = [rewritten(entry, JournalEntry) for entry in entries]
    match replay(program, header, stored):
        case Success(reached):
            require_equal(reached, state, "a replayed run reached another state")
            require_equal(encode(reached), encode(state), "a replayed run has other bytes")
        case Failure(diverged):
            msg = f"a run cannot be replayed from its own journal: {diverged}"
            raise AssertionError(msg)


def old_events_change_nothing(trace: Trace) -> None:
    """Law 3: every event that came before, given again at any later state, changes nothing."""
    seen: list[Event] = []
    for moment in trace.moments:
        for event in seen:
            laws.stale_changes_nothing(trace.program, moment.before, event)
        if moment.changed and not isinstance(moment.event, TimedOut | Cancelled):
            seen.append(moment.event)


def nothing_said_is_lost(trace: Trace) -> None:
    """Law 4: whenever a model is asked, and at the end, all that people said is in the history.

    Messages that follow an open call have to wait for its result; they are not dropped.
    """
    said = [message for message in trace.header.messages if isinstance(message, UserMessage)]
    for state in trace.states:
        if isinstance(state.phase, Calling | Done):
            heard = iter(state.messages)
            for message in said:
                require(message in heard, f"what was said is not in the history: {message!r:.500}")
