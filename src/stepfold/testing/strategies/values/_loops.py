"""Commands, events and notes, whether or not a run can meet them."""

from functools import cache
from typing import Literal, get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from stepfold import loop
from stepfold.loop import commands, events, notes
from stepfold.testing.strategies.values._parts import (
    figures,
    instants,
    json_texts,
    names,
    strings,
    tool_calls,
    tool_error_kinds,
    tool_errors,
    tool_outputs,
    tool_results,
    tuples_of,
)
from stepfold.testing.strategies.values._values import (
    call_settings,
    chunk_gaps,
    hook_failures,
    messages,
    model_error_reasons,
    no_outputs,
    open_approvals,
    open_calls,
    open_requests,
    replies,
    run_ends,
    step_results,
    stops,
    tool_choices,
    usages,
    user_messages,
)

steps = st.integers(-1, 3)
counts = st.integers(0, 3)


# --- keys and commands ------------------------------------------------------------------------


def model_call_keys() -> SearchStrategy[commands.ModelCallKey]:
    """Draw names of attempts at model calls."""
    return _model_call_keys()


@cache
def _model_call_keys() -> SearchStrategy[commands.ModelCallKey]:
    return st.builds(commands.ModelCallKey, steps, counts)


def call_keys() -> SearchStrategy[commands.CallKey]:
    """Draw names of attempts at tool calls."""
    return _call_keys()


@cache
def _call_keys() -> SearchStrategy[commands.CallKey]:
    return st.builds(commands.CallKey, steps, counts, counts)


def grants() -> SearchStrategy[commands.Grant]:
    """Draw what tool calls may spend by runs of their own."""
    return _grants()


@cache
def _grants() -> SearchStrategy[commands.Grant]:
    figure = st.none() | figures()
    return st.builds(commands.Grant, figure, figure, figure)


def run_commands() -> SearchStrategy[commands.Command]:
    """Draw what the shell must carry out."""
    return _run_commands()


@cache
def _run_commands() -> SearchStrategy[commands.Command]:
    return st.one_of(
        st.builds(commands.PrepareStep, steps),
        st.builds(commands.CallModel, model_call_keys(), names()),
        st.builds(commands.Wait, model_call_keys(), instants()),
        st.builds(commands.RepairCall, call_keys()),
        st.builds(commands.BindCall, call_keys()),
        st.builds(commands.ResolveApproval, call_keys()),
        st.builds(
            commands.RunTool,
            call_keys(),
            names(),
            st.none() | instants(),
            st.none() | grants(),
        ),
        st.builds(commands.CheckStop, steps),
        st.builds(commands.BindOutput, steps),
    )


# --- events -----------------------------------------------------------------------------------


def tool_outcomes() -> SearchStrategy[events.ToolOutcome]:
    """Draw what came of tools."""
    return _tool_outcomes()


@cache
def _tool_outcomes() -> SearchStrategy[events.ToolOutcome]:
    value = st.none() | json_texts()
    return st.builds(events.ToolSucceeded, tool_outputs(), value) | st.builds(
        events.ToolFailed, strings(), tool_error_kinds(), value
    )


def spendings() -> SearchStrategy[events.Spending]:
    """Draw what runs of tool calls have spent."""
    return _spendings()


@cache
def _spendings() -> SearchStrategy[events.Spending]:
    return st.builds(
        events.Spending, usages(), figures(), st.none() | figures(), figures(), figures()
    )


def step_plans() -> SearchStrategy[events.StepPlan]:
    """Draw what a prepare function wants."""
    return _step_plans()


@cache
def _step_plans() -> SearchStrategy[events.StepPlan]:
    return st.builds(
        events.StepPlan,
        model=st.none() | names(),
        tool_choice=st.none() | tool_choices(),
        active_tools=st.none() | tuples_of(names()),
        tool_order=st.none() | tuples_of(names()),
        descriptions=st.dictionaries(names(), strings(), max_size=2),
        instructions=st.none() | strings(),
        messages=st.none() | tuples_of(messages(), max_size=1),
        settings=st.none() | call_settings(),
        provider_options=st.none() | json_texts(),
        runtime_context=st.none() | json_texts(),
    )


def messages_steered() -> SearchStrategy[events.MessageSteered]:
    """Draw what somebody says to a running model."""
    return _messages_steered()


@cache
def _messages_steered() -> SearchStrategy[events.MessageSteered]:
    modes: SearchStrategy[Literal["steer", "queue"]] = st.sampled_from(["steer", "queue"])
    return st.builds(events.MessageSteered, names(), user_messages(), modes, instants())


def run_events() -> SearchStrategy[events.Event]:
    """Draw what comes into the loop."""
    return _run_events()


@cache
def _run_events() -> SearchStrategy[events.Event]:
    partial = st.none() | replies()
    return st.one_of(
        st.builds(
            events.ModelReplied,
            model_call_keys(),
            replies(),
            instants(),
            started=instants(),
            first_output=st.none() | instants(),
            gaps=st.none() | chunk_gaps(),
        ),
        st.builds(
            events.ModelFailed,
            model_call_keys(),
            model_error_reasons(),
            instants(),
            partial=partial,
        ),
        st.builds(events.Waited, model_call_keys(), instants()),
        st.builds(events.StepPrepared, steps, step_plans() | hook_failures(), instants()),
        st.builds(events.CallRepaired, call_keys(), st.none() | strings(), instants()),
        st.builds(
            events.CallBound,
            call_keys(),
            st.none() | strings(),
            instants(),
            input=st.none() | strings(),
        ),
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
            events.ToolReturned,
            call_keys(),
            tool_outcomes(),
            instants(),
            started=instants(),
            spending=st.none() | spendings(),
        ),
        st.builds(
            events.StopChecked,
            steps,
            st.none() | stops() | hook_failures(),
            instants(),
        ),
        st.builds(events.OutputBound, steps, st.none() | strings(), instants()),
        messages_steered(),
        st.builds(
            events.TimedOut,
            st.sampled_from(["total", "step"]),
            steps,
            instants(),
            partial=partial,
        ),
        st.builds(events.Cancelled, strings(), instants(), partial=partial),
        st.builds(events.CancelRequested, reason=strings(), at=instants()),
        st.builds(events.Resumed, counts, instants()),
    )


# --- notes ------------------------------------------------------------------------------------


def findings() -> SearchStrategy[loop.Finding]:
    """Draw what may be wrong with a history."""
    return _findings()


@cache
def _findings() -> SearchStrategy[loop.Finding]:
    kinds: tuple[loop.FindingKind, ...] = get_args(loop.FindingKind)
    severities: tuple[loop.FindingSeverity, ...] = get_args(loop.FindingSeverity)
    return st.builds(
        loop.Finding,
        st.sampled_from(kinds),
        st.sampled_from(severities),
        counts,
        st.none() | counts,
        strings(),
        strings(),
    )


def run_notes() -> SearchStrategy[notes.Note]:
    """Draw what the loop decided."""
    return _run_notes()


@cache
def _run_notes() -> SearchStrategy[notes.Note]:
    return st.one_of(
        st.builds(notes.HistoryRepaired, tuples_of(findings())),
        st.builds(notes.StepStarted, steps, names()),
        st.builds(notes.ModelRetried, steps, counts, names(), model_error_reasons(), instants()),
        st.builds(notes.CallRequested, call_keys(), tool_calls()),
        st.builds(notes.CallRejected, call_keys(), tool_calls(), strings()),
        st.builds(notes.ApprovalRequested, call_keys(), open_approvals()),
        st.builds(notes.CallOpened, call_keys(), open_calls()),
        st.builds(notes.ToolFinished, call_keys(), tool_results() | tool_errors()),
        st.builds(notes.SteeringDelivered, names(), steps),
        st.builds(notes.SteeringDropped, names(), strings()),
        st.builds(notes.StepFinished, step_results()),
        st.builds(notes.OutputRejected, steps, no_outputs()),
        st.builds(notes.RunBlocked, tuples_of(open_requests())),
        st.builds(notes.RunEnded, run_ends()),
    )
