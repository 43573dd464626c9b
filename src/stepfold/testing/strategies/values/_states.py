"""Strategies for the state of a run, what is in it, and journals."""

from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from stepfold import loop
from stepfold import values as v
from stepfold.testing.strategies.values._loops import (
    counts,
    granted,
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
from stepfold.testing.strategies.values._runs import (
    chunk_gaps,
    no_outputs,
    run_ends,
    step_results,
    stops,
)
from stepfold.testing.strategies.values._values import (
    messages,
    replies,
    usages,
)


def approvals() -> SearchStrategy[loop.Approval]:
    """Draw decisions on slots, and those still open."""
    return _approvals()


@cache
def _approvals() -> SearchStrategy[loop.Approval]:
    return st.builds(
        loop.Approval,
        id=names(),
        digest=names(),
        approved=st.none() | st.booleans(),
        automatic=st.booleans(),
        reason=st.none() | strings(),
        asked_because=st.none() | strings(),
        signature=st.none() | names(),
        recorded=st.booleans(),
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
        index=counts,
        call=tool_calls(),
        status=st.sampled_from(statuses),
        attempt=counts,
        part=st.none() | tool_results() | tool_errors(),
        approval=st.none() | approvals(),
        deadline=st.none() | instants(),
        started=st.booleans(),
        elapsed=st.none() | figures(),
        held=st.none() | tool_outcomes(),
        repaired=st.booleans(),
        grant=st.none() | grants(),
    )


def calls_in_flight() -> SearchStrategy[loop.Calling]:
    """Draw model calls in flight."""
    return _calls_in_flight()


@cache
def _calls_in_flight() -> SearchStrategy[loop.Calling]:
    return st.builds(
        loop.Calling,
        step=steps,
        since=instants(),
        model=names(),
        attempt=counts,
        total=counts,
        reserved=figures(),
        plan=st.none() | step_plans(),
        wrap=st.none() | stops(),
        max_output_tokens=st.none() | figures(),
        reserved_cost=figures(),
    )


def phases() -> SearchStrategy[loop.Phase]:
    """Draw what a run is at."""
    return _phases()


@cache
def _phases() -> SearchStrategy[loop.Phase]:
    replied = st.builds(
        loop.Replied,
        reply=replies(),
        model=names(),
        since=instants(),
        started=instants(),
        at=instants(),
        first_output=st.none() | instants(),
        gaps=st.none() | chunk_gaps(),
        wrap=st.none() | stops(),
        plan=st.none() | step_plans(),
        cost=st.none() | figures(),
    )
    return st.one_of(
        st.builds(loop.Preparing, step=steps, since=instants()),
        calls_in_flight(),
        st.builds(loop.Waiting, calling=calls_in_flight(), until=instants()),
        st.builds(
            loop.Working,
            step=steps,
            replied=st.none() | replied,
            slots=tuples_of(slots(), max_size=2),
            unresolved=counts,
            running=counts,
            closing=st.none() | run_ends(),
            refused=st.booleans(),
        ),
        st.builds(loop.Checking, step=steps, answer=st.none() | json_texts() | no_outputs()),
        st.builds(
            loop.Concluding,
            step=steps,
            output=json_texts(),
            wrap=st.none() | stops(),
            is_last=st.booleans(),
        ),
        st.builds(
            loop.Resting, step=steps, slots=tuples_of(slots(), max_size=2), refused=st.booleans()
        ),
        st.builds(loop.Done, end=run_ends(), output=st.none() | json_texts()),
    )


def states() -> SearchStrategy[loop.LoopState]:
    """Draw whole states, reachable or not."""
    return _states()


@cache
def _states() -> SearchStrategy[loop.LoopState]:
    identities = st.builds(
        loop.Identity,
        run=names(),
        seed=st.integers(),
        started=instants(),
        fingerprint=names(),
        rules=counts,
        resumed=counts,
        granted=st.none() | granted(),
    )
    said = tuples_of(messages(), max_size=2)
    transcripts = st.builds(
        loop.Transcript,
        messages=said,
        steps=tuples_of(step_results(), max_size=1),
        base=st.none() | said,
        base_from=counts,
        instructions=st.none() | strings(),
        late=said,
        held_back=said,
        initial=counts,
        runtime_context=st.just(v.EMPTY_OBJECT) | json_texts(),
    )
    tally = tuples_of(st.tuples(names(), figures()))
    ledgers = st.builds(
        loop.Ledger,
        usage=usages(),
        spent=figures(),
        reserved=figures(),
        estimate=figures(),
        called=tally,
        issued=tally,
        total_issued=figures(),
        output_retries=figures(),
        cost=st.none() | figures(),
        spent_cost=figures(),
        reserved_cost=figures(),
        reserved_calls=figures(),
    )
    inboxes = st.builds(
        loop.Inbox, waiting=tuples_of(messages_steered(), max_size=1), seen=tuples_of(names())
    )
    toolboxes = st.builds(
        loop.Toolbox,
        deferred=tuples_of(tool_calls(), max_size=1),
        errors=tuples_of(st.tuples(names(), counts), max_size=1),
        found=tuples_of(names(), max_size=1),
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
        state=states(),
        commands=tuples_of(run_commands()),
        notes=tuples_of(run_notes(), max_size=1),
    )


# --- journals ---------------------------------------------------------------------------------


def journal_headers() -> SearchStrategy[loop.JournalHeader]:
    """Draw how runs began."""
    return _journal_headers()


@cache
def _journal_headers() -> SearchStrategy[loop.JournalHeader]:
    return st.builds(
        loop.JournalHeader,
        run=names(),
        seed=st.integers(),
        at=instants(),
        messages=tuples_of(messages(), max_size=2),
        fingerprint=names(),
        rules=counts,
        commands=tuples_of(names()),
        runtime_context=st.just(v.EMPTY_OBJECT) | json_texts(),
        granted=st.none() | granted(),
    )


def journal_entries() -> SearchStrategy[loop.JournalEntry]:
    """Draw events as a journal keeps them."""
    return _journal_entries()


@cache
def _journal_entries() -> SearchStrategy[loop.JournalEntry]:
    return st.builds(loop.JournalEntry, event=run_events(), commands=tuples_of(names()))
