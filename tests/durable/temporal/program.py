"""The agents whose runs are workflows in these tests; workers import this in the sandbox."""

import asyncio

from attrs import define, field

import stepfold as sf
from stepfold.durable import temporal
from stepfold.testing import ScriptedModel, call, reply
from stepfold.values import ModelErrorReason, ModelReply

QUICK = temporal.EngineOptions(heartbeat_seconds=1.0)
"""Lost workers are found out soon."""


@define(eq=False)
class World:
    """What tools do in one process: each start, and what they wait for."""

    started: list[str] = field(factory=list)
    cancelled: list[str] = field(factory=list)
    at_work: int = 0
    most_at_work: int = 0
    begun: asyncio.Event = field(factory=asyncio.Event)
    free: asyncio.Event = field(factory=asyncio.Event)


def script(*replies: ModelReply | ModelErrorReason) -> ScriptedModel:
    """A model that gives these replies to each run."""
    return ScriptedModel(replies, by_step=True)


# --- without a world --------------------------------------------------------------------------


@sf.tool(idempotent=True)
async def look(place: str) -> str:
    """Look somewhere; harmless."""
    return f"saw {place}"


@sf.tool
async def book(place: str) -> str:
    """Book something; not twice."""
    return f"booked {place}"


class Traveller(temporal.RunWorkflow):
    agent = sf.Agent(
        model=script(
            reply(call(look, {"place": "a"}), call(book, {"place": "b"})),
            reply(call(look, {"place": "c"})),
            reply("Done."),
        ),
        tools=[look, book],
    )
