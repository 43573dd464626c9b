"""The floor: a hand-written loop over frozen classes, with no features and no checks at all."""

import asyncio
import json
from collections.abc import AsyncIterator

from attrs import frozen

from tests.bench.measure import Figure, timed


@frozen
class Call:
    id: str
    name: str
    args: str


@frozen
class Message:
    role: str
    text: str = ""
    calls: tuple[Call, ...] = ()
    call_id: str = ""


@frozen
class Delta:
    id: str
    text: str


async def noop(i: int) -> str:
    del i
    return "ok"


async def nap(i: int) -> str:
    del i
    await asyncio.sleep(0)
    return "ok"


TOOLS = {"noop": noop, "nap": nap}


class Fake:
    def __init__(self, steps: int, width: int = 1, tool: str = "noop", rest: bool = False) -> None:
        self.steps, self.width, self.tool, self.rest = steps, width, tool, rest

    async def generate(self, messages: list[Message], turn: int) -> Message:
        del messages
        if self.rest:
            await asyncio.sleep(0)
        if turn < self.steps:
            names = range(self.width)
            calls = tuple(Call(f"c{turn}_{j}", self.tool, '{"i": 1}') for j in names)
            return Message("assistant", calls=calls)
        return Message("assistant", "done")


async def run_one(call: Call) -> Message:
    output = await TOOLS[call.name](**json.loads(call.args))
    return Message("tool", output, call_id=call.id)


async def converse(model: Fake) -> list[Message]:
    messages = [Message("user", "go")]
    turn = 0
    while True:
        reply = await model.generate(messages, turn)
        messages.append(reply)
        turn += 1
        if not reply.calls:
            return messages
        if len(reply.calls) == 1:
            messages.append(await run_one(reply.calls[0]))
        else:
            messages += await asyncio.gather(*[run_one(call) for call in reply.calls])


def tool_loop(steps: int) -> Figure:
    return timed(lambda: asyncio.run(converse(Fake(steps))))


def parallel() -> Figure:
    return timed(lambda: asyncio.run(converse(Fake(1, 100))))


def parallel_nap() -> Figure:
    return timed(lambda: asyncio.run(converse(Fake(1, 100, "nap"))))


async def stream(count: int) -> AsyncIterator[Delta]:
    for _ in range(count):
        yield Delta("0", "tokn")


async def read(count: int) -> str:
    return "".join([delta.text async for delta in stream(count)])


def deltas(count: int) -> Figure:
    return timed(lambda: asyncio.run(read(count)))


async def many(count: int) -> None:
    await asyncio.gather(*[converse(Fake(2, rest=True)) for _ in range(count)])


def concurrent() -> Figure:
    return timed(lambda: asyncio.run(many(1_000)))
