import pytest

from stepfold.cli._screen import Screen
from stepfold.cli._view import RunView, call_text, end_text, outcome_text, output_text
from stepfold.loop.commands import CallKey
from stepfold.loop.events import ToolFailed, ToolSucceeded
from stepfold.loop.notes import CallOpened, ModelRetried, ToolFinished
from stepfold.shell import RunPart
from stepfold.values import (
    Blocked,
    Cancelled,
    Completed,
    ContentOutput,
    DeniedOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    Failed,
    File,
    FileBytes,
    HookFailed,
    JsonOutput,
    JsonText,
    ModelErrorReason,
    ModelWarning,
    NoOutput,
    OpenCall,
    ReasoningDelta,
    ReasoningEnd,
    RunEnd,
    Stop,
    Stopped,
    StreamStart,
    Text,
    TextDelta,
    TextEnd,
    TextOutput,
    ToolCall,
    ToolError,
    ToolInputStart,
    ToolOutput,
)

KEY = CallKey(0, 0, 0)
CALL = ToolCall("c", "find", '{"key":"x","most":[1,{"a":null}]}')


@pytest.mark.parametrize(
    ("parts", "shown"),
    [
        (
            (ReasoningDelta("r", "hm"), ReasoningEnd("r"), TextDelta("t", "Yes."), TextEnd("t")),
            "hm\nYes.\n",
        ),
        ((TextDelta("t", "Yes.\n"), TextEnd("t"), TextDelta("u", "No.")), "Yes.\nNo."),
        (
            (StreamStart((ModelWarning("unsupported", "seed", "was left out"),)),),
            "  ! unsupported: seed was left out\n",
        ),
        (
            (ToolCall("c", "search", '{"q":"x"}', provider_executed=True),),
            '  ↗ search(q="x")  (pro',
        ),
        ((File(FileBytes(b"x"), "image/png"),), "  [a file: image/png]\n"),
        ((ToolInputStart("c", "find"),), ""),
        (
            (ModelRetried(0, 1, "a/b", ModelErrorReason("server", "it broke"), 0),),
            "  ! server: it broke\n",
        ),
        ((CallOpened(KEY, OpenCall(0, 0, 0, CALL)),), "  ? find waits for a client\n"),
        (
            (ToolFinished(KEY, ToolError("c", "find", "no such\nkey", kind="failed")),),
            "  ✗ find (failed): no such\n    key\n",
        ),
    ],
)
def test_what_people_are_shown(
    parts: tuple[RunPart, ...], shown: str, capsys: pytest.CaptureFixture[str]
) -> None:
    view = RunView(Screen())
    for part in parts:
        view.show(part)

    assert capsys.readouterr().out.startswith(shown)


def test_a_call_is_written_whole_and_as_in_python() -> None:
    assert call_text(CALL) == 'find(key="x", most=[1,{"a":null}])'
    assert call_text(ToolCall("c", "find", '{"cut')) == 'find({"cut)'
    assert call_text(ToolCall("c", "find", "[1]")) == "find([1])"
    long = JsonText.of({"key": "x" * 9_000}).text
    assert len(call_text(ToolCall("c", "find", long))) > 9_000


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        (TextOutput("well"), "well"),
        (ErrorTextOutput("not well"), "not well"),
        (JsonOutput(JsonText('"well"')), "well"),
        (JsonOutput(JsonText('{"a":1}')), '{"a":1}'),
        (ErrorJsonOutput(JsonText("[1]")), "[1]"),
        (DeniedOutput(), "denied"),
        (DeniedOutput("mine"), "denied: mine"),
        (ContentOutput((Text("see"), File(FileBytes(b"x"), "image/png"))), "see\n[file]"),
    ],
)
def test_what_a_tool_gave_is_told_in_text(output: ToolOutput, shown: str) -> None:
    assert output_text(output) == shown
    assert outcome_text(ToolSucceeded(output)) == shown


def test_what_went_wrong_in_a_tool_is_told_in_text() -> None:
    assert outcome_text(ToolFailed("it broke")) == "it broke"


@pytest.mark.parametrize(
    ("end", "told"),
    [
        (Completed("x"), "completed"),
        (Stopped(Stop("length")), "stopped by length {}"),
        (Blocked((OpenCall(0, 0, 0, CALL),)), "blocked: an answer is needed for find"),
        (Failed(ModelErrorReason("server", "it broke", status=500)), "failed: server (500): it b"),
        (Failed(NoOutput("no JSON")), "failed: no JSON"),
        (Failed(HookFailed("stop_when", "KeyError")), "failed: stop_when raised KeyError"),
        (Cancelled("enough"), "cancelled: enough"),
    ],
)
def test_how_a_run_ended_is_told_in_text(end: RunEnd[object], told: str) -> None:
    assert end_text(end).startswith(told)
