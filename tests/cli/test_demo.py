import subprocess
import sys

import pytest

from stepfold.cli import _demo
from stepfold.cli._demo import shown
from stepfold.cli._screen import Screen
from stepfold.loop import Diverged
from stepfold.testing import ScriptedModel, call, reply
from stepfold.values import Failure, ModelErrorReason

MEASURES = reply(call("get_temperature", {"city": "Oslo"}))
ANSWERS = reply("It is 17.3 degrees.")


@pytest.fixture(params=[True, False], ids=["streamed", "in one piece"])
def streams(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


async def test_each_decision_is_shown_as_it_is_made(
    streams: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ScriptedModel([MEASURES, ANSWERS], chunk_size=3)

    assert await shown(Screen(), model, streams=streams) == 0
    out, err = capsys.readouterr()
    assert err == ""
    told = [line.strip() for line in out.splitlines() if line.strip()]
    start = told.index("event     begin: What is the temperature in Oslo right now?")
    given = '{"city":"Oslo"}'
    assert told[start : start + 16] == [
        "event     begin: What is the temperature in Oslo right now?",
        "state     Calling",
        "command   CallModel: ask scripted/model",
        f"model     get_temperature {given}",
        "event     ModelReplied: it ended with 'tool-calls'",
        "state     Working",
        'command   RunTool: get_temperature(city="Oslo")',
        "event     ToolStarted: written down first, so that it never runs twice",
        "state     Working",
        "tool      17.3",
        "event     ToolReturned: 17.3",
        "state     Calling",
        "command   CallModel: ask scripted/model",
        "model     It is 17.3 degrees.",
        "event     ModelReplied: it ended with 'stop'",
        "state     Done, completed",
    ]
    assert [line[0] for line in told[-3:]] == ["✓", "✓", "✓"]
    assert told[-1].startswith("✓ the journal replayed: 4 events, ")
    assert told[-1].endswith(" ms, no model, no tool, the same state")


async def test_it_fails_if_the_model_does_not_use_the_tool(
    streams: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await shown(Screen(), ScriptedModel([ANSWERS]), streams=streams) == 1

    out = capsys.readouterr().out
    assert "✗ the tool did not run: the journal holds no result 17.3\n" in out


async def test_it_fails_if_the_answer_lacks_the_result(
    streams: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ScriptedModel([MEASURES, reply("It is warm.")])

    assert await shown(Screen(), model, streams=streams) == 1
    assert "✗ the model did not use it: 17.3 is not in its answer, 'It is warm.'\n" in (
        capsys.readouterr().out
    )


async def test_it_fails_if_the_run_does(streams: bool, capsys: pytest.CaptureFixture[str]) -> None:
    model = ScriptedModel([MEASURES, ModelErrorReason("authentication", "no such key")])

    assert await shown(Screen(), model, streams=streams) == 1
    out = capsys.readouterr().out
    assert "event     ModelFailed: authentication: no such key\n" in out
    assert "state     Done, failed: authentication: no such key\n" in out


async def test_it_fails_if_the_replay_diverges(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    diverged = Failure(Diverged(1, "commands none", "commands Wait/0/1"))
    monkeypatch.setattr(_demo, "replay", lambda *_: diverged)

    assert await shown(Screen(), ScriptedModel([MEASURES, ANSWERS])) == 1
    assert "✗ the replay diverged at 1: expected commands none, got commands Wait/0/1\n" in (
        capsys.readouterr().out
    )


def test_what_the_tool_gives_stands_nowhere_in_what_the_model_is_told() -> None:
    told = [_demo.PROMPT]
    for tool in _demo.Thermometer().tools():
        told += [tool.name, tool.description, tool.input_schema.text]

    assert not any(str(_demo.CELSIUS) in text for text in told)


@pytest.mark.local
@pytest.mark.parametrize("arguments", [("--stream",), ("--no-stream", "--celsius", "-4.8")])
def test_the_real_model_calls_the_tool_and_uses_its_result(arguments: tuple[str, ...]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "stepfold.cli", "demo", *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("✓") == 3
    assert 'command   RunTool: get_temperature(city="Oslo")' in done.stdout
