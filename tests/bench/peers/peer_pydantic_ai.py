"""pydantic-ai-slim: Agent.run / run_stream with a minimal custom Model (no token estimation).

FunctionModel re-estimates token usage over the whole history at every request, which is the fake's
own quadratic cost, not the framework's; w1_functionmodel measures that variant.
"""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TypedDict

from pydantic_ai import Agent
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models import Model, StreamedResponse
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.usage import RequestUsage, UsageLimits

from common import DELTA, Counter, w7_payload

LIMITS = UsageLimits(request_limit=None)
EPOCH = datetime(2026, 1, 1, tzinfo=timezone.utc)


def reply(turn, steps, width):
    if turn < steps:
        parts = [ToolCallPart("noop", '{"i": 1}', tool_call_id=f"c{turn}_{j}") for j in range(width)]
    else:
        parts = [TextPart("done")]
    return ModelResponse(parts=parts, usage=RequestUsage(input_tokens=1, output_tokens=1), model_name="fake")


@dataclass
class FakeStream(StreamedResponse):
    texts: object = ()
    tool: bool = False

    async def _get_event_iterator(self):
        if self.tool:
            for i, t in enumerate(self.texts):
                for e in self._parts_manager.handle_tool_call_delta_events(
                    vendor_part_id=0,
                    tool_name="final_result" if i == 0 else None,
                    args=t,
                    tool_call_id="c0" if i == 0 else None,
                ):
                    yield e
        else:
            for t in self.texts:
                for e in self._parts_manager.handle_text_delta(vendor_part_id="0", content=t):
                    yield e

    async def close_stream(self):
        pass

    @property
    def model_name(self):
        return "fake"

    @property
    def provider_name(self):
        return None

    @property
    def provider_url(self):
        return None

    @property
    def timestamp(self):
        return EPOCH


class Fake(Model):
    def __init__(self, steps=0, width=1, nap=False, texts=None, tool=False):
        super().__init__()
        self.steps, self.width, self.nap, self.texts, self.tool = steps, width, nap, texts, tool

    @property
    def model_name(self):
        return "fake"

    @property
    def system(self):
        return "fake"

    async def request(self, messages, model_settings, model_request_parameters):
        self.prepare_request(model_settings, model_request_parameters)
        if self.nap:
            await asyncio.sleep(0)
        return reply((len(messages) - 1) // 2, self.steps, self.width)

    @asynccontextmanager
    async def request_stream(self, messages, model_settings, model_request_parameters, run_context=None):
        self.prepare_request(model_settings, model_request_parameters)
        yield FakeStream(model_request_parameters=model_request_parameters, texts=self.texts, tool=self.tool)


async def noop(i: int) -> str:
    """No-op."""
    Counter.calls += 1
    return "ok"


agent = Agent(tools=[noop])
plain = Agent()


async def run(model):
    res = await agent.run("go", model=model, usage_limits=LIMITS)
    assert res.output == "done"
    return res


async def w1(steps):
    await run(Fake(steps))
    return {}






async def w2(n):
    await run(Fake(1, width=n))
    return {}


async def w3(k):
    """run_stream + stream_text(delta=True, debounce_by=None)."""
    chars = 0
    async with plain.run_stream("go", model=Fake(texts=(DELTA for _ in range(k)))) as res:
        async for t in res.stream_text(delta=True, debounce_by=None):
            chars += len(t)
    return {"chars": chars}








class Item(TypedDict, total=False):
    id: int
    name: str
    score: float
    ok: bool


# pydantic validates partial JSON only through lists and TypedDicts: a BaseModel at the root would
# give no partial until it is whole. pydantic-ai wraps a list output as {"response": [...]}.
structured = Agent(output_type=list[Item])








MODELS = {}


