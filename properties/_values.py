"""Strategies for the values of a run: whatever their types allow, whether or not a run makes it.

Functions are named in the plural after what they draw; sizes are small, since laws about values
fail on small ones.
"""

import json
from functools import cache
from typing import TypeVar

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from stepfold import values as v

T = TypeVar("T")


# --- scalars ----------------------------------------------------------------------------------


def strings(*, max_size: int = 12) -> SearchStrategy[str]:
    """Draw texts that have a UTF-8 form; mostly short."""
    return st.text(max_size=max_size)


@cache
def names() -> SearchStrategy[str]:
    """Draw ids and names, few of them, so that they meet."""
    return st.sampled_from(["0", "1", "call_1", "r/0/0", "weather", "Wetter ☂", ""])


def figures(*, max_value: int = 10**12) -> SearchStrategy[int]:
    """Draw counts, small ones mostly."""
    return st.integers(0, 3) | st.integers(0, max_value)


@cache
def instants() -> SearchStrategy[v.Instant]:
    """Draw nanoseconds since 1970."""
    return st.integers(0, 2**63)


def json_values(*, max_leaves: int = 4) -> SearchStrategy[v.JsonInput]:
    """Draw documents as plain Python values."""
    leaves: SearchStrategy[v.JsonInput] = st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        strings(),
    )

    def grown(inner: SearchStrategy[v.JsonInput]) -> SearchStrategy[v.JsonInput]:
        arrays: SearchStrategy[v.JsonInput] = st.lists(inner, max_size=2)
        objects: SearchStrategy[v.JsonInput] = st.dictionaries(
            strings(max_size=3), inner, max_size=2
        )
        return arrays | objects

    return st.recursive(leaves, grown, max_leaves=max_leaves)


def json_texts(*, max_leaves: int = 4) -> SearchStrategy[v.JsonText]:
    """Draw documents as text, compact or spread over lines."""
    documents = json_values(max_leaves=max_leaves)
    spread = documents.map(lambda it: v.JsonText(json.dumps(it, indent=1, ensure_ascii=False)))
    return documents.map(v.JsonText.of) | spread


@cache
def options() -> SearchStrategy[v.JsonText | None]:
    """Draw what belongs to one provider: an object of objects, mostly nothing."""
    some = ["{}", '{"openai":{"itemId":"rs_1"}}', '{ "acme": {"größe": 1.50} }']
    return st.sampled_from([None, None, None, *map(v.JsonText, some)])


def tuples_of(items: SearchStrategy[T], *, max_size: int = 2) -> SearchStrategy[tuple[T, ...]]:
    """Draw tuples of any length."""
    return st.lists(items, max_size=max_size).map(tuple)


# --- parts ------------------------------------------------------------------------------------


@cache
def file_bytes() -> SearchStrategy[v.FileBytes]:
    """Draw files given by their content."""
    return st.binary(max_size=8).map(v.FileBytes)


@cache
def file_urls() -> SearchStrategy[v.FileUrl]:
    """Draw files to be fetched."""
    return names().map("https://files.test/{}".format).map(v.FileUrl)


@cache
def file_data() -> SearchStrategy[v.FileData]:
    """Draw what a file's content is."""
    return st.one_of(
        file_bytes(),
        file_urls(),
        st.builds(v.FileReference, json_texts()),
        st.builds(v.FileText, strings()),
    )


@cache
def texts() -> SearchStrategy[v.Text]:
    """Draw text parts."""
    return st.builds(v.Text, strings(), provider_options=options())


@cache
def files() -> SearchStrategy[v.File]:
    """Draw file parts."""
    return st.builds(
        v.File,
        file_data(),
        st.sampled_from(["image", "text/plain"]),
        filename=st.none() | names(),
        provider_options=options(),
    )


@cache
def reasonings() -> SearchStrategy[v.Reasoning]:
    """Draw what a model thought."""
    return st.builds(v.Reasoning, strings(), provider_options=options())


@cache
def reasoning_files() -> SearchStrategy[v.ReasoningFile]:
    """Draw files of a model's reasoning."""
    return st.builds(
        v.ReasoningFile, file_bytes() | file_urls(), names(), provider_options=options()
    )


@cache
def sources() -> SearchStrategy[v.UrlSource | v.DocumentSource]:
    """Draw what a reply rests on."""
    return st.builds(
        v.UrlSource, names(), strings(), title=st.none() | strings(), provider_options=options()
    ) | st.builds(
        v.DocumentSource,
        names(),
        names(),
        strings(),
        filename=st.none() | names(),
        provider_options=options(),
    )


@cache
def customs() -> SearchStrategy[v.Custom]:
    """Draw content of one provider."""
    return st.builds(v.Custom, names(), provider_options=options())


@cache
def tool_calls() -> SearchStrategy[v.ToolCall]:
    """Draw calls, whose input is any text."""
    return st.builds(
        v.ToolCall,
        names(),
        names(),
        strings() | json_texts().map(lambda it: it.text),
        provider_executed=st.booleans(),
        dynamic=st.booleans(),
        provider_options=options(),
    )


@cache
def tool_outputs() -> SearchStrategy[v.ToolOutput]:
    """Draw what a model is told of a call."""
    content = tuples_of(texts() | files() | customs())
    return st.one_of(
        st.builds(v.TextOutput, strings(), provider_options=options()),
        st.builds(v.JsonOutput, json_texts(), provider_options=options()),
        st.builds(v.ErrorTextOutput, strings(), provider_options=options()),
        st.builds(v.ErrorJsonOutput, json_texts(), provider_options=options()),
        st.builds(v.DeniedOutput, st.none() | strings(), provider_options=options()),
        st.builds(v.ContentOutput, content, provider_options=options()),
    )


@cache
def tool_results() -> SearchStrategy[v.ToolResult]:
    """Draw answers to calls."""
    return st.builds(
        v.ToolResult,
        names(),
        names(),
        tool_outputs(),
        value=st.none() | json_texts(),
        provider_executed=st.booleans(),
        preliminary=st.booleans(),
        dynamic=st.booleans(),
        provider_options=options(),
    )


@cache
def tool_error_kinds() -> SearchStrategy[v.ToolErrorKind]:
    """Draw why a call was not answered."""
    kinds: list[v.ToolErrorKind] = [
        "invalid",
        "failed",
        "timeout",
        "interrupted",
        "limit",
        "not-run",
    ]
    return st.sampled_from(kinds)


@cache
def tool_errors() -> SearchStrategy[v.ToolError]:
    """Draw failed calls."""
    return st.builds(
        v.ToolError,
        names(),
        names(),
        strings(),
        kind=tool_error_kinds(),
        value=st.none() | json_texts(),
        provider_executed=st.booleans(),
        dynamic=st.booleans(),
        provider_options=options(),
    )


@cache
def approval_requests() -> SearchStrategy[v.ApprovalRequest]:
    """Draw calls that wait for a decision."""
    return st.builds(
        v.ApprovalRequest,
        names(),
        names(),
        reason=st.none() | strings(),
        is_automatic=st.booleans(),
        signature=st.none() | names(),
        provider_options=options(),
    )


@cache
def approval_responses() -> SearchStrategy[v.ApprovalResponse]:
    """Draw decisions."""
    return st.builds(
        v.ApprovalResponse,
        names(),
        st.booleans(),
        reason=st.none() | strings(),
        provider_executed=st.booleans(),
        provider_options=options(),
    )


@cache
def reply_parts() -> SearchStrategy[v.ReplyPart]:
    """Draw what a reply consists of."""
    return st.one_of(
        texts(),
        reasonings(),
        tool_calls(),
        tool_results(),
        tool_errors(),
        files(),
        reasoning_files(),
        sources(),
        customs(),
        approval_requests(),
    )


@cache
def content_parts() -> SearchStrategy[v.ContentPart]:
    """Draw what a step consists of."""
    return reply_parts() | approval_responses()


# --- messages ---------------------------------------------------------------------------------


@cache
def user_messages() -> SearchStrategy[v.UserMessage]:
    """Draw what a person says."""
    return st.builds(v.UserMessage, tuples_of(texts() | files()), provider_options=options())


@cache
def assistant_messages() -> SearchStrategy[v.AssistantMessage]:
    """Draw what a model said."""
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


@cache
def messages() -> SearchStrategy[v.Message]:
    """Draw messages of all roles."""
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


@cache
def usages() -> SearchStrategy[v.Usage]:
    """Draw token counts, each of which may be unknown."""
    known = st.none() | figures()
    return st.builds(
        v.Usage,
        known,
        known,
        input_token_details=st.builds(v.InputTokenDetails, known, known, known),
        output_token_details=st.builds(v.OutputTokenDetails, known, known),
    )


@cache
def finish_reasons() -> SearchStrategy[v.FinishReason]:
    """Draw why a reply ended."""
    unified: list[v.UnifiedFinishReason] = [
        *("stop", "length", "content-filter", "tool-calls", "error", "interrupted", "other"),
    ]
    return st.builds(v.FinishReason, st.sampled_from(unified), st.none() | names())


@cache
def model_warnings() -> SearchStrategy[v.ModelWarning]:
    """Draw what a provider did not do as asked."""
    return st.builds(
        v.ModelWarning,
        st.sampled_from(["unsupported", "compatibility", "deprecated", "other"]),
        names(),
        strings(),
    )


@cache
def headers() -> SearchStrategy[tuple[tuple[str, str], ...]]:
    """Draw headers, in an order, names more than once."""
    return tuples_of(st.tuples(names(), strings()))


@cache
def response_infos() -> SearchStrategy[v.ResponseInfo]:
    """Draw what a provider said about its answer."""
    return st.builds(
        v.ResponseInfo, st.none() | names(), st.none() | names(), st.none() | instants(), headers()
    )


@cache
def replies() -> SearchStrategy[v.ModelReply]:
    """Draw whole answers of a model."""
    return st.builds(
        v.ModelReply,
        tuples_of(reply_parts()),
        finish_reasons(),
        usages(),
        warnings=tuples_of(model_warnings()),
        response=response_infos(),
        provider_metadata=options(),
    )


@cache
def model_error_reasons() -> SearchStrategy[v.ModelErrorReason]:
    """Draw why a model gave no complete reply."""
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


@cache
def stream_parts() -> SearchStrategy[v.StreamPart]:
    """Draw the parts of streamed replies, in no order."""
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


@cache
def call_settings() -> SearchStrategy[v.CallSettings]:
    """Draw how a model shall answer."""
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


@cache
def tool_definitions() -> SearchStrategy[v.ToolDefinition]:
    """Draw tools as models are told of them."""
    return st.builds(
        v.ToolDefinition,
        names(),
        strings(),
        json_texts(),
        strict=st.none() | st.booleans(),
        input_examples=tuples_of(json_texts()),
        provider_options=options(),
    )


@cache
def tool_choices() -> SearchStrategy[v.ToolChoice]:
    """Draw which tools a model may or must call."""
    words: SearchStrategy[v.ToolChoice] = st.sampled_from(["auto", "none", "required"])
    return words | st.builds(v.NamedTool, names())


@cache
def requests() -> SearchStrategy[v.ModelRequest]:
    """Draw what a model is asked."""
    return st.builds(
        v.ModelRequest,
        messages=tuples_of(messages()),
        instructions=strings(),
        tools=tuples_of(tool_definitions(), max_size=2),
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


@cache
def chunk_gaps() -> SearchStrategy[v.ChunkGaps]:
    """Draw pauses between chunks."""
    one = figures()
    return st.builds(v.ChunkGaps, one, one, one, one, one, one, one)


@cache
def performances() -> SearchStrategy[v.Performance]:
    """Draw how long a step took."""
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


@cache
def step_results() -> SearchStrategy[v.StepResult]:
    """Draw steps that have come to rest."""
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
    )


@cache
def stops() -> SearchStrategy[v.Stop]:
    """Draw why a run was stopped."""
    return st.builds(v.Stop, names()) | st.builds(v.Stop, names(), json_texts())


@cache
def open_approvals() -> SearchStrategy[v.OpenApproval]:
    """Draw what people owe."""
    return st.builds(v.OpenApproval, names(), tool_calls(), names(), st.none() | strings())


@cache
def open_calls() -> SearchStrategy[v.OpenCall]:
    """Draw what clients owe."""
    return st.builds(v.OpenCall, st.integers(-1, 3), figures(), figures(), tool_calls())


@cache
def open_requests() -> SearchStrategy[v.OpenRequest]:
    """Draw what people and clients owe."""
    return open_approvals() | open_calls()


@cache
def hook_failures() -> SearchStrategy[v.HookFailed]:
    """Draw what came of hooks that raised."""
    return st.builds(v.HookFailed, names(), names())


@cache
def run_errors() -> SearchStrategy[v.RunError]:
    """Draw why a run could not go on."""
    return st.one_of(
        model_error_reasons(),
        st.builds(v.ToolChoiceViolated, strings()),
        st.builds(v.NoOutput, strings(), strings()),
        hook_failures(),
        st.builds(v.UnpairedPrompt, strings()),
    )


@cache
def run_ends() -> SearchStrategy[v.RunEnd[v.JsonText]]:
    """Draw how a run ended, or that it rests."""
    return st.one_of(
        st.builds(v.Completed[v.JsonText], json_texts()),
        st.builds(v.Stopped, stops()),
        st.builds(v.Blocked, tuples_of(open_requests())),
        st.builds(v.Failed, run_errors()),
        st.builds(v.Cancelled, strings()),
    )
