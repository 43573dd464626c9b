"""Conversations of several turns against a scripted server, generated and streamed."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from socket import create_server

import httpx
import pytest

import stepfold as sf
from stepfold.providers import openai_compatible
from tests.wire._node import node_with

pytestmark = [pytest.mark.wire, pytest.mark.parametrize("how", ["generate", "stream"])]

PACKAGE = "@copilotkit/aimock@1.43.0"
HERE = Path(__file__).parent
FIXTURES = HERE.parent / "data" / "aimock"
PATIENCE = 60.0


def free_port() -> int:
    with create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@pytest.fixture(scope="session")
def scripted_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    node, modules = node_with("aimock", PACKAGE)
    script = modules / "@copilotkit" / "aimock" / "dist" / "cli.js"
    port = free_port()
    log = tmp_path_factory.mktemp("aimock") / "log"
    command = [node, str(script), "-p", str(port), "-f", str(FIXTURES), "--strict"]
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + PATIENCE
        while not is_up(url):
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"aimock did not start: {log.read_text()[-2000:]}")
            time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(10)


def is_up(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health", trust_env=False).is_success
    except httpx.TransportError:
        return False


@sf.tool
async def temperature(city: str) -> int:
    """Measure the temperature of a city, in degrees Celsius."""
    return {"Oslo": 3, "Rome": 19}[city]


@sf.tool
def warmer(first: int, second: int) -> str:
    """Tell which of two temperatures is higher, and by how much."""
    return f"the {'first' if first > second else 'second'}, by {abs(first - second)}"


def agent_of(url: str) -> sf.Agent[object, str]:
    model = openai_compatible("deepseek-reasoner", api_key="sk-test-key", base_url=f"{url}/v1")
    retry = sf.RetryPolicy(max_retries=1, initial_delay=0.01)
    return sf.Agent(model=model, tools=[temperature, warmer], retry=retry)


async def run_of(url: str, prompt: str | tuple[sf.Message, ...], how: str) -> sf.Run[str]:
    agent = agent_of(url)
    if how == "generate":
        match await agent.try_generate(prompt, run_id="run"):
            case sf.Success(run):
                return run
            case sf.Failure(failed):
                return sf.Run(failed.run.state, sf.text())
    async with agent.stream(prompt, run_id="run") as stream:
        return await stream.run()


async def test_a_conversation_of_three_turns_and_a_question(scripted_server: str, how: str) -> None:
    first = await run_of(scripted_server, "Please compare Oslo and Rome", how)

    assert isinstance(first.end, sf.Completed)
    assert first.results_of(temperature) == (3, 19)
    assert first.results_of(warmer) == ("the second, by 16",)
    assert first.text == "Rome is warmer, by 16 degrees."
    assert first.steps[-1].reasoning_text == "19 is more than 3."
    assert first.usage.total_tokens == 29 + 48 + 67

    more = (*first.messages, sf.UserMessage("and in words"))
    second = await run_of(scripted_server, more, how)

    assert second.text == "Sixteen degrees."
    assert second.messages[: len(more)] == more


async def test_an_id_that_comes_again_is_made_unique(scripted_server: str, how: str) -> None:
    run = await run_of(scripted_server, "Please compare Oslo and Rome", how)

    calls = [call.tool_call_id for step in run.steps for call in step.tool_calls]
    assert calls == ["call_oslo", "call_rome", "run/1/0"]


async def test_a_cut_reply_stops_the_run(scripted_server: str, how: str) -> None:
    run = await run_of(scripted_server, "Tell me something long", how)

    assert isinstance(run.end, sf.Stopped)
    assert run.end.stop.name == "length"
    assert run.text == "Once upon a"


async def test_a_lasting_error_ends_the_run_with_its_reason(scripted_server: str, how: str) -> None:
    run = await run_of(scripted_server, "overloaded", how)

    assert isinstance(run.end, sf.Failed)
    assert isinstance(run.end.error, sf.ModelErrorReason)
    assert (run.end.error.kind, run.end.error.status) == ("overloaded", 503)
