"""JSON, and the parts of messages and replies."""

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


def names() -> SearchStrategy[str]:
    """Draw ids and names, few of them, so that they meet."""
    return _names()


@cache
def _names() -> SearchStrategy[str]:
    return st.sampled_from(["0", "1", "call_1", "r/0/0", "weather", "Wetter ☂", ""])


def figures(*, max_value: int = 10**12) -> SearchStrategy[int]:
    """Draw counts, small ones mostly."""
    return st.integers(0, 3) | st.integers(0, max_value)


def instants() -> SearchStrategy[v.Instant]:
    """Draw nanoseconds since 1970."""
    return _instants()


@cache
def _instants() -> SearchStrategy[v.Instant]:
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


def options() -> SearchStrategy[v.JsonText | None]:
    """Draw what belongs to one provider: an object of objects, mostly nothing."""
    return _options()


@cache
def _options() -> SearchStrategy[v.JsonText | None]:
    some = ["{}", '{"openai":{"itemId":"rs_1"}}', '{ "acme": {"größe": 1.50} }']
    return st.sampled_from([None, None, None, *map(v.JsonText, some)])


def tuples_of(items: SearchStrategy[T], *, max_size: int = 2) -> SearchStrategy[tuple[T, ...]]:
    """Draw tuples of any length."""
    return st.lists(items, max_size=max_size).map(tuple)


# --- parts ------------------------------------------------------------------------------------


def file_bytes() -> SearchStrategy[v.FileBytes]:
    """Draw files given by their content."""
    return _file_bytes()


@cache
def _file_bytes() -> SearchStrategy[v.FileBytes]:
    return st.binary(max_size=8).map(v.FileBytes)


def file_urls() -> SearchStrategy[v.FileUrl]:
    """Draw files to be fetched."""
    return _file_urls()


@cache
def _file_urls() -> SearchStrategy[v.FileUrl]:
    return names().map("https://files.test/{}".format).map(v.FileUrl)


def file_data() -> SearchStrategy[v.FileData]:
    """Draw what a file's content is."""
    return _file_data()


@cache
def _file_data() -> SearchStrategy[v.FileData]:
    return st.one_of(
        file_bytes(),
        file_urls(),
        st.builds(v.FileReference, reference=json_texts()),
        st.builds(v.FileText, text=strings()),
    )


def texts() -> SearchStrategy[v.Text]:
    """Draw text parts."""
    return _texts()


@cache
def _texts() -> SearchStrategy[v.Text]:
    return st.builds(v.Text, text=strings(), provider_options=options())


def files() -> SearchStrategy[v.File]:
    """Draw file parts."""
    return _files()


@cache
def _files() -> SearchStrategy[v.File]:
    return st.builds(
        v.File,
        data=file_data(),
        media_type=st.sampled_from(["image", "text/plain"]),
        filename=st.none() | names(),
        provider_options=options(),
    )


def reasonings() -> SearchStrategy[v.Reasoning]:
    """Draw what a model thought."""
    return _reasonings()


@cache
def _reasonings() -> SearchStrategy[v.Reasoning]:
    return st.builds(v.Reasoning, text=strings(), provider_options=options())


def reasoning_files() -> SearchStrategy[v.ReasoningFile]:
    """Draw files of a model's reasoning."""
    return _reasoning_files()


@cache
def _reasoning_files() -> SearchStrategy[v.ReasoningFile]:
    return st.builds(
        v.ReasoningFile,
        data=file_bytes() | file_urls(),
        media_type=names(),
        provider_options=options(),
    )


def sources() -> SearchStrategy[v.UrlSource | v.DocumentSource]:
    """Draw what a reply rests on."""
    return _sources()


@cache
def _sources() -> SearchStrategy[v.UrlSource | v.DocumentSource]:
    return st.builds(
        v.UrlSource,
        id=names(),
        url=strings(),
        title=st.none() | strings(),
        provider_options=options(),
    ) | st.builds(
        v.DocumentSource,
        id=names(),
        media_type=names(),
        title=strings(),
        filename=st.none() | names(),
        provider_options=options(),
    )


def customs() -> SearchStrategy[v.Custom]:
    """Draw content of one provider."""
    return _customs()


@cache
def _customs() -> SearchStrategy[v.Custom]:
    return st.builds(v.Custom, kind=names(), provider_options=options())


def tool_calls() -> SearchStrategy[v.ToolCall]:
    """Draw calls, whose input is any text."""
    return _tool_calls()


@cache
def _tool_calls() -> SearchStrategy[v.ToolCall]:
    return st.builds(
        v.ToolCall,
        tool_call_id=names(),
        tool_name=names(),
        input=strings() | json_texts().map(lambda it: it.text),
        provider_executed=st.booleans(),
        dynamic=st.booleans(),
        title=st.none() | names(),
        tool_metadata=st.none() | json_texts(),
        provider_options=options(),
    )


def tool_outputs() -> SearchStrategy[v.ToolOutput]:
    """Draw what a model is told of a call."""
    return _tool_outputs()


@cache
def _tool_outputs() -> SearchStrategy[v.ToolOutput]:
    content = tuples_of(texts() | files() | customs())
    return st.one_of(
        st.builds(v.TextOutput, value=strings(), provider_options=options()),
        st.builds(v.JsonOutput, value=json_texts(), provider_options=options()),
        st.builds(v.ErrorTextOutput, value=strings(), provider_options=options()),
        st.builds(v.ErrorJsonOutput, value=json_texts(), provider_options=options()),
        st.builds(v.DeniedOutput, reason=st.none() | strings(), provider_options=options()),
        st.builds(v.ContentOutput, value=content, provider_options=options()),
    )


def tool_results() -> SearchStrategy[v.ToolResult]:
    """Draw answers to calls."""
    return _tool_results()


@cache
def _tool_results() -> SearchStrategy[v.ToolResult]:
    return st.builds(
        v.ToolResult,
        tool_call_id=names(),
        tool_name=names(),
        output=tool_outputs(),
        value=st.none() | json_texts(),
        provider_executed=st.booleans(),
        preliminary=st.booleans(),
        dynamic=st.booleans(),
        title=st.none() | names(),
        tool_metadata=st.none() | json_texts(),
        provider_options=options(),
    )


def tool_error_kinds() -> SearchStrategy[v.ToolErrorKind]:
    """Draw why a call was not answered."""
    return _tool_error_kinds()


@cache
def _tool_error_kinds() -> SearchStrategy[v.ToolErrorKind]:
    kinds: list[v.ToolErrorKind] = [
        "invalid",
        "failed",
        "timeout",
        "interrupted",
        "limit",
        "not-run",
        "unverified",
    ]
    return st.sampled_from(kinds)


def tool_errors() -> SearchStrategy[v.ToolError]:
    """Draw failed calls."""
    return _tool_errors()


@cache
def _tool_errors() -> SearchStrategy[v.ToolError]:
    return st.builds(
        v.ToolError,
        tool_call_id=names(),
        tool_name=names(),
        error=strings(),
        kind=tool_error_kinds(),
        value=st.none() | json_texts(),
        provider_executed=st.booleans(),
        dynamic=st.booleans(),
        title=st.none() | names(),
        tool_metadata=st.none() | json_texts(),
        provider_options=options(),
    )


def approval_requests() -> SearchStrategy[v.ApprovalRequest]:
    """Draw calls that wait for a decision."""
    return _approval_requests()


@cache
def _approval_requests() -> SearchStrategy[v.ApprovalRequest]:
    return st.builds(
        v.ApprovalRequest,
        approval_id=names(),
        tool_call_id=names(),
        reason=st.none() | strings(),
        is_automatic=st.booleans(),
        signature=st.none() | names(),
        provider_options=options(),
    )


def approval_responses() -> SearchStrategy[v.ApprovalResponse]:
    """Draw decisions."""
    return _approval_responses()


@cache
def _approval_responses() -> SearchStrategy[v.ApprovalResponse]:
    return st.builds(
        v.ApprovalResponse,
        approval_id=names(),
        approved=st.booleans(),
        reason=st.none() | strings(),
        provider_executed=st.booleans(),
        provider_options=options(),
    )


def reply_parts() -> SearchStrategy[v.ReplyPart]:
    """Draw what a reply consists of."""
    return _reply_parts()


@cache
def _reply_parts() -> SearchStrategy[v.ReplyPart]:
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


def content_parts() -> SearchStrategy[v.ContentPart]:
    """Draw what a step consists of."""
    return _content_parts()


@cache
def _content_parts() -> SearchStrategy[v.ContentPart]:
    return reply_parts() | approval_responses()
