"""What runs leave behind: steps, stops, open requests, errors and ends."""

from functools import cache
from typing import get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from stepfold import values as v
from stepfold.testing.strategies.values._parts import (
    content_parts,
    figures,
    json_texts,
    names,
    options,
    strings,
    tool_calls,
    tuples_of,
)
from stepfold.testing.strategies.values._values import (
    finish_reasons,
    messages,
    model_error_reasons,
    model_warnings,
    response_infos,
    usages,
)


def chunk_gaps() -> SearchStrategy[v.ChunkGaps]:
    """Draw pauses between chunks."""
    return _chunk_gaps()


@cache
def _chunk_gaps() -> SearchStrategy[v.ChunkGaps]:
    one = figures()
    return st.builds(
        v.ChunkGaps, count=one, min=one, p10=one, median=one, average=one, p90=one, max=one
    )


def performances() -> SearchStrategy[v.Performance]:
    """Draw how long a step took."""
    return _performances()


@cache
def _performances() -> SearchStrategy[v.Performance]:
    known = st.none() | figures()
    return st.builds(
        v.Performance,
        response_time=figures(),
        step_time=figures(),
        tool_time=tuples_of(st.tuples(names(), figures())),
        input_tokens=known,
        output_tokens=known,
        time_to_first_output=known,
        streaming_time=known,
        chunk_gaps=st.none() | chunk_gaps(),
    )


def step_results() -> SearchStrategy[v.StepResult]:
    """Draw steps that have come to rest."""
    return _step_results()


@cache
def _step_results() -> SearchStrategy[v.StepResult]:
    return st.builds(
        v.StepResult,
        step=st.integers(-1, 3),
        model=names(),
        content=tuples_of(content_parts()),
        finish_reason=finish_reasons(),
        usage=usages(),
        performance=performances(),
        warnings=tuples_of(model_warnings(), max_size=1),
        response=response_infos(),
        provider_metadata=options(),
        late=tuples_of(messages(), max_size=1),
        cost=st.none() | figures(),
    )


def stops() -> SearchStrategy[v.Stop]:
    """Draw why a run was stopped."""
    return _stops()


@cache
def _stops() -> SearchStrategy[v.Stop]:
    return st.builds(v.Stop, name=names()) | st.builds(v.Stop, name=names(), evidence=json_texts())


def open_approvals() -> SearchStrategy[v.OpenApproval]:
    """Draw what people owe."""
    return _open_approvals()


@cache
def _open_approvals() -> SearchStrategy[v.OpenApproval]:
    return st.builds(
        v.OpenApproval,
        approval_id=names(),
        call=tool_calls(),
        digest=names(),
        reason=st.none() | strings(),
        signature=st.none() | names(),
    )


def open_calls() -> SearchStrategy[v.OpenCall]:
    """Draw what clients owe."""
    return _open_calls()


@cache
def _open_calls() -> SearchStrategy[v.OpenCall]:
    return st.builds(
        v.OpenCall, step=st.integers(-1, 3), index=figures(), attempt=figures(), call=tool_calls()
    )


def open_requests() -> SearchStrategy[v.OpenRequest]:
    """Draw what people and clients owe."""
    return _open_requests()


@cache
def _open_requests() -> SearchStrategy[v.OpenRequest]:
    return open_approvals() | open_calls()


def hook_failures() -> SearchStrategy[v.HookFailed]:
    """Draw what came of hooks that raised."""
    return _hook_failures()


@cache
def _hook_failures() -> SearchStrategy[v.HookFailed]:
    return st.builds(v.HookFailed, hook=names(), exception=names())


def no_outputs() -> SearchStrategy[v.NoOutput]:
    """Draw why there is no output."""
    return _no_outputs()


@cache
def _no_outputs() -> SearchStrategy[v.NoOutput]:
    causes: list[v.NoOutputCause] = [*get_args(v.NoOutputCause)]
    reasons: list[v.UnifiedFinishReason | None] = [None, *get_args(v.UnifiedFinishReason)]
    return st.builds(
        v.NoOutput,
        message=strings(),
        text=strings(),
        cause=st.sampled_from(causes),
        finish_reason=st.sampled_from(reasons),
    )


def run_errors() -> SearchStrategy[v.RunError]:
    """Draw why a run could not go on."""
    return _run_errors()


@cache
def _run_errors() -> SearchStrategy[v.RunError]:
    return st.one_of(
        model_error_reasons(),
        st.builds(v.ToolChoiceViolated, message=strings()),
        no_outputs(),
        hook_failures(),
        st.builds(v.UnpairedPrompt, message=strings()),
    )


def run_ends() -> SearchStrategy[v.RunEnd[v.JsonText]]:
    """Draw how a run ended, or that it rests."""
    return _run_ends()


@cache
def _run_ends() -> SearchStrategy[v.RunEnd[v.JsonText]]:
    return st.one_of(
        st.builds(v.Completed[v.JsonText], output=json_texts()),
        st.builds(v.Stopped, stop=stops()),
        st.builds(v.Blocked, open=tuples_of(open_requests())),
        st.builds(v.Failed, error=run_errors()),
        st.builds(v.Cancelled, reason=strings()),
    )
