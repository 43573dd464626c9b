"""Messages, replies and requests."""

from functools import cache

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from stepfold import values as v
from stepfold.testing.strategies.values._parts import (
    approval_requests,
    approval_responses,
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
    return st.builds(
        v.UserMessage, content=tuples_of(texts() | files()), provider_options=options()
    )


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
    return st.builds(v.AssistantMessage, content=tuples_of(parts), provider_options=options())


def tool_messages() -> SearchStrategy[v.ToolMessage]:
    """Draw what tools and people answered."""
    return _tool_messages()


@cache
def _tool_messages() -> SearchStrategy[v.ToolMessage]:
    answers = tuples_of(tool_results() | approval_responses())
    return st.builds(v.ToolMessage, content=answers, provider_options=options())


def messages() -> SearchStrategy[v.Message]:
    """Draw messages of all roles."""
    return _messages()


@cache
def _messages() -> SearchStrategy[v.Message]:
    return st.one_of(
        st.builds(v.SystemMessage, content=strings(), provider_options=options()),
        user_messages(),
        assistant_messages(),
        tool_messages(),
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
        input_tokens=known,
        output_tokens=known,
        input_token_details=st.builds(
            v.InputTokenDetails,
            no_cache_tokens=known,
            cache_read_tokens=known,
            cache_write_tokens=known,
        ),
        output_token_details=st.builds(
            v.OutputTokenDetails, text_tokens=known, reasoning_tokens=known
        ),
    )


def finish_reasons() -> SearchStrategy[v.FinishReason]:
    """Draw why a reply ended."""
    return _finish_reasons()


@cache
def _finish_reasons() -> SearchStrategy[v.FinishReason]:
    unified: list[v.UnifiedFinishReason] = [
        *("stop", "length", "content-filter", "tool-calls", "error", "interrupted", "other"),
    ]
    return st.builds(v.FinishReason, unified=st.sampled_from(unified), raw=st.none() | names())


def model_warnings() -> SearchStrategy[v.ModelWarning]:
    """Draw what a provider did not do as asked."""
    return _model_warnings()


@cache
def _model_warnings() -> SearchStrategy[v.ModelWarning]:
    return st.builds(
        v.ModelWarning,
        kind=st.sampled_from(["unsupported", "compatibility", "deprecated", "other"]),
        subject=names(),
        message=strings(),
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
        v.ResponseInfo,
        id=st.none() | names(),
        model_id=st.none() | names(),
        timestamp=st.none() | instants(),
        headers=headers(),
    )


def replies() -> SearchStrategy[v.ModelReply]:
    """Draw whole answers of a model."""
    return _replies()


@cache
def _replies() -> SearchStrategy[v.ModelReply]:
    return st.builds(
        v.ModelReply,
        content=tuples_of(reply_parts()),
        finish_reason=finish_reasons(),
        usage=usages(),
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
        kind=st.sampled_from(kinds),
        message=strings(),
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
        st.builds(v.StreamStart, warnings=tuples_of(model_warnings())),
        st.builds(
            v.ResponseMetadata,
            id=st.none() | names(),
            model_id=st.none() | names(),
            timestamp=st.none() | instants(),
            headers=headers(),
        ),
        st.builds(v.TextStart, id=names(), provider_options=options()),
        st.builds(v.TextDelta, id=names(), delta=strings(), provider_options=options()),
        st.builds(v.TextEnd, id=names(), provider_options=options()),
        st.builds(v.ReasoningStart, id=names(), provider_options=options()),
        st.builds(v.ReasoningDelta, id=names(), delta=strings(), provider_options=options()),
        st.builds(v.ReasoningEnd, id=names(), provider_options=options()),
        st.builds(
            v.ToolInputStart,
            id=names(),
            tool_name=names(),
            provider_executed=st.booleans(),
            dynamic=st.booleans(),
            provider_options=options(),
        ),
        st.builds(v.ToolInputDelta, id=names(), delta=strings()),
        st.builds(v.ToolInputEnd, id=names(), provider_options=options()),
        st.one_of(tool_calls(), tool_results(), tool_errors(), approval_requests()),
        st.one_of(files(), reasoning_files(), sources(), customs()),
        st.builds(
            v.Finish, finish_reason=finish_reasons(), usage=usages(), provider_metadata=options()
        ),
        st.builds(v.StreamError, reason=model_error_reasons()),
        st.just(v.Ping()),
        st.builds(v.Raw, value=json_texts()),
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
        name=names(),
        description=strings(),
        input_schema=json_texts(),
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
        id=names(),
        name=names(),
        args=json_texts(),
        supports_deferred_results=st.booleans(),
    )


def tool_choices() -> SearchStrategy[v.ToolChoice]:
    """Draw which tools a model may or must call."""
    return _tool_choices()


@cache
def _tool_choices() -> SearchStrategy[v.ToolChoice]:
    words: SearchStrategy[v.ToolChoice] = st.sampled_from(["auto", "none", "required"])
    return words | st.builds(v.NamedTool, tool_name=names())


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
            schema=st.none() | json_texts(),
            name=st.none() | names(),
            description=st.none() | strings(),
        ),
        settings=call_settings(),
        headers=headers(),
        provider_options=options(),
        key=names(),
    )
