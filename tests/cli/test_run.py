import json
import sys
from typing import Any

import pytest

from stepfold.codec import decode, from_json
from stepfold.loop.notes import CallRequested, RunEnded, StepFinished, StepStarted, ToolFinished
from stepfold.values import (
    AssistantMessage,
    Blocked,
    Completed,
    JsonText,
    Message,
    StepResult,
    Stopped,
    StreamPart,
    Success,
    Usage,
)
from tests.cli._desk import Command


def test_tokens_calls_results_and_a_table_are_shown(stepfold: Command) -> None:
    done = stepfold("run", "What is 1 + 2?", "--model", "desk:sums", "--tools", "desk:add")

    assert (done.code, done.err) == (0, "")
    before, after = done.out.split("#    model")
    assert before == "Let me see.\n  → add(a=1, b=2)\n  ← add: 3\nIt is 3.\n\n"
    head, first, second, total = after.splitlines()
    assert head.split() == ["calls", "ended", "in", "out", "first", "time", "tok/s"]
    assert first.split()[:6] == ["1", "scripted/model", "add", "tool-calls", "11", "7"]
    assert second.split()[:5] == ["2", "scripted/model", "stop", "10", "5"]
    assert total.split()[:3] == ["all", "21", "12"]


def test_preliminary_results_are_shown(stepfold: Command) -> None:
    done = stepfold("run", "Count.", "--model", "desk:counting", "--tools", "desk:count")

    assert "  … count: number 0\n" in done.out
    assert done.out.index("… count: number 1") < done.out.index("← count: number 2")


def test_refused_calls_are_shown_once(stepfold: Command) -> None:
    done = stepfold("run", "Try.", "--model", "desk:clumsy", "--tools", "desk:add")

    assert done.code == 0
    assert done.out.count("✗ nope was refused: no tool is named 'nope'") == 1
    assert done.out.count("✗ add was refused: the arguments do not fit") == 1
    assert done.out.count("✗") == 2


def test_retries_are_shown(stepfold: Command) -> None:
    done = stepfold("run", "Try.", "--model", "desk:shaky")

    assert done.code == 0
    assert done.out.startswith("  ! rate-limit: slow down\nAt last.\n")


def test_a_failed_run_tells_why_and_gives_1(stepfold: Command) -> None:
    done = stepfold("run", "Try.", "--model", "desk:locked")

    assert (done.code, done.out) == (1, "")
    assert done.err == "error: authentication (401): no such key\n"


def test_a_stopped_run_tells_the_condition_and_gives_3(stepfold: Command) -> None:
    done = stepfold(
        "run", "Go.", "--model", "desk:endless", "--tools", "desk:add", "--max-steps", "2"
    )

    assert (done.code, done.err) == (3, "")
    assert done.out.endswith('stopped by is_step_count {"reached":2,"limit":2}\n')


def test_a_blocked_run_tells_what_it_waits_for_and_gives_4(stepfold: Command) -> None:
    done = stepfold("run", "x.txt", "--model", "desk:tidy", "--tools", "desk:Box.both")

    assert (done.code, done.err) == (4, "")
    assert '  → delete(path="x.txt")\n  ? delete needs an approval\n' in done.out
    assert done.out.endswith(
        "blocked: an answer is needed for delete\n`stepfold chat` asks for approvals\n"
    )


def test_a_prompt_can_be_piped_in(stepfold: Command) -> None:
    done = stepfold("run", "-", "--model", "desk:tidy", typed="hello")

    assert done.out.startswith("You said 1 things.\n")


def test_what_a_model_says_does_not_steer_the_terminal(stepfold: Command) -> None:
    done = stepfold("run", "Hi.", "--model", "desk:rude")

    assert done.out.startswith("\\u001b[31mred\\u0007 \\u202eyou\n")


def test_settings_reach_the_model(stepfold: Command) -> None:
    stepfold(
        "run", "hello", "--model", "desk:tidy", "--instructions", "Be kind.",
        "--temperature", "0.5", "--seed", "3", "--max-tokens", "9",
    )  # fmt: skip
    tidy = sys.modules["desk"].tidy

    request = tidy.requests[0]
    assert request.instructions == "Be kind."
    settings = request.settings
    assert (settings.temperature, settings.seed, settings.max_output_tokens) == (0.5, 3, 9)


# --- for machines -----------------------------------------------------------------------------


def lines(out: str) -> tuple[list[str], dict[str, Any]]:
    *parts, run = out.splitlines()
    return parts, json.loads(run)


def test_json_lines_are_documents_of_the_codec(stepfold: Command) -> None:
    done = stepfold(
        "run", "What is 1 + 2?", "--model", "desk:sums", "--tools", "desk:add", "--json"
    )

    assert (done.code, done.err) == (0, "")
    parts, run = lines(done.out)
    known = StreamPart | StepStarted | CallRequested | ToolFinished | StepFinished | RunEnded
    decoded = [decode(part, known) for part in parts]
    assert all(isinstance(part, Success) for part in decoded)
    assert decoded[-1] == Success(RunEnded(Completed(JsonText('"It is 3."'))))

    assert list(run) == ["v", "type", "id", "end", "text", "steps", "usage", "messages"]
    assert (run["v"], run["type"]) == (1, "run")
    assert run["text"] == "It is 3."
    assert from_json(run["end"], Completed[JsonText]) == Success(Completed(JsonText('"It is 3."')))
    assert from_json(run["usage"], Usage) == Success(Usage(21, 12))
    messages = [from_json(message, Message).unwrap() for message in run["messages"]]
    assert messages[-1] == AssistantMessage("It is 3.")
    steps = [from_json(step, StepResult).unwrap() for step in run["steps"]]
    assert [step.text for step in steps] == ["Let me see.", "It is 3."]


def test_json_lines_hold_preliminary_results(stepfold: Command) -> None:
    done = stepfold("run", "Count.", "-m", "desk:counting", "-t", "desk:count", "--json")

    shown = [json.loads(it) for it in lines(done.out)[0] if '"tool-progressed"' in it]
    assert [it["value"] for it in shown][:2] == ['"number 0"', '"number 1"']
    assert list(shown[0]) == ["v", "type", "key", "call", "value"]
    assert shown[0]["key"] == {"type": "call-key", "step": 0, "index": 0, "attempt": 0}


@pytest.mark.parametrize(
    ("arguments", "code", "kind"),
    [
        (("-m", "desk:tidy", "-t", "desk:delete"), 4, Blocked),
        (("-m", "desk:endless", "-t", "desk:add", "--max-steps", "1"), 3, Stopped),
    ],
)
def test_json_lines_end_with_the_run_however_it_ended(
    arguments: tuple[str, ...], code: int, kind: type, stepfold: Command
) -> None:
    done = stepfold("run", "x.txt", "--json", *arguments)

    assert (done.code, done.err) == (code, "")
    assert isinstance(from_json(lines(done.out)[1]["end"], kind).unwrap(), kind)
