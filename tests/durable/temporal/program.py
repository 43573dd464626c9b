"""The agents whose runs are workflows in these tests; workers import this in the sandbox."""

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
from attrs import define, field, frozen

import stepfold as sf
from stepfold.durable import temporal
from stepfold.loop import RetryPolicy, Timeouts
from stepfold.loop.events import StepPlan
from stepfold.testing import ScriptedModel, call, reply
from stepfold.values import ModelErrorReason, ModelReply, ModelRequest

QUICK = temporal.EngineOptions(heartbeat_seconds=1.5)
"""Lost workers are found out soon."""

HOUR = 3_600 * 1_000_000_000


@define(eq=False)
class World:
    """What tools do in one process: each start, and what they wait for."""

    started: list[str] = field(factory=list[str])
    cancelled: list[str] = field(factory=list[str])
    at_work: int = 0
    most_at_work: int = 0
    begun: asyncio.Event = field(factory=asyncio.Event)
    full: asyncio.Event = field(factory=asyncio.Event)
    ended: asyncio.Event = field(factory=asyncio.Event)
    free: asyncio.Event = field(factory=asyncio.Event)


def script(*replies: ModelReply | ModelErrorReason, chunk_size: int | None = None) -> ScriptedModel:
    """Make a model that gives these replies to each run."""
    return ScriptedModel(replies, by_step=True, chunk_size=chunk_size)


# --- tools that need nothing ------------------------------------------------------------------


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


class Renewed(temporal.RunWorkflow):
    """Has many short histories."""

    agent = sf.Agent(
        model=script(
            *(reply(f"Step {n}.", call(look, {"place": f"{n}" * 40})) for n in range(12)),
            reply("Done."),
        ),
        tools=[look],
        stop_when=sf.never,
        timeout=Timeouts(total=3_600, step=600),
    )
    engine = temporal.EngineOptions(history_events=30, piece_bytes=1_000)


class Brief(temporal.RunWorkflow):
    """Would like its histories shorter than anything that can be in them."""

    agent = Traveller.agent_of()
    engine = temporal.EngineOptions(history_events=1)


# --- people and clients -----------------------------------------------------------------------


@sf.tool(needs_approval=True)
async def pay(amount: int) -> str:
    """Pay an amount."""
    return f"paid {amount}"


@sf.client_tool
def confirm(question: str) -> bool:
    """Ask the person in front of the screen."""
    raise NotImplementedError


class Shopper(temporal.RunWorkflow):
    agent = sf.Agent(
        model=script(
            reply(call(pay, {"amount": 5}), call(confirm, {"question": "Sure?"})), reply("Done.")
        ),
        tools=[pay, confirm],
    )


# --- tools that take their time ---------------------------------------------------------------


@sf.tool
async def hold(context: sf.ToolContext[World], place: str) -> str:
    """Hold on until the world says so."""
    world = context.deps
    world.started.append(place)
    world.at_work += 1
    world.most_at_work = max(world.most_at_work, world.at_work)
    world.begun.set()
    if world.at_work > 1:
        world.full.set()
    try:
        await world.free.wait()
    except asyncio.CancelledError:
        world.cancelled.append(place)
        raise
    finally:
        world.at_work -= 1
        world.ended.set()
    return f"held {place}"


class Patient(temporal.RunWorkflow[World]):
    agent = sf.Agent(
        model=script(reply("One.", call(hold, {"place": "a"})), reply("Two."), reply("Three.")),
        deps_type=World,
        tools=[hold],
    )
    engine = QUICK


class Crowd(temporal.RunWorkflow[World]):
    agent = sf.Agent(
        model=script(reply(*(call(hold, {"place": f"{n}"}) for n in range(5))), reply("Done.")),
        deps_type=World,
        tools=[hold],
        concurrency=2,
    )


# --- what is big ------------------------------------------------------------------------------

MEGABYTE = 1_000_000


@sf.tool(idempotent=True)
async def read(megabytes: int) -> str:
    """Read a big file."""
    return "x" * (megabytes * MEGABYTE)


class Reader(temporal.RunWorkflow):
    agent = sf.Agent(
        model=script(
            reply(call(read, {"megabytes": 3})),
            reply(call(look, {"place": "a"}), call(look, {"place": "b"})),
            reply("Done."),
        ),
        tools=[read, look],
    )


# --- time -------------------------------------------------------------------------------------


class Sleeper(temporal.RunWorkflow):
    """Is told to come back in ten hours."""

    agent = sf.Agent(
        model=script(
            ModelErrorReason("overloaded", "come back later", retry_after=10 * HOUR), reply("Done.")
        ),
        retry=RetryPolicy(max_retry_after=100_000.0),
    )


class Hurried(temporal.RunWorkflow):
    """As `Sleeper`, but does not have so much time."""

    agent = sf.Agent(
        model=script(
            ModelErrorReason("overloaded", "come back later", retry_after=10 * HOUR), reply("Done.")
        ),
        retry=RetryPolicy(max_retry_after=100_000.0),
        timeout=3_600,
    )


class Wearied(temporal.RunWorkflow):
    """Pauses for a quarter of an hour before each step, in one short history after another."""

    agent = sf.Agent(
        model=script(
            *(
                answer
                for n in range(9)
                for answer in (
                    ModelErrorReason("overloaded", "come back later", retry_after=HOUR // 4),
                    reply(call(look, {"place": f"{n}"})),
                )
            )
        ),
        tools=[look],
        stop_when=sf.never,
        retry=RetryPolicy(max_retry_after=100_000.0),
        timeout=Timeouts(total=3_600, step=1_800),
    )
    engine = temporal.EngineOptions(history_events=20)


# --- limits and grants ------------------------------------------------------------------------

helper = sf.Agent(model=script(reply(call(look, {"place": "a"})), reply("42")), tools=[look])


@sf.tool(grant=sf.Limits(tokens=1_000, tool_calls=3))
async def ask(context: sf.ToolContext[object], question: str) -> str:
    """Ask a helper."""
    return (await helper.generate(question, parent=context)).unwrap()


class Boss(temporal.RunWorkflow):
    agent = sf.Agent(
        model=script(
            reply(call(ask, {"question": "How much?"})),
            reply(call(look, {"place": "b"}), call(look, {"place": "c"})),
            reply("Done."),
        ),
        tools=[ask, look],
        limits=sf.Limits(tokens=5_000, tool_calls=3),
    )


# --- hooks ------------------------------------------------------------------------------------


@frozen
class Total:
    amount: int

    def __attrs_post_init__(self) -> None:
        if self.amount < 0:
            raise ValueError("less than nothing")


@sf.tool(idempotent=True)
async def count(what: Total) -> int:
    """Count up to a total."""
    return what.amount


def prepared(context: sf.StepContext[Path]) -> StepPlan | None:
    with context.deps.open("a") as file:
        file.write(f"prepare {context.step}\n")
    return None


def repaired(context: sf.RepairContext[Path]) -> str | None:
    with context.deps.open("a") as file:
        file.write(f"repair {context.call.tool_name}\n")
    return '{"what":{"amount":1}}'


async def judged(context: sf.ApprovalContext[Path]) -> sf.Verdict:
    with context.deps.open("a") as file:
        file.write(f"judge {context.call.input}\n")
    return sf.Verdict("approved")


def checked(context: sf.StopContext[Path]) -> sf.Stop | None:
    with context.deps.open("a") as file:
        file.write(f"check {len(context.progress.steps)}\n")
    return None


class Hooked(temporal.RunWorkflow[Path, Total]):
    agent = sf.Agent(
        model=script(
            reply(call(count, {"what": {"amount": 2}}), call(count, {"what": "much"})),
            reply('{"amount": 3}'),
        ),
        deps_type=Path,
        tools=[count],
        output=sf.object_of(Total),
        prepare_step=prepared,
        repair_tool_call=repaired,
        tool_approval=judged,
        stop_check=checked,
    )


SEEN: list[sf.Observation] = []
"""What observers were told in this process, where the workers of a test are."""


class Watched(temporal.RunWorkflow):
    agent = sf.Agent(
        model=script(reply(call(look, {"place": "a"})), reply("Done.")),
        tools=[look],
        observers=[SEEN.append],
    )


# --- what goes wrong --------------------------------------------------------------------------


class Refused(temporal.RunWorkflow):
    agent = sf.Agent(model=script(ModelErrorReason("authentication", "who are you?")))


def reads_a_file(progress: sf.Progress) -> bool:
    with Path(__file__).open() as file:
        return bool(file.readline())


OUTSIDE = False
"""Set by a test in its own process; the sandbox loads this module anew."""


class Inside(temporal.RunWorkflow):
    agent = sf.Agent(
        model=script(reply(call(look, {"place": "a"})), reply("Done.")),
        tools=[look],
        stop_when=sf.stop_if(lambda _: OUTSIDE, "what is outside is seen"),
    )


class Stranger(temporal.RunWorkflow, name="Traveller"):
    """Is called as `Traveller`, and has none of its tools."""

    agent = sf.Agent(model=Traveller.agent_of().runtime().models["scripted/model"])


class Impure(temporal.RunWorkflow):
    """Its stop condition asks the disk, which the sandbox forbids."""

    agent = sf.Agent(
        model=script(reply(call(look, {"place": "a"})), reply("Done.")),
        tools=[look],
        stop_when=sf.stop_if(reads_a_file, "a file says so"),
    )


# --- streams ----------------------------------------------------------------------------------


@sf.tool
async def climb(height: int) -> AsyncGenerator[int]:
    """Climb step by step."""
    for step in range(height):
        yield step


class Speaker(temporal.RunWorkflow):
    agent = sf.Agent(
        model=script(
            reply("Up I go.", call(climb, {"height": 3})), reply("Here I am."), chunk_size=3
        ),
        tools=[climb],
    )


# --- workers that are lost --------------------------------------------------------------------


async def noted(file: Path, line: str) -> None:
    """Note a start, and go on once somebody lets it: a file `go` lies beside."""
    with file.open("a") as opened:
        opened.write(f"{line}\n")
    await seen(file.parent / "go")


async def seen(file: Path) -> None:
    """Wait for a file that another process makes."""
    for _ in range(6_000):
        if await anyio.Path(file).exists():
            return
        await asyncio.sleep(0.02)
    raise TimeoutError(f"{file} did not come")


@sf.tool(idempotent=True)
async def slow_look(context: sf.ToolContext[Path], place: str) -> str:
    """Look around, slowly."""
    await noted(context.deps / "started", f"look {context.idempotency_key}")
    return f"saw {place}"


@sf.tool
async def slow_book(context: sf.ToolContext[Path], place: str) -> str:
    """Book something, slowly."""
    await noted(context.deps / "started", f"book {context.idempotency_key}")
    return f"booked {place}"


class Looker(temporal.RunWorkflow[Path]):
    agent = sf.Agent(
        model=script(reply(call(slow_look, {"place": "a"})), reply("Done.")),
        deps_type=Path,
        tools=[slow_look],
    )
    engine = QUICK


class Booker(temporal.RunWorkflow[Path]):
    agent = sf.Agent(
        model=script(reply(call(slow_book, {"place": "a"})), reply("Done.")),
        deps_type=Path,
        tools=[slow_book],
    )
    engine = QUICK


async def slow_answer(request: ModelRequest) -> ModelReply:
    """Answer slowly; where, says the environment of the worker."""
    await noted(Path(os.environ["STEPFOLD_TEST_WORLD"]) / "started", f"model {request.key}")
    return reply("Done.")


class Thinker(temporal.RunWorkflow):
    agent = sf.Agent(
        model=ScriptedModel([slow_answer] * 4),
        retry=RetryPolicy(max_retries=3, initial_delay=0.01),
    )
    engine = QUICK
