"""The programs of the histories in tests/data/temporal.

Add to this module, and change nothing in it: the histories were made by these programs, and are
replayed with them.
"""

import asyncio

import stepfold as sf
from stepfold.durable import temporal
from stepfold.loop import RetryPolicy, Timeouts
from stepfold.testing import ScriptedModel, call, reply
from stepfold.values import ModelErrorReason


@sf.tool(idempotent=True)
async def look(place: str) -> str:
    """Look somewhere; harmless."""
    return f"saw {place}"


@sf.tool
async def book(place: str) -> str:
    """Book something; not twice."""
    return f"booked {place}"


@sf.tool(needs_approval=True)
async def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


@sf.client_tool
def confirm(question: str) -> bool:
    """Ask the person in front of the screen."""
    raise NotImplementedError


@sf.tool
async def hang(place: str) -> str:
    """Hang until the worker is taken for lost."""
    await asyncio.sleep(60)
    return place


class KeptTools(temporal.RunWorkflow):
    """Parallel tools, a retry, a tool that fails, arguments that do not fit."""

    agent = sf.Agent(
        model=ScriptedModel(
            [
                reply("First.", call(look, {"place": "a"}), call(book, {"place": "b"})),
                ModelErrorReason("overloaded", "come back later", retry_after=10_000_000),
                reply(call(look, {"where": "c"}), call(look, {"place": "d"})),
                reply("Done."),
            ],
            by_step=True,
        ),
        tools=[look, book],
        retry=RetryPolicy(initial_delay=0.01),
        timeout=Timeouts(total=3_600, step=60),
    )


class KeptPeople(temporal.RunWorkflow):
    """An approval, a question to a client, and somebody who speaks to a blocked run."""

    agent = sf.Agent(
        model=ScriptedModel(
            [
                reply(call(pay, {"amount": 5}), call(confirm, {"question": "Sure?"})),
                reply(call(pay, {"amount": 6})),
                reply("Two."),
                reply("Three."),
            ],
            by_step=True,
        ),
        tools=[pay, confirm],
    )


class KeptLosses(temporal.RunWorkflow):
    """A call whose worker is lost, and one that is not."""

    agent = sf.Agent(
        model=ScriptedModel(
            [reply(call(hang, {"place": "a"}), call(look, {"place": "b"})), reply("Done.")],
            by_step=True,
        ),
        tools=[hang, look],
    )
    engine = temporal.EngineOptions(longest_seconds=1.0)


class KeptLong(temporal.RunWorkflow):
    """A run of several histories."""

    agent = sf.Agent(
        model=ScriptedModel(
            [*(reply(call(look, {"place": "x" * 99})) for _ in range(6)), reply("Done.")],
            by_step=True,
        ),
        tools=[look],
        stop_when=sf.never,
    )
    engine = temporal.EngineOptions(history_events=30, piece_bytes=500)


class KeptFailure(temporal.RunWorkflow):
    """A model that refuses."""

    agent = sf.Agent(
        model=ScriptedModel([ModelErrorReason("authentication", "who are you?")], by_step=True)
    )


class KeptCrowd(temporal.RunWorkflow):
    """Many calls that are at work when the run is cancelled."""

    agent = sf.Agent(
        model=ScriptedModel(
            [reply(*(call(hang, {"place": f"{n}"}) for n in range(8)))], by_step=True
        ),
        tools=[hang],
    )


KEPT = (KeptTools, KeptPeople, KeptLosses, KeptLong, KeptFailure, KeptCrowd)
"""All of them."""
