"""Law 12: what is written comes back, in one form only, and anything else is refused politely."""

import json
from collections.abc import Iterator
from copy import deepcopy
from typing import TypeVar, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy
from typing_extensions import TypeForm

from stepfold import loop
from stepfold import values as v
from stepfold.codec import decode, encode, from_json, to_json
from stepfold.loop import commands, events, notes
from stepfold.testing.strategies import values as drawn

T = TypeVar("T")
Tree = dict[str, object]
Law = tuple[TypeForm[object], SearchStrategy[object]]

KINDS: dict[str, Law] = {
    "part": (v.ContentPart, drawn.content_parts()),
    "output": (v.ToolOutput, drawn.tool_outputs()),
    "file data": (v.FileData, drawn.file_data()),
    "message": (v.Message, drawn.messages()),
    "stream part": (v.StreamPart, drawn.stream_parts()),
    "usage": (v.Usage, drawn.usages()),
    "reply": (v.ModelReply, drawn.replies()),
    "request": (v.ModelRequest, drawn.requests()),
    "step result": (v.StepResult, drawn.step_results()),
    "open request": (v.OpenRequest, drawn.open_requests()),
    "error": (v.RunError, drawn.run_errors()),
    "end": (v.RunEnd[v.JsonText], drawn.run_ends()),
    "command": (commands.Command, drawn.run_commands()),
    "event": (events.Event, drawn.run_events()),
    "note": (notes.Note, drawn.run_notes()),
    "phase": (loop.Phase, drawn.phases()),
    "state": (loop.LoopState, drawn.states()),
    "transition": (loop.Transition, drawn.transitions()),
    "header": (loop.JournalHeader, drawn.journal_headers()),
    "entry": (loop.JournalEntry, drawn.journal_entries()),
}
every_kind = pytest.mark.parametrize("name", KINDS)


@every_kind
@given(st.data())
def test_what_is_written_comes_back(name: str, data: st.DataObject) -> None:
    kind, values = KINDS[name]
    value = data.draw(values)
    written = encode(value)

    back = decode(written, kind).unwrap()

    assert back == value
    assert hash(back) == hash(value)
    assert encode(back) == written
    assert from_json(to_json(value), kind).unwrap() == value
    # There is one form: no white space, keys in the order of the fields.
    text = written.decode()
    tree = json.loads(text)
    assert text.startswith('{"v":1,"type":"')
    assert json.dumps(tree, ensure_ascii=False, separators=(",", ":")) == text
    # Other forms of the same document are read all the same.
    assert decode(json.dumps(tree, indent=1, sort_keys=True), kind).unwrap() == value


@pytest.mark.parametrize("name", ["usage", "file data", "output", "command", "error"])
@given(st.data())
def test_equal_values_have_equal_bytes(name: str, data: st.DataObject) -> None:
    _, values = KINDS[name]
    one, other = data.draw(values), data.draw(values)

    assert (encode(one) == encode(other)) == (one == other)


@given(st.text(st.characters()))
def test_any_text_comes_back(text: str) -> None:
    call = v.ToolCall(text, "weather", text)

    written = encode(call)

    written.decode()
    assert decode(written, v.ContentPart).unwrap() == call
    assert decode(encode(v.Stop(text)), v.Stop).unwrap() == v.Stop(text)


# --- documents that nobody wrote --------------------------------------------------------------

_foreign = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=3),
    # Copied, since what is put into a tree may be changed there.
    st.sampled_from(
        [[], {}, {"type": "text"}, {"type": "wtf-8", "base64": "7aCA"}, "QQ==", "QR=="]
    ).map(deepcopy),
)


def _objects_in(tree: object) -> Iterator[Tree]:
    if isinstance(tree, dict):
        yield cast("Tree", tree)
        for item in tree.values():
            yield from _objects_in(item)
    elif isinstance(tree, list):
        for item in tree:
            yield from _objects_in(item)


def _mutate(tree: Tree, data: st.DataObject) -> None:
    place = data.draw(st.sampled_from(list(_objects_in(tree))))
    keys = st.sampled_from([*place, "type", "provider_options", "at"])
    match data.draw(st.sampled_from(["drop", "add", "change", "tag"])):
        case "drop":
            place.pop(data.draw(keys), None)
        case "add":
            place[data.draw(keys | st.text(max_size=3))] = data.draw(_foreign)
        case "change":
            place[data.draw(keys)] = data.draw(_foreign)
        case _:
            place["type"] = data.draw(st.sampled_from(["text", "stop", "finish", "Text", "wait"]))


def _keeps_all(tree: object, written: object) -> bool:
    """Whether `written` says what `tree` does, but for what is empty or a default there."""
    if isinstance(tree, dict) and isinstance(written, dict):
        return all(
            _keeps_all(item, written[key]) if key in written else not _says_something(item)
            for key, item in tree.items()
        )
    if isinstance(tree, list) and isinstance(written, list):
        return len(tree) == len(written) and all(map(_keeps_all, tree, written))
    return tree == written


def _says_something(tree: object) -> bool:
    defaults = ("failed", "auto", "{}")
    return bool(tree) and tree not in defaults and tree != {"type": "auto"}


@every_kind
@given(st.data())
def test_a_changed_document_is_read_whole_or_refused_with_a_path(
    name: str, data: st.DataObject
) -> None:
    kind, values = KINDS[name]
    tree: Tree = deepcopy(json.loads(encode(data.draw(values))))
    for _ in range(data.draw(st.integers(1, 2))):
        _mutate(tree, data)

    match decode(json.dumps(tree), kind):
        case v.Success(value):
            written = json.loads(encode(value))
            assert _keeps_all(tree, written), (tree, written)
        case v.Failure(fault):
            assert fault.message
            _assert_points_into(tree, fault.path)


def _assert_points_into(tree: object, path: str) -> None:
    """Follow a JSON pointer; its last step may be to a key that is missing."""
    assert path == "" or path.startswith("/")
    *way, last = [step.replace("~1", "/").replace("~0", "~") for step in path.split("/")]
    for step in way[1:]:
        tree = tree[int(step)] if isinstance(tree, list) else cast("Tree", tree)[step]
    if isinstance(tree, list):
        assert int(last) < len(tree)
    elif path:
        assert isinstance(tree, dict)


_kinds = st.sampled_from([kind for kind, _ in KINDS.values()])


@given(_kinds, st.binary() | st.text().map(str.encode))
def test_foreign_bytes_are_refused(kind: TypeForm[object], data: bytes) -> None:
    assert isinstance(decode(data, kind), v.Failure)


@given(_kinds, st.recursive(_foreign, lambda it: st.lists(it) | st.dictionaries(st.text(), it)))
def test_foreign_trees_are_refused(kind: TypeForm[object], tree: object) -> None:
    match from_json(tree, kind):
        case v.Success(value):
            assert to_json(value) == tree
        case v.Failure(fault):
            assert fault.message
