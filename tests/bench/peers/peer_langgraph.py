"""LangGraph: langgraph.prebuilt.create_react_agent (w1..w4) and langchain create_agent (w1_create_agent)."""

import asyncio
import os

os.environ["LANGSMITH_TRACING"] = "false"

from langchain_core.language_models.chat_models import BaseChatModel  # noqa: E402
from langchain_core.messages import AIMessage, AIMessageChunk  # noqa: E402
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult  # noqa: E402
from langgraph.prebuilt import create_react_agent  # noqa: E402

from common import DELTA, Counter, w7_payload  # noqa: E402


async def noop(i: int) -> str:
    """No-op."""
    Counter.calls += 1
    return "ok"


class Fake(BaseChatModel):
    steps: int = 0
    width: int = 1
    nap: bool = False
    texts: object = None

    @property
    def _llm_type(self):
        return "fake"

    def bind_tools(self, tools, **kw):
        return self

    def _generate(self, messages, stop=None, run_manager=None, **kw):
        turn = (len(messages) - 1) // (1 + self.width)
        if turn < self.steps:
            calls = [
                {"name": "noop", "args": {"i": 1}, "id": f"c{turn}_{j}", "type": "tool_call"} for j in range(self.width)
            ]
            msg = AIMessage(content="", tool_calls=calls)
        else:
            msg = AIMessage(content="done")
        return ChatResult(generations=[ChatGeneration(message=msg)])

    async def _agenerate(self, messages, stop=None, run_manager=None, **kw):
        if self.nap:
            await asyncio.sleep(0)
        return self._generate(messages)

    async def _astream(self, messages, stop=None, run_manager=None, **kw):
        for t in self.texts:
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=t))
            if run_manager:
                await run_manager.on_llm_new_token(t, chunk=chunk)
            yield chunk


class FakeOnce(Fake):
    """Without _astream, so that a non-streaming run takes the plain path."""

    _astream = BaseChatModel._astream


LIMIT = {"recursion_limit": 10_000}


def agent(model):
    return create_react_agent(model, tools=[noop])


async def run(app):
    out = await app.ainvoke({"messages": [("user", "go")]}, LIMIT)
    assert out["messages"][-1].content == "done"
    return out


async def w1(steps):
    await run(agent(FakeOnce(steps=steps)))
    return {}






async def w2(n):
    await run(agent(FakeOnce(steps=1, width=n)))
    return {}


async def stream_text(app):
    chars = 0
    async for chunk, _meta in app.astream({"messages": [("user", "go")]}, LIMIT, stream_mode="messages"):
        if isinstance(chunk, AIMessageChunk) and isinstance(chunk.content, str):
            chars += len(chunk.content)
    return {"chars": chars}


async def w3(k):
    return await stream_text(create_react_agent(Fake(texts=[DELTA] * k), tools=[]))








MODELS = {}


def chat_openai(base_url):
    from langchain_openai import ChatOpenAI

    if base_url not in MODELS:  # made in the warm-up run
        model = ChatOpenAI(model="gpt-4o", base_url=base_url, api_key="x")
        MODELS[base_url] = model, create_react_agent(model, tools=[])
    return MODELS[base_url]




