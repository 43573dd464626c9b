"""openai-agents: Runner.run / run_streamed with a custom Model (tracing disabled unless named)."""

import asyncio

from agents import Agent, ModelSettings, Runner, function_tool, set_tracing_disabled
from agents.items import ModelResponse
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)

from common import DELTA, Counter

set_tracing_disabled(True)


@function_tool
async def noop(i: int) -> str:
    """No-op."""
    Counter.calls += 1
    return "ok"


def message(text):
    return ResponseOutputMessage(
        id="m",
        type="message",
        role="assistant",
        status="completed",
        content=[ResponseOutputText(text=text, type="output_text", annotations=[], logprobs=[])],
    )


class Fake(Model):
    def __init__(self, steps=0, width=1, nap=False, deltas=0):
        self.steps, self.width, self.nap, self.deltas = steps, width, nap, deltas

    async def get_response(self, system_instructions, input, *args, **kw):
        if self.nap:
            await asyncio.sleep(0)
        # input: a string or [user] first, then call and output for every call made
        turn = 0 if isinstance(input, str) else (len(input) - 1) // (2 * self.width)
        if turn < self.steps:
            out = [
                ResponseFunctionToolCall(
                    id=f"f{turn}_{j}", call_id=f"c{turn}_{j}", name="noop", arguments='{"i": 1}', type="function_call"
                )
                for j in range(self.width)
            ]
        else:
            out = [message("done")]
        return ModelResponse(output=out, usage=Usage(), response_id=None)

    async def stream_response(self, system_instructions, input, *args, **kw):
        for i in range(self.deltas):
            yield ResponseTextDeltaEvent(
                content_index=0,
                delta=DELTA,
                item_id="m",
                logprobs=[],
                output_index=0,
                sequence_number=i,
                type="response.output_text.delta",
            )
        yield ResponseCompletedEvent(
            type="response.completed",
            sequence_number=self.deltas,
            response=Response(
                id="r",
                created_at=0,
                model="fake",
                object="response",
                output=[message(DELTA * self.deltas)],
                tool_choice="auto",
                tools=[],
                parallel_tool_calls=True,
            ),
        )


async def run(model):
    agent = Agent(name="a", model=model, tools=[noop], model_settings=ModelSettings())
    res = await Runner.run(agent, "go", max_turns=None)
    assert res.final_output == "done"
    return res


async def w1(steps):
    await run(Fake(steps))
    return {}




async def w2(n):
    await run(Fake(1, width=n))
    return {}


async def consume(agent):
    chars = 0
    res = Runner.run_streamed(agent, "go")
    async for e in res.stream_events():
        if e.type == "raw_response_event" and isinstance(e.data, ResponseTextDeltaEvent):
            chars += len(e.data.delta)
    return {"chars": chars}


async def w3(k):
    return await consume(Agent(name="a", model=Fake(deltas=k)))




MODELS = {}




