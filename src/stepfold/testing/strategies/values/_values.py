"""Messages, replies, requests, and what a run leaves behind."""

from functools import cache
from typing import get_args

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from stepfold import values as v
from stepfold.testing.strategies.values._parts import (
    approval_requests,
    approval_responses,
    content_parts,
    customs,
    figures,
    files,
    instants,
    json_texts,
    names,
    options,
    reasoning_files,
    reasonings,
    reply_parts,
    sources,
    strings,
    texts,
    tool_calls,
    tool_errors,
    tool_results,
    tuples_of,
)

# --- messages ---------------------------------------------------------------------------------


def user_messages() -> SearchStrategy[v.UserMessage]:
    """Draw what a person says."""
    return _user_messages()


@cache
def _user_messages() -> SearchStrategy[v.UserMessage]:
    return st.builds(v.UserMessage, tuples_of(texts() | files()), provider_options=options())


def assistant_messages() -> SearchStrategy[v.AssistantMessage]:
    """Draw what a model said."""
    return _assistant_messages()


@cache
def _assistant_messages() -> SearchStrategy[v.AssistantMessage]:
    parts: SearchStrategy[v.AssistantPart] = st.one_of(
        texts(),
        reasonings(),
        tool_calls(),
        tool_results(),
        files(),
        reasoning_files(),
        customs(),
        approval_requests(),
    )
    return st.builds(v.AssistantMessage, tuples_of(parts), provider_options=options())


def messages() -> SearchStrategy[v.Message]:
    """Draw messages of all roles."""
    return _messages()


@cache
def _messages() -> SearchStrategy[v.Message]:
    return st.one_of(
        st.builds(v.SystemMessage, strings(), provider_options=options()),
        user_messages(),
        assistant_messages(),
        st.builds(
            v.ToolMessage,
            tuples_of(tool_results() | approval_responses()),
            provider_options=options(),
        ),
    )


# --- replies ----------------------------------------------------------------------------------


def usages() -> SearchStrategy[v.Usage]:
    """Draw token counts, each of which may be unknown."""
    return _usages()


@cache
def _usages() -> SearchStrategy[v.Usage]:
    known = st.none() | figures()
    return st.builds(
        v.Usage,
        known,
        known,
        input_token_details=st.builds(v.InputTokenDetails, known, known, known),
        output_token_details=st.builds(v.OutputTokenDetails, known, known),
    )


def finish_reasons() -> SearchStrategy[v.FinishReason]:
    """Draw why a reply ended."""
    return _finish_reasons()


@cache
def _finish_reasons() -> SearchStrategy[v.FinishReason]:
    unified: list[v.UnifiedFinishReason] = [
        *("stop", "length", "content-filter", "tool-calls", "error", "interrupted", "other"),
    ]
    return st.builds(v.FinishReason, st.sampled_from(unified), st.none() | names())


def model_warnings() -> SearchStrategy[v.ModelWarning]:
    """Draw what a provider did not do as asked."""
    return _model_warnings()


@cache
def _model_warnings() -> SearchStrategy[v.ModelWarning]:
    return st.builds(
        v.ModelWarning,
        st.sampled_from(["unsupported", "compatibility", "deprecated", "other"]),
        names(),
        strings(),
    )


def headers() -> SearchStrategy[tuple[tuple[str, str], ...]]:
    """Draw headers, in an order, names more than once."""
    return _headers()


@cache
def _headers() -> SearchStrategy[tuple[tuple[str, str], ...]]:
    return tuples_of(st.tuples(names(), strings()))


def response_infos() -> SearchStrategy[v.ResponseInfo]:
    """Draw what a provider said about its answer."""
    return _response_infos()


@cache
def _response_infos() -> SearchStrategy[v.ResponseInfo]:
    return st.builds(
        v.ResponseInfo, st.none() | names(), st.none() | names(), st.none() | instants(), headers()
    )


def replies() -> SearchStrategy[v.ModelReply]:
    """Draw whole answers of a model."""
    return _replies()


@cache
def _replies() -> SearchStrategy[v.ModelReply]:
    return st.builds(
        v.ModelReply,
        tuples_of(reply_parts()),
        finish_reasons(),
        usages(),
        warnings=tuples_of(model_warnings()),
        response=response_infos(),
        provider_metadata=options(),
    )


def model_error_reasons() -> SearchStrategy[v.ModelErrorReason]:
    """Draw why a model gave no complete reply."""
    return _model_error_reasons()


@cache
def _model_error_reasons() -> SearchStrategy[v.ModelErrorReason]:
    kinds: list[v.ModelErrorKind] = [
        *("authentication", "permission", "not-found", "bad-request", "context-length"),
        *("content-filter", "rate-limit", "quota", "overloaded", "server", "connection"),
        *("timeout", "protocol", "unknown"),
    ]
    return st.builds(
        v.ModelErrorReason,
        st.sampled_from(kinds),
        strings(),
        status=st.none() | st.integers(100, 599),
        retry_after=st.none() | figures(),
        request_id=st.none() | names(),
        code=st.none() | names(),
    )


def stream_parts() -> SearchStrategy[v.StreamPart]:
    """Draw the parts of streamed replies, in no order."""
    return _stream_parts()


@cache
def _stream_parts() -> SearchStrategy[v.StreamPart]:
    return st.one_of(
        st.builds(v.StreamStart, tuples_of(model_warnings())),
        st.builds(
            v.ResponseMetadata,
            id=st.none() | names(),
            model_id=st.none() | names(),
            timestamp=st.none() | instants(),
            headers=headers(),
        ),
        st.builds(v.TextStart, names(), provider_options=options()),
        st.builds(v.TextDelta, names(), strings(), provider_options=options()),
        st.builds(v.TextEnd, names(), provider_options=options()),
        st.builds(v.ReasoningStart, names(), provider_options=options()),
        st.builds(v.ReasoningDelta, names(), strings(), provider_options=options()),
        st.builds(v.ReasoningEnd, names(), provider_options=options()),
        st.builds(
            v.ToolInputStart,
            names(),
            names(),
            provider_executed=st.booleans(),
            dynamic=st.booleans(),
            provider_options=options(),
        ),
        st.builds(v.ToolInputDelta, names(), strings()),
        st.builds(v.ToolInputEnd, names(), provider_options=options()),
        st.one_of(tool_calls(), tool_results(), tool_errors(), approval_requests()),
        st.one_of(files(), reasoning_files(), sources(), customs()),
        st.builds(v.Finish, finish_reasons(), usages(), provider_metadata=options()),
        st.builds(v.StreamError, model_error_reasons()),
        st.just(v.Ping()),
        st.builds(v.Raw, json_texts()),
    )


# --- requests ---------------------------------------------------------------------------------


def call_settings() -> SearchStrategy[v.CallSettings]:
    """Draw how a model shall answer."""
    return _call_settings()


@cache
def _call_settings() -> SearchStrategy[v.CallSettings]:
    number = st.none() | st.floats(allow_nan=False) | st.integers(-2, 2)
    efforts: list[v.ReasoningEffort] = ["none", "minimal", "low", "medium", "high", "xhigh", "max"]
    return st.builds(
        v.CallSettings,
        max_output_tokens=st.none() | figures(),
        temperature=number,
        top_p=number,
        top_k=st.none() | figures(),
        presence_penalty=number,
        frequency_penalty=number,
        stop_sequences=tuples_of(strings()),
        seed=st.none() | st.integers(),
        reasoning=st.none() | st.sampled_from(efforts),
    )


def tool_definitions() -> SearchStrategy[v.ToolDefinition]:
    """Draw tools as models are told of them."""
    return _tool_definitions()


@cache
def _tool_definitions() -> SearchStrategy[v.ToolDefinition]:
    return st.builds(
        v.ToolDefinition,
        names(),
        strings(),
        json_texts(),
        strict=st.none() | st.booleans(),
        input_examples=tuples_of(json_texts()),
        provider_options=options(),
    )


def provider_tools() -> SearchStrategy[v.ProviderTool]:
    """Draw tools of a provider as models are told of them."""
    return _provider_tools()


@cache
def _provider_tools() -> SearchStrategy[v.ProviderTool]:
    return st.builds(
        v.ProviderTool,
        names(),
        names(),
        json_texts(),
        supports_deferred_results=st.booleans(),
    )


def tool_choices() -> SearchStrategy[v.ToolChoice]:
    """Draw which tools a model may or must call."""
    return _tool_choices()


@cache
def _tool_choices() -> SearchStrategy[v.ToolChoice]:
    words: SearchStrategy[v.ToolChoice] = st.sampled_from(["auto", "none", "required"])
    return words | st.builds(v.NamedTool, names())


def requests() -> SearchStrategy[v.ModelRequest]:
    """Draw what a model is asked."""
    return _requests()


@cache
def _requests() -> SearchStrategy[v.ModelRequest]:
    return st.builds(
        v.ModelRequest,
        messages=tuples_of(messages()),
        instructions=strings(),
        tools=tuples_of(tool_definitions(), max_size=2),
        provider_tools=tuples_of(provider_tools(), max_size=2),
        tool_choice=tool_choices(),
        response_format=st.none()
        | st.builds(
            v.JsonFormat,
            st.none() | json_texts(),
            name=st.none() | names(),
            description=st.none() | strings(),
        ),
        settings=call_settings(),
        headers=headers(),
        provider_options=options(),
        key=names(),
    )


# --- runs -------------------------------------------------------------------------------------


def chunk_gaps() -> SearchStrategy[v.ChunkGaps]:
    """Draw pauses between chunks."""
    return _chunk_gaps()


@cache
def _chunk_gaps() -> SearchStrategy[v.ChunkGaps]:
    one = figures()
    return st.builds(v.ChunkGaps, one, one, one, one, one, one, one)


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
        st.integers(-1, 3),
        names(),
        tuples_of(content_parts()),
        finish_reasons(),
        usages(),
        performances(),
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
    return st.builds(v.Stop, names()) | st.builds(v.Stop, names(), json_texts())


def open_approvals() -> SearchStrategy[v.OpenApproval]:
    """Draw what people owe."""
    return _open_approvals()


@cache
def _open_approvals() -> SearchStrategy[v.OpenApproval]:
    return st.builds(
        v.OpenApproval,
        names(),
        tool_calls(),
        names(),
        st.none() | strings(),
        st.none() | names(),
    )


def open_calls() -> SearchStrategy[v.OpenCall]:
    """Draw what clients owe."""
    return _open_calls()


@cache
def _open_calls() -> SearchStrategy[v.OpenCall]:
    return st.builds(v.OpenCall, st.integers(-1, 3), figures(), figures(), tool_calls())


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
    return st.builds(v.HookFailed, names(), names())


def no_outputs() -> SearchStrategy[v.NoOutput]:
    """Draw why there is no output."""
    return _no_outputs()


@cache
def _no_outputs() -> SearchStrategy[v.NoOutput]:
    causes: list[v.NoOutputCause] = [*get_args(v.NoOutputCause)]
    reasons: list[v.UnifiedFinishReason | None] = [None, *get_args(v.UnifiedFinishReason)]
    return st.builds(
        v.NoOutput,
        strings(),
        strings(),
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
        st.builds(v.ToolChoiceViolated, strings()),
        no_outputs(),
        hook_failures(),
        st.builds(v.UnpairedPrompt, strings()),
    )


def run_ends() -> SearchStrategy[v.RunEnd[v.JsonText]]:
    """Draw how a run ended, or that it rests."""
    return _run_ends()


@cache
def _run_ends() -> SearchStrategy[v.RunEnd[v.JsonText]]:
    return st.one_of(
        st.builds(v.Completed[v.JsonText], json_texts()),
        st.builds(v.Stopped, stops()),
        st.builds(v.Blocked, tuples_of(open_requests())),
        st.builds(v.Failed, run_errors()),
        st.builds(v.Cancelled, strings()),
    )
