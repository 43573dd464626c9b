"""The table of features says what tests say: each is there, and the page is up to date."""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache

import pytest

from stepfold.loop import fold_parts
from stepfold.providers import PROTOCOLS, protocol_named
from stepfold.values import (
    ApprovalRequest,
    DocumentSource,
    ModelReply,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    UrlSource,
)
from tests.providers.features import (
    COLUMNS,
    FEATURES,
    PAGE,
    ROOT,
    SHOWN,
    Cell,
    page_with_table,
)
from tests.providers.recordings import SPOKEN, recorded, recordings


def test_the_table_on_the_page_is_up_to_date() -> None:
    assert PAGE.read_text("utf-8") == page_with_table(), (
        "run `python -m tests.providers.features`, and review what changed"
    )


def test_every_protocol_has_a_column() -> None:
    assert {entry.name for entry in PROTOCOLS} <= COLUMNS.keys()


def cells() -> Iterator[tuple[str, Cell]]:
    for feature in FEATURES:
        for protocol, cell in feature.cells.items():
            if protocol in SPOKEN:
                yield f"{feature.name}, {protocol}", cell


def test_what_is_said_to_be_so_has_a_test() -> None:
    """That there is: the file, the function in it and, where a case is named, the case."""
    for where, cell in cells():
        if cell.state in {"not in the protocol", "unverified"}:
            assert not cell.test, where
            continue
        match = re.fullmatch(r"([\w/]+\.py)::(\w+)(?:\[(.+)\])?", cell.test)
        assert match is not None, where
        path, function, case = match.groups()
        names, texts = _names_and_texts(path)
        assert function in names, f"{where}: no {function} in {path}"
        if case is not None and path != "tests/providers/test_features.py":
            assert case in texts | names, f"{where}: no case {case!r} in {path}"


@cache
def _names_and_texts(path: str) -> tuple[frozenset[str], frozenset[str]]:
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    names: set[str] = set()
    texts: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            texts.add(node.value)
    return frozenset(names), frozenset(texts)


# --- what recordings show ---------------------------------------------------------------------

Shows = Callable[[ModelReply], bool]


def of_kind(kind: type[object] | tuple[type[object], ...]) -> Shows:
    return lambda reply: any(isinstance(part, kind) for part in reply.content)


def client_calls(reply: ModelReply) -> list[ToolCall]:
    return [p for p in reply.content if isinstance(p, ToolCall) and not p.provider_executed]


def has_answered(reply: ModelReply) -> bool:
    calls = {p.tool_call_id for p in reply.content if isinstance(p, ToolCall)}
    return any(isinstance(p, ToolResult) and p.tool_call_id in calls for p in reply.content)


def has_late(reply: ModelReply) -> bool:
    calls = {p.tool_call_id for p in reply.content if isinstance(p, ToolCall)}
    return any(isinstance(p, ToolResult) and p.tool_call_id not in calls for p in reply.content)


SIGNS: dict[str, Shows] = {
    "text": lambda reply: any(isinstance(p, Text) and p.text for p in reply.content),
    "reasoning": lambda reply: any(isinstance(p, Reasoning) and p.text for p in reply.content),
    "calls": lambda reply: bool(client_calls(reply)),
    "parallel calls": lambda reply: len(client_calls(reply)) > 1,
    "calls of the provider, and results": has_answered,
    "results in a later reply": has_late,
    "requests for approval": of_kind(ApprovalRequest),
    "sources": of_kind((UrlSource, DocumentSource)),
    "usage": lambda reply: bool(reply.usage.total_tokens),
    "cached input": lambda reply: bool(reply.usage.input_token_details.cache_read_tokens),
    "reasoning tokens": lambda reply: bool(reply.usage.output_token_details.reasoning_tokens),
    "raw finish reasons": lambda reply: reply.finish_reason.raw is not None,
    "metadata of the response": lambda reply: bool(reply.response.id or reply.response.model_id),
}
ERRORS = {"errors": ("body", "stream"), "errors inside of a stream": ("stream",)}


@cache
def replies(protocol: str) -> tuple[ModelReply, ...]:
    """All replies of a protocol, as they are read."""
    entry = protocol_named(protocol)
    codec = entry.load()
    found: list[ModelReply] = []
    for one in recordings():
        if one.out_of_scope or one.protocol != protocol or one.expected != "reply":
            continue
        if one.form == "body":
            found.append(codec.decode(one.data, entry.provider).unwrap())
        else:
            decoder = codec.decoder(entry.provider)
            found.append(fold_parts([*decoder.feed(one.data), *decoder.end()]))
    return tuple(found)


@recorded
@pytest.mark.parametrize(
    ("protocol", "feature"),
    [
        pytest.param(protocol, feature, id=f"{protocol}: {feature}")
        for feature, protocols in SHOWN.items()
        for protocol in protocols
        if protocol in SPOKEN
    ],
)
def test_recordings_show(protocol: str, feature: str) -> None:
    """At least one real reply of the protocol holds it, as we read it."""
    forms = ERRORS.get(feature)
    if forms is None:
        assert any(map(SIGNS[feature], replies(protocol)))
        return
    assert any(
        one.protocol == protocol and one.form in forms and one.expected == "error"
        for one in recordings()
        if not one.out_of_scope
    )
