"""Strategies for what goes into the loop, comes out of it, and stays in it.

As those of `_values`: whatever the types allow. States that a run can reach are drawn by running.
"""

from functools import cache
from typing import Literal

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from properties import _values as drawn
from properties._values import figures, instants, names, strings, tuples_of
from stepfold import loop
from stepfold.loop import commands, events, notes

steps = st.integers(-1, 3)
counts = st.integers(0, 3)


# --- keys and commands ------------------------------------------------------------------------


@cache
def model_call_keys() -> SearchStrategy[commands.ModelCallKey]:
    """Draw names of attempts at model calls."""
    return st.builds(commands.ModelCallKey, steps, counts)


@cache
def call_keys() -> SearchStrategy[commands.CallKey]:
    """Draw names of attempts at tool calls."""
    return st.builds(commands.CallKey, steps, counts, counts)


@cache
def run_commands() -> SearchStrategy[commands.Command]:
    """Draw what the shell must carry out."""
    return st.one_of(
        st.builds(commands.PrepareStep, steps),
        st.builds(commands.CallModel, model_call_keys(), names()),
        st.builds(commands.Wait, model_call_keys(), instants()),
        st.builds(commands.RepairCall, call_keys()),
        st.builds(commands.BindCall, call_keys()),
        st.builds(commands.ResolveApproval, call_keys()),
        st.builds(commands.RunTool, call_keys(), names(), st.none() | instants()),
        st.builds(commands.CheckStop, steps),
    )


# --- events -----------------------------------------------------------------------------------


@cache
def tool_outcomes() -> SearchStrategy[events.ToolOutcome]:
    """Draw what came of tools."""
    value = st.none() | drawn.json_texts()
    return st.builds(events.ToolSucceeded, drawn.tool_outputs(), value) | st.builds(
        events.ToolFailed, strings(), drawn.tool_error_kinds(), value
    )


@cache
def step_plans() -> SearchStrategy[events.StepPlan]:
    """Draw what a prepare function wants."""
    return st.builds(
        events.StepPlan,
        model=st.none() | names(),
        tool_choice=st.none() | drawn.tool_choices(),
        active_tools=st.none() | tuples_of(names()),
        instructions=st.none() | strings(),
        messages=st.none() | tuples_of(drawn.messages(), max_size=1),
    )


@cache
def messages_steered() -> SearchStrategy[events.MessageSteered]:
    """Draw what somebody says to a running model."""
    modes: SearchStrategy[Literal["steer", "queue"]] = st.sampled_from(["steer", "queue"])
    return st.builds(events.MessageSteered, names(), drawn.user_messages(), modes, instants())


@cache
def run_events() -> SearchStrategy[events.Event]:
    """Draw what comes into the loop."""
    partial = st.none() | drawn.replies()
    return st.one_of(
        st.builds(
            events.ModelReplied,
            model_call_keys(),
            drawn.replies(),
            instants(),
            started=instants(),
            first_output=st.none() | instants(),
            gaps=st.none() | drawn.chunk_gaps(),
        ),
        st.builds(
            events.ModelFailed,
            model_call_keys(),
            drawn.model_error_reasons(),
            instants(),
            partial=partial,
        ),
        st.builds(events.Waited, model_call_keys(), instants()),
        st.builds(events.StepPrepared, steps, step_plans() | drawn.hook_failures(), instants()),
        st.builds(events.CallRepaired, call_keys(), st.none() | strings(), instants()),
        st.builds(events.CallBound, call_keys(), st.none() | strings(), instants()),
        st.builds(
            events.ApprovalDecided,
            call_keys(),
            st.sampled_from(["not-applicable", "approved", "denied", "user-approval"]),
            instants(),
            reason=st.none() | strings(),
        ),
        st.builds(
            events.ApprovalAnswered,
            names(),
            names(),
            st.booleans(),
            instants(),
            reason=st.none() | strings(),
        ),
        st.builds(events.ToolStarted, call_keys(), instants()),
        st.builds(
            events.ToolReturned, call_keys(), tool_outcomes(), instants(), started=instants()
        ),
        st.builds(
            events.StopChecked,
            steps,
            st.none() | drawn.stops() | drawn.hook_failures(),
            instants(),
        ),
        messages_steered(),
        st.builds(
            events.TimedOut,
            st.sampled_from(["total", "step"]),
            steps,
            instants(),
            partial=partial,
        ),
        st.builds(events.Cancelled, strings(), instants(), partial=partial),
        st.builds(events.Resumed, counts, instants()),
    )


# --- notes ------------------------------------------------------------------------------------


@cache
def run_notes() -> SearchStrategy[notes.Note]:
    """Draw what the loop decided."""
    return st.one_of(
        st.builds(notes.StepStarted, steps, names()),
        st.builds(
            notes.ModelRetried, steps, counts, names(), drawn.model_error_reasons(), instants()
        ),
        st.builds(notes.CallRequested, call_keys(), drawn.tool_calls()),
        st.builds(notes.CallRejected, call_keys(), drawn.tool_calls(), strings()),
        st.builds(notes.ApprovalRequested, call_keys(), drawn.open_approvals()),
        st.builds(notes.CallOpened, call_keys(), drawn.open_calls()),
        st.builds(notes.ToolFinished, call_keys(), drawn.tool_results() | drawn.tool_errors()),
        st.builds(notes.SteeringDelivered, names(), steps),
        st.builds(notes.SteeringDropped, names(), strings()),
        st.builds(notes.StepFinished, drawn.step_results()),
        st.builds(notes.RunBlocked, tuples_of(drawn.open_requests())),
        st.builds(notes.RunEnded, drawn.run_ends()),
    )


# --- states -----------------------------------------------------------------------------------


@cache
def approvals() -> SearchStrategy[loop.Approval]:
    """Draw decisions on slots, and those still open."""
    return st.builds(
        loop.Approval,
        names(),
        names(),
        st.none() | st.booleans(),
        st.booleans(),
        st.none() | strings(),
    )


@cache
def slots() -> SearchStrategy[loop.Slot]:
    """Draw client calls on their way."""
    statuses: list[loop.SlotStatus] = [
        *("repairing", "binding", "deciding", "asked", "awaited", "ready", "running", "done")
    ]
    return st.builds(
        loop.Slot,
        counts,
        drawn.tool_calls(),
        st.sampled_from(statuses),
        counts,
        st.none() | drawn.tool_results() | drawn.tool_errors(),
        st.none() | approvals(),
        st.none() | instants(),
        st.booleans(),
        st.none() | figures(),
        st.none() | tool_outcomes(),
        st.booleans(),
    )


@cache
def calls_in_flight() -> SearchStrategy[loop.Calling]:
    """Draw model calls in flight."""
    return st.builds(
        loop.Calling,
        steps,
        instants(),
        names(),
        counts,
        counts,
        figures(),
        st.none() | step_plans(),
        st.none() | drawn.stops(),
        st.none() | figures(),
    )


@cache
def phases() -> SearchStrategy[loop.Phase]:
    """Draw what a run is at."""
    replied = st.builds(
        loop.Replied,
        drawn.replies(),
        names(),
        instants(),
        instants(),
        instants(),
        st.none() | instants(),
        st.none() | drawn.chunk_gaps(),
        st.none() | drawn.stops(),
        st.none() | step_plans(),
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
            st.none() | drawn.run_ends(),
            st.booleans(),
        ),
        st.builds(loop.Checking, steps),
        st.builds(loop.Resting, steps, tuples_of(slots(), max_size=2), st.booleans()),
        st.builds(loop.Done, drawn.run_ends(), st.none() | drawn.json_texts()),
    )


@cache
def states() -> SearchStrategy[loop.LoopState]:
    """Draw whole states, reachable or not."""
    identities = st.builds(
        loop.Identity, names(), st.integers(), instants(), names(), counts, counts
    )
    said = tuples_of(drawn.messages(), max_size=2)
    transcripts = st.builds(
        loop.Transcript,
        said,
        tuples_of(drawn.step_results(), max_size=1),
        st.none() | said,
        counts,
        st.none() | strings(),
        said,
        said,
    )
    tally = tuples_of(st.tuples(names(), figures()))
    ledgers = st.builds(
        loop.Ledger, drawn.usages(), figures(), figures(), figures(), tally, tally, figures()
    )
    inboxes = st.builds(loop.Inbox, tuples_of(messages_steered(), max_size=1), tuples_of(names()))
    return st.builds(
        loop.LoopState, identities, instants(), transcripts, ledgers, phases(), inboxes
    )


@cache
def transitions() -> SearchStrategy[loop.Transition]:
    """Draw what one event may have done."""
    return st.builds(
        loop.Transition,
        states(),
        tuples_of(run_commands()),
        tuples_of(run_notes(), max_size=1),
    )


# --- journals ---------------------------------------------------------------------------------


@cache
def journal_headers() -> SearchStrategy[loop.JournalHeader]:
    """Draw how runs began."""
    return st.builds(
        loop.JournalHeader,
        names(),
        st.integers(),
        instants(),
        tuples_of(drawn.messages(), max_size=2),
        names(),
        counts,
        tuples_of(names()),
    )


@cache
def journal_entries() -> SearchStrategy[loop.JournalEntry]:
    """Draw events as a journal keeps them."""
    return st.builds(loop.JournalEntry, run_events(), tuples_of(names()))
