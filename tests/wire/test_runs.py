"""Whole runs against servers that others wrote, generated and streamed, on both event loops."""

from collections.abc import Iterator
from typing import Protocol

import pytest

import stepfold as sf
from stepfold.ports import LanguageModel
from stepfold.providers import openai
from stepfold.transport import HttpLimits

pytestmark = pytest.mark.parametrize("how", ["generate", "stream"])

CODE = "QX-7041"
FAST = sf.RetryPolicy(initial_delay=0.05, max_delay=0.2, jitter=0.5)


class Provider(Protocol):
    url: str

    def behave(self, behavior: str, /, **how: object) -> None: ...
    def verdict(self) -> dict[str, object]: ...


@sf.tool
async def locker_code(name: str) -> str:
    """Look up the code of a locker.

    Args:
        name: Whose locker it is.
    """
    return f"The code of the locker of {name} is {CODE}."


async def run_of(agent: sf.Agent[object, str], prompt: str, how: str) -> sf.Run[str]:
    if how == "generate":
        return await agent.generate(prompt, seed=1)
    async with agent.stream(prompt, seed=1) as stream:
        return await stream.run()


# --- llmock: it breaks, and grades its client -------------------------------------------------


def agent_of(provider: Provider) -> sf.Agent[object, str]:
    limits = HttpLimits(connect=5, read=0.5)
    base_url = f"{provider.url}/v1"
    model = openai("gpt-4o", api_key="sk-test-key", base_url=base_url, limits=limits)
    return sf.Agent(model=model, tools=[locker_code], retry=FAST)


async def test_a_tool_is_called_and_its_result_is_answered(
    faulty_provider: Provider, how: str
) -> None:
    run = await run_of(agent_of(faulty_provider), "What is the code of Ada's locker?", how)

    assert isinstance(run.end, sf.Completed)
    assert len(run.steps) == 2
    assert all(CODE in result for result in run.results_of(locker_code))
    assert run.results_of(locker_code)
    assert run.usage.total_tokens
    assert faulty_provider.verdict()["passed"] is True


@pytest.mark.parametrize(
    "fault",
    [
        {"type": "fail", "status": 429, "retry_after": 1},
        {"type": "fail", "status": 500},
        {"type": "fail", "status": 503},
        {"type": "stream_fault", "kind": "truncate", "after_chunks": 3},
        {"type": "stream_fault", "kind": "disconnect", "after_chunks": 3},
        {"type": "stream_fault", "kind": "malformed", "after_chunks": 2},
        {"type": "stream_fault", "kind": "stall", "after_chunks": 2, "stall_seconds": 3},
        {"type": "delay", "seconds": 2},
    ],
    ids=lambda fault: "-".join(str(fault[key]) for key in fault if key in {"kind", "status"}),
)
async def test_a_passing_fault_is_retried_and_forgotten(
    faulty_provider: Provider, how: str, fault: dict[str, object]
) -> None:
    faulty_provider.behave(str(fault["type"]), **{k: v for k, v in fault.items() if k != "type"})

    run = await run_of(agent_of(faulty_provider), "What is the code of Ada's locker?", how)

    assert isinstance(run.end, sf.Completed)
    assert run.results_of(locker_code)
    verdict = faulty_provider.verdict()
    assert verdict["passed"] is True, verdict


@pytest.mark.parametrize(("status", "kind"), [(400, "bad-request"), (401, "authentication")])
async def test_a_lasting_refusal_ends_the_run_at_once(
    faulty_provider: Provider, how: str, status: int, kind: str
) -> None:
    faulty_provider.behave("fail", status=status, times=9)
    agent = agent_of(faulty_provider)

    if how == "generate":
        with pytest.raises(sf.RunFailed) as caught:
            await run_of(agent, "Hello", how)
        end = caught.value.run.end
    else:
        end = (await run_of(agent, "Hello", how)).end

    assert isinstance(end, sf.Failed)
    assert isinstance(end.error, sf.ModelErrorReason)
    assert end.error.kind == kind
    assert faulty_provider.verdict()["passed"] is True


# --- a real model, on this machine ------------------------------------------------------------


@pytest.fixture(scope="module")
def small_model() -> Iterator[LanguageModel]:
    with sf.local_model(threads=1) as model:
        yield model


async def test_a_real_model_calls_a_tool_and_tells_its_result(
    small_model: LanguageModel, how: str
) -> None:
    agent = sf.Agent(
        model=small_model,
        instructions="You answer questions with the help of tools, in one short sentence.",
        tools=[locker_code],
        settings=sf.CallSettings(temperature=0, seed=1, max_output_tokens=80),
        limits=sf.Limits(steps=4),
    )

    run = await run_of(agent, "What is the code of Ada's locker?", how)

    assert run.results_of(locker_code)
    assert all(step.usage.total_tokens for step in run.steps)
    assert CODE in run.steps[-1].text
