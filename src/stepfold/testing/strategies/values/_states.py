"""Strategies for the state of a run, what is in it, and journals."""

from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from stepfold import loop
from stepfold import values as v
from stepfold.testing.strategies.values._loops import (
    counts,
    grants,
    messages_steered,
    run_commands,
    run_events,
    run_notes,
    step_plans,
    steps,
    tool_outcomes,
)
from stepfold.testing.strategies.values._parts import (
    figures,
    instants,
    json_texts,
    names,
    strings,
    tool_calls,
    tool_errors,
    tool_results,
    tuples_of,
)
from stepfold.testing.strategies.values._values import (
    chunk_gaps,
    messages,
    no_outputs,
    replies,
    run_ends,
    step_results,
    stops,
    usages,
)


def approvals() -> SearchStrategy[loop.Approval]:
    """Draw decisions on slots, and those still open."""
    return _approvals()


@cache
def _approvals() -> SearchStrategy[loop.Approval]:
    return st.builds(
        loop.Approval,
        names(),
        names(),
        st.none() | st.booleans(),
        st.booleans(),
        st.none() | strings(),
        st.none() | strings(),
        st.none() | names(),
        st.booleans(),
    )


def slots() -> SearchStrategy[loop.Slot]:
    """Draw client calls on their way."""
    return _slots()


@cache
def _slots() -> SearchStrategy[loop.Slot]:
    statuses: list[loop.SlotStatus] = [
        *("repairing", "binding", "deciding", "asked", "awaited", "ready", "running", "done")
    ]
    return st.builds(
        loop.Slot,
        counts,
        tool_calls(),
        st.sampled_from(statuses),
        counts,
        st.none() | tool_results() | tool_errors(),
        st.none() | approvals(),
        st.none() | instants(),
        st.booleans(),
        st.none() | figures(),
        st.none() | tool_outcomes(),
        st.booleans(),
        st.none() | grants(),
    )


def calls_in_flight() -> SearchStrategy[loop.Calling]:
    """Draw model calls in flight."""
    return _calls_in_flight()


@cache
def _calls_in_flight() -> SearchStrategy[loop.Calling]:
    return st.builds(
        loop.Calling,
        steps,
        instants(),
        names(),
        counts,
        counts,
        figures(),
        st.none() | step_plans(),
        st.none() | stops(),
        st.none() | figures(),
        figures(),
    )


def phases() -> SearchStrategy[loop.Phase]:
    """Draw what a run is at."""
    return _phases()


@cache
def _phases() -> SearchStrategy[loop.Phase]:
    replied = st.builds(
        loop.Replied,
        replies(),
        names(),
        instants(),
        instants(),
        instants(),
        st.none() | instants(),
        st.none() | chunk_gaps(),
        st.none() | stops(),
        st.none() | step_plans(),
        st.none() | figures(),
    )
    return st.one_of(
        st.builds(loop.Preparing, steps, instants()),
        calls_in_flight(),
        st.builds(loop.Waiting, calls_in_flight(), instants()),
        st.builds(
            loop.Working,
            steps,
            st.none() | replied,
            tuples_of(slots(), max_size=2),
            counts,
            counts,
            st.none() | run_ends(),
            st.booleans(),
        ),
        st.builds(loop.Checking, steps, st.none() | json_texts() | no_outputs()),
        st.builds(loop.Concluding, steps, json_texts(), st.none() | stops(), st.booleans()),
        st.builds(loop.Resting, steps, tuples_of(slots(), max_size=2), st.booleans()),
        st.builds(loop.Done, run_ends(), st.none() | json_texts()),
    )


def states() -> SearchStrategy[loop.LoopState]:
    """Draw whole states, reachable or not."""
    return _states()


@cache
def _states() -> SearchStrategy[loop.LoopState]:
    identities = st.builds(
        loop.Identity, names(), st.integers(), instants(), names(), counts, counts
    )
    said = tuples_of(messages(), max_size=2)
    transcripts = st.builds(
        loop.Transcript,
        said,
        tuples_of(step_results(), max_size=1),
        st.none() | said,
        counts,
        st.none() | strings(),
        said,
        said,
        counts,
        st.just(v.EMPTY_OBJECT) | json_texts(),
    )
    tally = tuples_of(st.tuples(names(), figures()))
    ledgers = st.builds(
        loop.Ledger,
        usages(),
        figures(),
        figures(),
        figures(),
        tally,
        tally,
        figures(),
        figures(),
        st.none() | figures(),
        figures(),
        figures(),
        figures(),
    )
    inboxes = st.builds(loop.Inbox, tuples_of(messages_steered(), max_size=1), tuples_of(names()))
    toolboxes = st.builds(
        loop.Toolbox,
        tuples_of(tool_calls(), max_size=1),
        tuples_of(st.tuples(names(), counts), max_size=1),
        tuples_of(names(), max_size=1),
    )
    return st.builds(
        loop.LoopState,
        identity=identities,
        now=instants(),
        transcript=transcripts,
        ledger=ledgers,
        phase=phases(),
        inbox=inboxes,
        toolbox=toolboxes,
        cancel_requested=st.none() | strings(),
    )


def transitions() -> SearchStrategy[loop.Transition]:
    """Draw what one event may have done."""
    return _transitions()


@cache
def _transitions() -> SearchStrategy[loop.Transition]:
    return st.builds(
        loop.Transition,
        states(),
        tuples_of(run_commands()),
        tuples_of(run_notes(), max_size=1),
    )


# --- journals ---------------------------------------------------------------------------------


def journal_headers() -> SearchStrategy[loop.JournalHeader]:
    """Draw how runs began."""
    return _journal_headers()


@cache
def _journal_headers() -> SearchStrategy[loop.JournalHeader]:
    return st.builds(
        loop.JournalHeader,
        names(),
        st.integers(),
        instants(),
        tuples_of(messages(), max_size=2),
        names(),
        counts,
        tuples_of(names()),
        st.just(v.EMPTY_OBJECT) | json_texts(),
    )


def journal_entries() -> SearchStrategy[loop.JournalEntry]:
    """Draw events as a journal keeps them."""
    return _journal_entries()


@cache
def _journal_entries() -> SearchStrategy[loop.JournalEntry]:
    return st.builds(loop.JournalEntry, run_events(), tuples_of(names()))
