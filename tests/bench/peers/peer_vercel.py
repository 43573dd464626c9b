"""Vercel AI SDK for Python (PyPI `ai`): Agent.run with a fake Provider that emits framework events."""

import asyncio
from typing import Literal

import ai
import pydantic
from ai.types import events as ev
from ai.types import messages as ms

from common import DELTA, Counter, w7_payload


@ai.tool
async def noop(i: int) -> str:
    """No-op."""
    Counter.calls += 1
    return "ok"


class FakeProvider(ai.Provider):
    provider_class_id: Literal["bench-fake"] = "bench-fake"
    name: str = "fake"
    default_base_url: str = "http://fake.invalid"
    steps: int = 0
    width: int = 1
    deltas: int = 0
    nap: bool = False
    texts: list[str] | None = None

    async def list_models(self):
        return []

    async def stream(self, model, messages, *, tools=None, output_type=None, params=None):
        if self.nap:
            await asyncio.sleep(0)
        turn = (len(messages) - 1) // 2
        yield ev.StreamStart()
        if turn < self.steps:
            for j in range(self.width):
                cid = f"c{turn}_{j}"
                yield ev.ToolStart(tool_call_id=cid, tool_name="noop")
                yield ev.ToolDelta(tool_call_id=cid, chunk='{"i": 1}')
                yield ev.ToolEnd(tool_call_id=cid, tool_call=ms.DUMMY_TOOL_CALL)
        elif self.texts is not None:
            yield ev.TextStart(block_id="0")
            for t in self.texts:
                yield ev.TextDelta(block_id="0", chunk=t)
            yield ev.TextEnd(block_id="0")
        elif self.deltas:
            yield ev.TextStart(block_id="0")
            for _ in range(self.deltas):
                yield ev.TextDelta(block_id="0", chunk=DELTA)
            yield ev.TextEnd(block_id="0")
        else:
            yield ev.TextStart(block_id="0")
            yield ev.TextDelta(block_id="0", chunk="done")
            yield ev.TextEnd(block_id="0")
        yield ev.StreamEnd(finish_reason="stop")


def model(**kw):
    return ai.Model(id="fake", provider=FakeProvider(**kw))


agent = ai.Agent(tools=[noop])


async def run(m):
    async with agent.run(m, [ai.user_message("go")]) as stream:
        async for _ in stream:
            pass
        assert stream.output == "done", stream.output
        return stream.messages


async def w1(steps):
    await run(model(steps=steps))
    return {}




async def w2(n):
    await run(model(steps=1, width=n))
    return {}


async def w3(k):
    chars = 0
    async with ai.Agent().run(model(deltas=k), [ai.user_message("go")]) as stream:
        async for e in stream:
            if isinstance(e, ev.TextDelta):
                chars += len(e.chunk)
    return {"chars": chars}






class Item(pydantic.BaseModel):
    id: int
    name: str
    score: float
    ok: bool


class Items(pydantic.BaseModel):
    items: list[Item]




MODELS = {}


