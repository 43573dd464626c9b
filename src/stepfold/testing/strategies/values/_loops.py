"""Commands, events and notes, whether or not a run can meet them."""

from functools import cache
from typing import Literal, get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from stepfold import loop
from stepfold import values as v
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
from stepfold.testing.strategies.values._runs import (
    chunk_gaps,
    hook_failures,
    no_outputs,
    open_approvals,
    open_calls,
    open_requests,
    run_ends,
    step_results,
    stops,
)
from stepfold.testing.strategies.values._values import (
    call_settings,
    messages,
    model_error_reasons,
    replies,
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
    return st.builds(commands.ModelCallKey, step=steps, total=counts)


def call_keys() -> SearchStrategy[commands.CallKey]:
    """Draw names of attempts at tool calls."""
    return _call_keys()


@cache
def _call_keys() -> SearchStrategy[commands.CallKey]:
    return st.builds(commands.CallKey, step=steps, index=counts, attempt=counts)


def grants() -> SearchStrategy[commands.Grant]:
    """Draw what tool calls may spend by runs of their own."""
    return _grants()


@cache
def _grants() -> SearchStrategy[commands.Grant]:
    figure = st.none() | figures()
    return st.builds(commands.Grant, tokens=figure, cost=figure, tool_calls=figure)


def granted() -> SearchStrategy[loop.Granted]:
    """Draw what runs of tool calls may spend."""
    return _granted()


@cache
def _granted() -> SearchStrategy[loop.Granted]:
    figure = st.none() | figures()
    limits = st.builds(
        loop.Limits,
        steps=figure,
        tokens=figure,
        tool_calls=figure,
        calls_of=st.dictionaries(names(), figures(), max_size=2),
        wrap_up_tokens=figure,
        cost=figure,
    )
    price = st.builds(
        v.Price,
        input=figures(),
        output=figures(),
        cache_read=figure,
        cache_write=figure,
        reasoning=figure,
    )
    known = st.tuples(names(), price)
    return st.builds(loop.Granted, limits=limits, prices=tuples_of(known, max_size=1))


def run_commands() -> SearchStrategy[commands.Command]:
    """Draw what the shell must carry out."""
    return _run_commands()


@cache
def _run_commands() -> SearchStrategy[commands.Command]:
    return st.one_of(
        st.builds(commands.PrepareStep, step=steps),
        st.builds(commands.CallModel, key=model_call_keys(), model=names()),
        st.builds(commands.Wait, key=model_call_keys(), until=instants()),
        st.builds(commands.RepairCall, key=call_keys()),
        st.builds(commands.BindCall, key=call_keys()),
        st.builds(commands.ResolveApproval, key=call_keys()),
        st.builds(
            commands.RunTool,
            key=call_keys(),
            tool_name=names(),
            deadline=st.none() | instants(),
            grant=st.none() | grants(),
        ),
        st.builds(commands.CheckStop, step=steps),
        st.builds(commands.BindOutput, step=steps),
    )


# --- events -----------------------------------------------------------------------------------


def tool_outcomes() -> SearchStrategy[events.ToolOutcome]:
    """Draw what came of tools."""
    return _tool_outcomes()


@cache
def _tool_outcomes() -> SearchStrategy[events.ToolOutcome]:
    value = st.none() | json_texts()
    return st.builds(events.ToolSucceeded, output=tool_outputs(), value=value) | st.builds(
        events.ToolFailed, message=strings(), kind=tool_error_kinds(), value=value
    )


def spendings() -> SearchStrategy[events.Spending]:
    """Draw what runs of tool calls have spent."""
    return _spendings()


@cache
def _spendings() -> SearchStrategy[events.Spending]:
    return st.builds(
        events.Spending,
        usage=usages(),
        tokens=figures(),
        cost=st.none() | figures(),
        spent_cost=figures(),
        tool_calls=figures(),
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
    return st.builds(
        events.MessageSteered, id=names(), message=user_messages(), mode=modes, at=instants()
    )


def run_events() -> SearchStrategy[events.Event]:
    """Draw what comes into the loop."""
    return _run_events()


@cache
def _run_events() -> SearchStrategy[events.Event]:
    partial = st.none() | replies()
    return st.one_of(
        st.builds(
            events.ModelReplied,
            key=model_call_keys(),
            reply=replies(),
            at=instants(),
            started=instants(),
            first_output=st.none() | instants(),
            gaps=st.none() | chunk_gaps(),
        ),
        st.builds(
            events.ModelFailed,
            key=model_call_keys(),
            reason=model_error_reasons(),
            at=instants(),
            partial=partial,
        ),
        st.builds(events.Waited, key=model_call_keys(), at=instants()),
        st.builds(
            events.StepPrepared, step=steps, plan=step_plans() | hook_failures(), at=instants()
        ),
        st.builds(events.CallRepaired, key=call_keys(), input=st.none() | strings(), at=instants()),
        st.builds(
            events.CallBound,
            key=call_keys(),
            error=st.none() | strings(),
            at=instants(),
            input=st.none() | strings(),
        ),
        st.builds(
            events.ApprovalDecided,
            key=call_keys(),
            decision=st.sampled_from(["not-applicable", "approved", "denied", "user-approval"]),
            at=instants(),
            reason=st.none() | strings(),
        ),
        st.builds(
            events.ApprovalAnswered,
            approval_id=names(),
            digest=names(),
            approved=st.booleans(),
            at=instants(),
            reason=st.none() | strings(),
        ),
        st.builds(events.ToolStarted, key=call_keys(), at=instants()),
        st.builds(
            events.ToolReturned,
            key=call_keys(),
            outcome=tool_outcomes(),
            at=instants(),
            started=instants(),
            spending=st.none() | spendings(),
        ),
        st.builds(
            events.StopChecked,
            step=steps,
            stop=st.none() | stops() | hook_failures(),
            at=instants(),
        ),
        st.builds(events.OutputBound, step=steps, error=st.none() | strings(), at=instants()),
        messages_steered(),
        st.builds(
            events.TimedOut,
            limit=st.sampled_from(["total", "step"]),
            step=steps,
            at=instants(),
            partial=partial,
        ),
        st.builds(events.Cancelled, reason=strings(), at=instants(), partial=partial),
        st.builds(events.CancelRequested, reason=strings(), at=instants()),
        st.builds(events.Resumed, number=counts, at=instants(), granted=st.none() | granted()),
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
        kind=st.sampled_from(kinds),
        severity=st.sampled_from(severities),
        message=counts,
        part=st.none() | counts,
        problem=strings(),
        mend=strings(),
    )


def run_notes() -> SearchStrategy[notes.Note]:
    """Draw what the loop decided."""
    return _run_notes()


@cache
def _run_notes() -> SearchStrategy[notes.Note]:
    return st.one_of(
        st.builds(notes.HistoryRepaired, findings=tuples_of(findings())),
        st.builds(notes.StepStarted, step=steps, model=names()),
        st.builds(
            notes.ModelRetried,
            step=steps,
            total=counts,
            model=names(),
            reason=model_error_reasons(),
            until=instants(),
        ),
        st.builds(notes.CallRequested, key=call_keys(), call=tool_calls()),
        st.builds(notes.CallRejected, key=call_keys(), call=tool_calls(), error=strings()),
        st.builds(notes.ApprovalRequested, key=call_keys(), request=open_approvals()),
        st.builds(notes.CallOpened, key=call_keys(), request=open_calls()),
        st.builds(notes.ToolFinished, key=call_keys(), part=tool_results() | tool_errors()),
        st.builds(notes.SteeringDelivered, id=names(), step=steps),
        st.builds(notes.SteeringDropped, id=names(), reason=strings()),
        st.builds(notes.StepFinished, result=step_results()),
        st.builds(notes.OutputRejected, step=steps, error=no_outputs()),
        st.builds(notes.RunBlocked, open=tuples_of(open_requests())),
        st.builds(notes.RunEnded, end=run_ends()),
    )
