"""Documents: what they look like, and what they say when they cannot be read."""

import pickle
from typing import Literal

import pytest

from stepfold import values as v
from stepfold.codec import (
    CURRENT_VERSION,
    MIGRATIONS,
    DecodeFault,
    JsonTree,
    StoredDataError,
    _document,
    decode,
    encode,
    encode_part,
    from_json,
    migrate,
    to_json,
)
from stepfold.codec._decode import decoder_of
from stepfold.codec._encode import encoder_of
from stepfold.codec._faults import RefusedError
from stepfold.codec._forms import Scalar, form_of
from stepfold.codec._text import DEPTH_INSIDE
from stepfold.loop import events
from tests.lines import lines_of

CALL = v.ToolCall("call_1", "weather", '{"city":"Oslo"}')
REPLY = v.ModelReply((v.Text("Hi"),), v.FinishReason("stop"))


# --- what is written --------------------------------------------------------------------------


def test_stream_part_is_one_line() -> None:
    line = '{"type":"text-delta","id":"0","delta":"Hi"}'

    assert encode_part(v.TextDelta("0", "Hi")) == line


def test_arguments_of_a_call_are_a_string() -> None:
    line = (
        '{"type":"tool-call","tool_call_id":"call_1","tool_name":"weather",'
        r'"input":"{\"city\":\"Oslo\"}"}'
    )

    assert encode_part(CALL) == line


def test_reply_always_says_the_same_four_things_in_order() -> None:
    line = (
        '{"type":"reply","content":[{"type":"text","text":"Hi"}],"usage":{},'
        '"finish_reason":{"unified":"stop","raw":null},"warnings":[]}'
    )

    assert encode_part(REPLY) == line


def test_document_begins_with_its_version() -> None:
    assert encode(v.Ping()) == b'{"v":1,"type":"ping"}'
    assert CURRENT_VERSION == 1


def test_text_is_utf_8_and_not_escaped() -> None:
    assert encode(v.Text("Größe 📏")) == '{"v":1,"type":"text","text":"Größe 📏"}'.encode()


def test_unknown_figures_are_absent_and_zero_is_not() -> None:
    assert to_json(v.Usage(0)) == {"type": "usage", "input_tokens": 0}


def test_headers_are_arrays_of_arrays() -> None:
    metadata = v.ResponseMetadata(headers=(("a", "1"), ("a", "2")))

    assert to_json(metadata)["headers"] == [["a", "1"], ["a", "2"]]


def test_tree_is_the_callers_own() -> None:
    to_json(v.Ping())["type"] = "pong"

    assert encode_part(v.Ping()) == '{"type":"ping"}'


# --- equal values, equal bytes ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (v.CallSettings(temperature=1), v.CallSettings(temperature=1.0)),
        (v.CallSettings(temperature=0.0), v.CallSettings(temperature=-0.0)),
        (v.CallSettings(temperature=True), v.CallSettings(temperature=1.0)),
        (v.Usage(True), v.Usage(1)),
        (v.ChunkGaps(True, 0, 0, 0, 0, 0, 0), v.ChunkGaps(1, 0, 0, 0, 0, 0, 0)),
        (v.ProviderTool("a", "b", v.JsonText("{}")), v.ProviderTool("a", "b")),
    ],
)
def test_equal_numbers_are_written_alike(one: object, other: object) -> None:
    assert one == other
    assert encode(one) == encode(other)


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (0.1, "0.1"),
        (1e22, "1e+22"),
        (2**53 + 1, "9007199254740993"),
        (10**400, str(10**400)),
        (float("inf"), '"Infinity"'),
        (float("-inf"), '"-Infinity"'),
    ],
)
def test_numbers_come_back(number: float, written: str) -> None:
    settings = v.CallSettings(temperature=number)
    document = encode(settings)

    assert document.decode() == f'{{"v":1,"type":"call-settings","temperature":{written}}}'
    assert decode(document, v.CallSettings).unwrap() == settings


def test_not_a_number_comes_back_as_such() -> None:
    document = b'{"v":1,"type":"call-settings","top_p":"NaN"}'

    settings = decode(document, v.CallSettings).unwrap()

    assert encode(settings) == document
    assert settings.top_p != settings.top_p


# --- strings without a UTF-8 form -------------------------------------------------------------


def test_a_lone_surrogate_never_reaches_the_bytes_and_comes_back() -> None:
    part = v.Text("broken \ud83d")

    document = encode(part)

    assert document.decode() == (
        '{"v":1,"type":"text","text":{"type":"wtf-8","base64":"YnJva2VuIO2gvQ=="}}'
    )
    assert decode(document, v.ContentPart).unwrap() == part


def test_surrogates_that_are_two_characters_are_not_joined() -> None:
    stop = v.DeniedOutput("\ud83d\ude00")

    assert decode(encode(stop), v.ToolOutput).unwrap() == stop


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        ('{"type":"wtf-8","base64":"SGk="}', "", "a plain string, since this one has a UTF-8"),
        ('{"type":"wtf-8","base64":"/w=="}', "", "expected WTF-8: invalid start byte"),
        ('{"type":"wtf-8","base64":7}', "", "expected base64, got an integer"),
        ('{"type":"wtf-8"}', "", "expected a string, got an object"),
        ('{"type":"text","base64":"7aCA"}', "", "expected a string, got an object"),
    ],
)
def test_escape_is_for_those_strings_only(text: str, path: str, message: str) -> None:
    document = f'{{"v":1,"type":"stop","name":{text}}}'

    fault = decode(document, v.Stop).failure()

    assert fault.path == f"/name{path}"
    assert message in fault.message


# --- reading ----------------------------------------------------------------------------------


def test_text_and_bytes_are_read_alike() -> None:
    document = encode(CALL)

    assert decode(document, v.ToolCall).unwrap() == CALL
    assert decode(document.decode(), v.ToolCall).unwrap() == CALL


def test_defaults_that_are_spelt_out_are_read() -> None:
    line = '{"v":1,"type":"text","text":"Hi","provider_options":null}'

    assert decode(line, v.Text).unwrap() == v.Text("Hi")


def test_whole_numbers_are_read_where_fractions_may_be() -> None:
    line = '{"v":1,"type":"call-settings","temperature":1}'

    settings = decode(line, v.CallSettings).unwrap()

    assert isinstance(settings.temperature, float)


def test_records_are_told_apart_at_the_top() -> None:
    document = encode(v.Usage(1))

    assert decode(document, v.ModelReply | v.Usage | None).unwrap() == v.Usage(1)


def test_trees_of_any_kind_are_read() -> None:
    assert from_json("auto", v.ToolChoice).unwrap() == "auto"
    assert from_json({"type": "tool", "tool_name": "x"}, v.ToolChoice).unwrap() == v.NamedTool("x")
    assert from_json([1, 2], tuple[int, ...]).unwrap() == (1, 2)


def test_generic_end_is_read_as_json() -> None:
    end = v.Completed(v.JsonText('{"a": 1}'))
    document = encode(end)

    assert document == rb'{"v":1,"type":"completed","output":"{\"a\": 1}"}'
    assert decode(document, v.Completed[v.JsonText]).unwrap() == end
    assert decode(document, v.RunEnd[v.JsonText]).unwrap() == end


def test_json_inside_may_hold_what_only_programs_may_write() -> None:
    end = v.Completed(v.JsonText.of({"__proto__": 1}))

    assert decode(encode(end), v.Completed[v.JsonText]).unwrap() == end


# --- what is refused --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "path", "message"),
    [
        (b"\xff", "", "expected UTF-8, got invalid start byte at byte 0"),
        (b"", "", "expected JSON: Expecting value at character 0"),
        (b'{"v":1,"v":1}', "", "expected JSON: the key 'v' occurs twice in one object"),
        (b'{"v":NaN}', "", "expected JSON: NaN is not JSON"),
        (b'{"v":1,"type":"text","text":"\\ud800"}', "", "lone surrogate"),
        (b"[" * 97 + b"]" * 97, "", "nested more than 96 deep at character 96"),
        (b"[]", "", "expected an object, got an array"),
        (b'{"type":"text","text":""}', "/v", "missing"),
        (b'{"v":true,"type":"text","text":""}', "/v", "expected an integer, got a boolean"),
        (b'{"v":1.0,"type":"text","text":""}', "/v", "got a number with a fraction"),
        (b'{"v":2,"type":"text","text":""}', "/v", "version 2; this stepfold reads up to 1"),
        (b'{"v":0,"type":"text","text":""}', "/v", "version 0 cannot be read any more"),
        (b'{"v":-1,"type":"text","text":""}', "/v", "version -1 cannot be read any more"),
    ],
)
def test_what_is_no_document_is_refused(data: bytes, path: str, message: str) -> None:
    fault = decode(data, v.ContentPart).failure()

    assert fault.path == path
    assert message in fault.message


TEXT = '{"type":"text","text":"Hi"'


@pytest.mark.parametrize(
    ("content", "path", "message"),
    [
        ("{}", "/content", "expected an array, got an object"),
        ("[7]", "/content/0", "expected an object, got an integer"),
        ('[{"text":"Hi"}]', "/content/0/type", "expected one of text, file, got nothing"),
        ('[{"type":"Text"}]', "/content/0/type", "expected one of text, file, got 'Text'"),
        ('[{"type":null}]', "/content/0/type", "expected one of text, file, got null"),
        (f'[{{"type":"{"t" * 41}"}}]', "/content/0/type", f"got '{'t' * 39}…'"),
        (f'[{{"type":"{"t" * 40}"}}]', "/content/0/type", f"got '{'t' * 40}'"),
        ('[{"type":"text"}]', "/content/0/text", "missing"),
        ('[{"type":"text","text":null}]', "/content/0/text", "expected a string, got null"),
        (f'[{TEXT}}},{TEXT},"a/~b":1}}]', "/content/1/a~1~0b", "one of type, text, provider_"),
        (f'[{TEXT},"provider_options":{{}}}}]', "/content/0/provider_options", "got an object"),
        (f'[{TEXT},"provider_options":"{{"}}]', "/content/0/provider_options", "string of JSON"),
        (f'[{TEXT},"provider_options":"NaN"}}]', "/content/0/provider_options", "got NaN"),
        (f'[{TEXT},"provider_options":1}}]', "/content/0/provider_options", "got an integer"),
    ],
)
def test_what_is_no_value_is_refused_where_it_is(content: str, path: str, message: str) -> None:
    document = f'{{"v":1,"type":"user-message","content":{content}}}'

    fault = decode(document, v.Message).failure()

    assert fault.path == path
    assert message in fault.message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("null", "expected base64, got null"),
        ('"Q"', "expected base64: "),
        ('"QQ="', "expected base64: "),
        ('"Q Q="', "expected base64: "),
        ('"Q Q=="', "expected base64: "),
        ('"Größe="', "expected base64: "),
        ('"QR=="', "expected base64 whose last character has no spare bits"),
    ],
)
def test_bytes_have_one_form(data: str, message: str) -> None:
    fault = decode(f'{{"v":1,"type":"data","data":{data}}}', v.FileData).failure()

    assert fault.path == "/data"
    assert message in fault.message


@pytest.mark.parametrize(
    ("member", "path", "message"),
    [
        ('"headers":[["a","b"],["a"]]', "/headers/1", "expected an array of 2 items, got 1"),
        ('"headers":[["a",1]]', "/headers/0/1", "expected a string, got an integer"),
        ('"headers":["ab"]', "/headers/0", "expected an array, got a string"),
        ('"timestamp":true', "/timestamp", "expected an integer or null, got a boolean"),
        ('"timestamp":1.0', "/timestamp", "got a number with a fraction"),
        ('"timestamp":"1"', "/timestamp", "got a string"),
    ],
)
def test_nothing_is_coerced(member: str, path: str, message: str) -> None:
    document = f'{{"v":1,"type":"response-metadata",{member}}}'

    fault = decode(document, v.StreamPart).failure()

    assert fault.path == path
    assert message in fault.message


@pytest.mark.parametrize(
    ("tree", "kind", "path", "message"),
    [
        (0, bool, "", "expected a boolean, got an integer"),
        (True, int, "", "expected an integer, got a boolean"),
        ("7", float, "", "expected a number, got a string"),
        (None, float, "", "expected a number, got null"),
        (7, type(None), "", "expected null, got an integer"),
        ({1, 2}, int, "", "expected an integer, got set"),
        ("some", v.ToolChoice, "", "expected one of auto, none, required, got 'some'"),
        (7, v.ToolChoice, "", "expected a string or an object, got an integer"),
        ([], v.ToolOutput, "", "expected an object, got an array"),
        ({"type": "performance"}, v.Performance, "/response_time", "missing"),
        ({}, v.Text, "/type", "expected text, got nothing"),
        ({"type": "Text"}, v.Text, "/type", "expected text, got 'Text'"),
        ([], v.Text, "", "expected an object, got an array"),
        ("x", tuple[int, ...], "", "expected an array, got a string"),
        (7, Literal["a"], "", "expected one of a, got an integer"),
        ({"type": "finish-reason", "unified": 7}, v.FinishReason, "/unified", "got an integer"),
        ({"type": "finish-reason", "unified": "stop"}, v.FinishReason, "/raw", "missing"),
    ],
)
def test_trees_are_read_as_strictly(tree: object, kind: type, path: str, message: str) -> None:
    fault = from_json(tree, kind).failure()

    assert fault.path == path
    assert message in fault.message


def test_depth_of_json_inside_is_bounded() -> None:
    def document(depth: int) -> str:
        inside = r"[{\"[\":0}," * depth + "0" + "]" * depth
        return f'{{"v":1,"type":"raw","value":"{inside}"}}'

    assert isinstance(decode(document(255), v.StreamPart), v.Success)
    fault = decode(document(256), v.StreamPart).failure()
    assert fault.path == "/value"
    assert "nested at most 256 deep" in fault.message


def test_json_inside_with_few_brackets_is_not_walked_through() -> None:
    """So few cannot nest too deeply."""

    def cost(brackets: int) -> int:
        text = v.JsonText(f"[{','.join(['[]'] * (brackets - 1))}]")
        return lines_of(lambda: to_json(v.Stop("steps", text)))

    assert cost(DEPTH_INSIDE) == cost(10)


def test_bounds_are_the_callers() -> None:
    document = encode(CALL)

    fault = decode(document, v.ToolCall, bounds=v.JsonBounds(length=20)).failure()

    assert "at most 20 allowed" in fault.message


def test_what_is_missing_is_called_missing() -> None:
    """Where the key should be, whether it is given by its place or by its name."""
    text = from_json({"type": "text"}, v.Text).failure()
    performance = from_json({"type": "performance"}, v.Performance).failure()
    version = decode(b'{"type":"text","text":""}', v.Text).failure()

    assert text == DecodeFault("/text", "missing")
    assert performance == DecodeFault("/response_time", "missing")
    assert version == DecodeFault("/v", "missing")


def test_what_reads_and_writes_a_class_is_made_once() -> None:
    """Making it takes longer than using it."""
    writers = _document._Writers({"v": 7})
    readers = _document._Readers()

    assert writers[v.Ping] is writers[v.Ping]
    assert writers[v.Ping](v.Ping()) == {"v": 7, "type": "ping"}
    assert readers[v.Ping] is readers[v.Ping]


def test_rows_of_any_kinds_are_written_and_read() -> None:
    """Each item by its own form."""
    form = form_of(tuple[int, str, bool])
    assert decoder_of(form)([7, "x", True]) == (7, "x", True)
    assert encoder_of(form)((7, "x", True)) == [7, "x", True]
    for tree, message in (
        ([7, "x"], "an array of 3 items, got 2"),
        ([7, "x", 1], "a boolean, got an integer"),
    ):
        with pytest.raises(RefusedError, match=f"expected {message}"):
            decoder_of(form)(tree)


# --- misuse -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (v.Custom(7), "Custom at /kind: expected str, got int"),  # type: ignore[arg-type]
        (v.CallSettings(top_p="7"), "CallSettings at /top_p: expected float or int or"),  # type: ignore[arg-type]
        (v.CallSettings(reasoning=7), "/reasoning: expected str or NoneType, got int"),  # type: ignore[arg-type]
        (7, "expected a class that stepfold stores, got int"),
        (v.JsonText("{}"), "expected a class that stepfold stores, got JsonText"),
        (v.Text(7), "Text at /text: expected str, got int"),  # type: ignore[arg-type]
        (v.Usage("7"), "Usage at /input_tokens: expected int or NoneType, got str"),  # type: ignore[arg-type]
        (v.FileBytes("7"), "FileBytes at /data: expected bytes, got str"),  # type: ignore[arg-type]
        (v.Raw("7"), "Raw at /value: expected JsonText, got str"),  # type: ignore[arg-type]
        (v.Completed("Hi"), "Completed at /output: expected JsonText, got str"),
        (v.Blocked([]), "Blocked at /open: expected tuple, got list"),  # type: ignore[arg-type]
        (v.ToolMessage((CALL,)), "ToolMessage at /content/0: expected ToolResult or"),  # type: ignore[arg-type]
        (v.OpenCall(0, 0, 0, REPLY), "OpenCall at /call: expected ToolCall, got ModelReply"),  # type: ignore[arg-type]
        (v.ApprovalResponse("a", 1), "/approved: expected bool, got int"),  # type: ignore[arg-type]
        (v.FinishReason("done"), "/unified: expected one of content-filter, error"),  # type: ignore[arg-type]
        (v.FinishReason("done"), "tool-calls, got 'done'"),  # type: ignore[arg-type]
        (v.FinishReason(7), "tool-calls, got int"),  # type: ignore[arg-type]
        (v.OpenCall("0", 0, 0, CALL), "/step: expected int, got str"),  # type: ignore[arg-type]
        (v.ResponseMetadata(headers=(("a", 1),)), "/headers/0/1: expected str"),  # type: ignore[arg-type]
        (v.ResponseMetadata(headers=(("a",),)), "/headers/0: expected a tuple of 2 items, got 1"),  # type: ignore[arg-type]
        (v.ResponseMetadata(headers=("ab",)), "/headers/0: expected tuple, got str"),  # type: ignore[arg-type]
        (v.Raw(v.JsonText("[" * 257 + "]" * 257)), "/value: expected JSON nested at most 256"),
        (v.Usage(10**5000), "expected integers that this process can print"),
    ],
)
def test_what_is_not_as_its_types_say_is_not_written(value: object, message: str) -> None:
    with pytest.raises(v.UsageError) as raised:
        encode(value)

    assert message in str(raised.value)


@pytest.mark.parametrize("form", [Scalar.NULL, Scalar.NUMBER])
def test_forms_check_what_they_write(form: Scalar) -> None:
    with pytest.raises(RefusedError, match=r"expected (None|float), got str"):
        encoder_of(form)("7")


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (v.JsonBounds, "expected a type that stepfold stores, got <class"),
        ("Text", "expected a type that stepfold stores, got 'Text'"),
        (list[int], "expected a type that stepfold stores, got list[int]"),
        (v.Completed[str], "expected a type that stepfold stores, got"),
        (events.Cancelled | v.Cancelled, "members JSON can tell apart, got two for 'cancelled'"),
        (v.FileText | v.Text, "members JSON can tell apart, got two for 'text'"),
        (tuple[str | v.Usage, ...], "members JSON can tell apart, got two for <class 'dict'>"),
        (str | bytes, "members JSON can tell apart, got two for"),
    ],
)
def test_kinds_that_cannot_be_read_are_named(kind: type, message: str) -> None:
    with pytest.raises(v.UsageError) as raised:
        decode(b"{}", kind)

    assert message in str(raised.value)


# --- migrations -------------------------------------------------------------------------------


def _renamed(tree: JsonTree) -> v.Outcome[JsonTree, DecodeFault]:
    if "txt" not in tree:
        return v.Failure(DecodeFault("/txt", "missing"))
    return v.Success({**tree, "text": tree["txt"]})


def _dropped(tree: JsonTree) -> v.Outcome[JsonTree, DecodeFault]:
    return v.Success({key: item for key, item in tree.items() if key != "txt"})


TABLE = {-1: _renamed, 0: _dropped}


def test_migrations_are_applied_in_order() -> None:
    old: JsonTree = {"type": "text", "txt": "Hi"}

    migrated = migrate(old, -1, migrations=TABLE).unwrap()

    assert from_json(migrated, v.Text).unwrap() == v.Text("Hi")
    assert migrate(old, 0, migrations=TABLE).unwrap() == {"type": "text"}
    assert migrate(old, 1, migrations=TABLE).unwrap() is old


def test_first_migration_that_fails_is_the_last() -> None:
    fault = migrate({"type": "text"}, -1, migrations=TABLE).failure()

    assert fault == DecodeFault("/txt", "missing")


def test_versions_without_a_way_are_refused() -> None:
    assert migrate({}, -2, migrations=TABLE).failure().path == "/v"
    assert migrate({}, 2, migrations=TABLE).failure().path == "/v"


def test_old_documents_are_migrated_when_they_are_read() -> None:
    old = {"v": -1, "type": "text", "txt": "Hi"}

    assert _document._current(dict(old), TABLE) == {"type": "text", "text": "Hi"}
    assert _document._current(dict(old), TABLE, 0) == {"type": "text", "txt": "Hi", "text": "Hi"}
    assert _document._current({**old, "v": 0}, TABLE, 0) == {"type": "text", "txt": "Hi"}


def test_no_version_has_been_left_behind() -> None:
    assert not MIGRATIONS


# --- faults -----------------------------------------------------------------------------------


def test_faults_say_where() -> None:
    assert str(DecodeFault("/content/0", "missing")) == "/content/0: missing"
    assert str(DecodeFault("", "expected JSON")) == "the document: expected JSON"


def test_stores_can_raise_a_fault() -> None:
    error = StoredDataError(DecodeFault("/v", "missing"))

    copy = pickle.loads(pickle.dumps(error))

    assert isinstance(error, v.StepfoldError)
    assert str(copy) == "/v: missing"
    assert copy.fault == error.fault
    assert StoredDataError.__module__ == "stepfold.codec"  # what tracebacks show
