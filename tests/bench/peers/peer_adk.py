"""google-adk: InMemoryRunner.run_async over an LlmAgent with a fake BaseLlm."""

import asyncio
import logging

logging.disable(logging.WARNING)

from google.adk.agents import LlmAgent  # noqa: E402
from google.adk.agents.run_config import RunConfig, StreamingMode  # noqa: E402
from google.adk.models.base_llm import BaseLlm  # noqa: E402
from google.adk.models.llm_response import LlmResponse  # noqa: E402
from google.adk.runners import InMemoryRunner  # noqa: E402
from google.genai import types  # noqa: E402

from common import DELTA, Counter  # noqa: E402


async def noop(i: int) -> str:
    """No-op."""
    Counter.calls += 1
    return "ok"


class Fake(BaseLlm):
    steps: int = 0
    width: int = 1
    nap: bool = False
    deltas: int = 0

    async def generate_content_async(self, llm_request, stream=False):
        if self.nap:
            await asyncio.sleep(0)
        turn = (len(llm_request.contents) - 1) // 2
        if stream:
            for _ in range(self.deltas):
                yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=DELTA)]), partial=True)
            yield LlmResponse(content=types.Content(role="model", parts=[types.Part(text=DELTA * self.deltas)]))
            return
        if turn < self.steps:
            parts = [
                types.Part(function_call=types.FunctionCall(id=f"c{turn}_{j}", name="noop", args={"i": 1}))
                for j in range(self.width)
            ]
        else:
            parts = [types.Part(text="done")]
        yield LlmResponse(content=types.Content(role="model", parts=parts))


GO = types.Content(role="user", parts=[types.Part(text="go")])


async def run(runner):
    session = await runner.session_service.create_session(app_name=runner.app_name, user_id="u")
    last = None
    async for event in runner.run_async(
        user_id="u", session_id=session.id, new_message=GO, run_config=RunConfig(max_llm_calls=0)
    ):
        last = event
    assert last.content.parts[0].text == "done"
    return last


def runner(**kw):
    return InMemoryRunner(LlmAgent(name="a", model=Fake(model="fake", **kw), tools=[noop]))


async def w1(steps):
    await run(runner(steps=steps))
    return {}




async def w2(n):
    await run(runner(steps=1, width=n))
    return {}


async def w3(k):
    r = runner(deltas=k)
    session = await r.session_service.create_session(app_name=r.app_name, user_id="u")
    chars = 0
    async for event in r.run_async(
        user_id="u", session_id=session.id, new_message=GO, run_config=RunConfig(streaming_mode=StreamingMode.SSE)
    ):
        if event.partial:
            chars += len(event.content.parts[0].text)
    return {"chars": chars}


