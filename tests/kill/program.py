"""What is killed: thirty steps with parallel tools, some of which must not run twice.

Every tool writes down in a file beside the journal that it has started, and how often. Its result
is a function of its arguments, so that two runs can be compared.
"""

import os
import random
from pathlib import Path

import anyio

import stepfold as sf
from stepfold import durable
from stepfold.ports import JournalStore
from stepfold.testing import ScriptedModel, call, reply

STEPS = 30


def agent_of(
    world: Path,
    *,
    careless: bool = False,
    steps: int = STEPS,
    model: sf.LanguageModel | None = None,
    retry: sf.RetryPolicy | None = None,
    seconds: float = 0.002,
) -> sf.Agent:
    """Make the agent whose tools write into a file what they do.

    A `careless` one says of all its tools that they may run again, which is a lie. The model gives
    `replies_of(steps)`; a tool takes up to so many `seconds`.
    """

    async def done(context: sf.ToolContext[object], name: str, place: str) -> str:
        line = f"{name} {context.idempotency_key}\n".encode()
        descriptor = os.open(world, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)
        await anyio.sleep(random.random() * seconds)
        return f"{name} {place}"

    @sf.tool(idempotent=True)
    async def look(context: sf.ToolContext[object], place: str) -> str:
        """Look somewhere; harmless."""
        return await done(context, "look", place)

    @sf.tool(idempotent=careless)
    async def book(context: sf.ToolContext[object], place: str) -> str:
        """Book something; not twice."""
        return await done(context, "book", place)

    if model is None:
        model = ScriptedModel(replies_of(steps), by_step=True)
    return sf.Agent(model=model, tools=[look, book], stop_when=sf.never, retry=retry)


def replies_of(steps: int) -> tuple[sf.ModelReply, ...]:
    """What the model says, step by step."""
    script = [
        reply(
            f"Step {step}.",
            call("look", {"place": f"a{step}"}, id=f"a{step}"),
            call("book", {"place": f"b{step}"}, id=f"b{step}"),
            call("look", {"place": f"c{step}"}, id=f"c{step}"),
            call("book", {"place": f"d{step}"}, id=f"d{step}"),
        )
        for step in range(steps)
    ]
    return (*script, reply("Done."))


def parent_of(world: Path, store: JournalStore, *, steps: int) -> sf.Agent:
    """Make an agent that lets the agent above do all, in a run that is kept in the same store."""
    child = agent_of(world, steps=steps)

    @sf.tool(idempotent=True, grant=sf.Limits(tokens=100_000, tool_calls=1_000))
    async def plan(context: sf.ToolContext[object], trip: str) -> str:
        """Let somebody else do it."""
        run = await durable.run(child, store, trip, parent=context, lease_seconds=0.2)
        return run.unwrap()

    script = [reply(call(plan, {"trip": "Oslo"}, id="p")), reply("Done.")]
    limits = sf.Limits(tokens=1_000_000, tool_calls=10_000)
    return sf.Agent(model=ScriptedModel(script, by_step=True), tools=[plan], limits=limits)


def started_in(world: Path) -> list[tuple[str, str]]:
    """Each start of a tool: its name and the key of its call, in order."""
    if not world.exists():
        return []
    lines = world.read_text("utf-8").splitlines()
    return [(name, key) for name, _, key in (line.partition(" ") for line in lines)]
