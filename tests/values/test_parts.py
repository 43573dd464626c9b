"""Parts of messages: immutable, and frugal with what they show."""

import pytest

from stepfold.values import (
    NULL,
    ContentOutput,
    DeniedOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    File,
    FileBytes,
    JsonOutput,
    JsonText,
    Text,
    TextOutput,
    ToolOutput,
    ToolResult,
)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (JsonOutput(JsonText('{"a":1}')), JsonText('{"a":1}')),
        (ErrorJsonOutput(JsonText("[1]")), JsonText("[1]")),
        (TextOutput("a\ud800"), JsonText('"a\ufffd"')),
        (TextOutput("warm"), JsonText('"warm"')),
        (ErrorTextOutput("no"), JsonText('"no"')),
        (DeniedOutput("not today"), NULL),
        (ContentOutput((Text("a picture"),)), NULL),
    ],
)
def test_a_result_has_a_json_form(output: ToolOutput, expected: JsonText) -> None:
    """Where the program keeps nothing of its own, the JSON is that of what the model sees."""
    assert expected == ToolResult("c1", "look", output).json


def test_what_the_program_keeps_wins_over_what_the_model_sees() -> None:
    """`value` is the result; `output` is only how the model is told of it."""
    result = ToolResult("c1", "look", TextOutput("warm"), value=JsonText('{"celsius":21}'))

    assert JsonText('{"celsius":21}') == result.json


def test_the_bytes_of_a_file_are_not_shown() -> None:
    """A megabyte has no place in a log."""
    file = File(FileBytes(b"\x00" * 1_000_000), "image/png")

    assert "<1000000 bytes>" in repr(file)
    assert len(repr(file)) < 200


def test_parts_are_equal_by_value_and_hashable() -> None:
    """A part is a value: equal content is the same part."""
    assert Text("a") == Text("a")
    assert hash(Text("a")) == hash(Text("a"))
    assert Text("a") != Text("a", provider_options=JsonText('{"acme":{}}'))
