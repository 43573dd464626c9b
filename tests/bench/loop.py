"""The same workloads through stepfold, as a user writes them; each checks its work."""

import cProfile
import pstats
from collections import defaultdict
from collections.abc import AsyncGenerator
from pathlib import Path

import anyio
import anyio.lowlevel

import stepfold as sf
from tests.bench.measure import Figure, timed

USAGE = sf.Usage(10, 5)


@sf.tool
async def noop(i: int) -> str:
    """Do nothing."""
    del i
    return "ok"


@sf.tool
async def nap(i: int) -> str:
    """Do nothing, after a turn of the event loop."""
    del i
    await anyio.lowlevel.checkpoint()
    return "ok"


@sf.tool
def threaded(i: int) -> str:
    """Do nothing, in a worker thread."""
    del i
    return "ok"


class Fake:
    """A model that asks for `width` calls in each of `steps` turns, then says that it is done."""

    provider = "fake"
    model_id = "bench"

    def __init__(self, steps: int, width: int = 1, tool: str = "noop", rest: bool = False) -> None:
        self.steps, self.width, self.tool, self.rest = steps, width, tool, rest

    def reply(self, turn: int) -> sf.ModelReply:
        if turn < self.steps:
            names = range(self.width)
            calls = tuple(sf.ToolCall(f"c{turn}_{j}", self.tool, '{"i": 1}') for j in names)
            return sf.ModelReply(calls, sf.FinishReason("tool-calls"), USAGE)
        return sf.ModelReply((sf.Text("done"),), sf.FinishReason("stop"), USAGE)

    async def generate(self, request: sf.ModelRequest) -> sf.ModelReply:
        if self.rest:
            await anyio.lowlevel.checkpoint()
        return self.reply(int(request.key.split("/")[1]))

    @sf.streamed
    async def stream(self, request: sf.ModelRequest) -> AsyncGenerator[sf.StreamPart]:
        del request
        yield sf.StreamStart()
        yield sf.TextStart("0")
        for _ in range(self.steps):
            yield sf.TextDelta("0", "tokn")
        yield sf.TextEnd("0")
        yield sf.Finish(sf.FinishReason("stop"), USAGE)


def agent_of(model: Fake) -> sf.Agent[object, str]:
    return sf.Agent(model=model, tools=[noop, nap, threaded], stop_when=sf.never)


async def generated(model: Fake, steps: int, calls: int) -> sf.Run[str]:
    run = await agent_of(model).generate("go", run_id="r", seed=0)
    done = sum(len(step.tool_results) for step in run.steps)
    if not isinstance(run.end, sf.Completed) or (len(run.steps), done) != (steps, calls):
        raise AssertionError(f"expected {steps} steps and {calls} calls, got {run.end}")
    return run


def measured(model: Fake, steps: int, calls: int) -> Figure:
    return timed(lambda: anyio.run(generated, model, steps, calls))


def tool_loop(steps: int) -> Figure:
    return measured(Fake(steps), steps + 1, steps)


def kept(steps: int) -> object:
    return anyio.run(generated, Fake(steps), steps + 1, steps)


def parallel() -> Figure:
    return measured(Fake(1, 100), 2, 100)


def parallel_nap() -> Figure:
    return measured(Fake(1, 100, "nap"), 2, 100)


def parallel_threads() -> Figure:
    return measured(Fake(1, 100, "threaded"), 2, 100)


def reducer_only(steps: int) -> Figure:
    """The pure core by itself: no event loop, no tools, no models."""
    program, model = agent_of(Fake(steps)).program, Fake(steps)
    outcome = sf.events.ToolSucceeded(sf.TextOutput("ok"))

    def fold() -> None:
        transition = sf.begin(program, "go", run="r", seed=0, at=0)
        at = 0
        while transition.commands:
            (command,) = transition.commands
            at += 1
            event: sf.events.Event
            match command:
                case sf.commands.CallModel(key):
                    reply = model.reply(key.step)
                    event = sf.events.ModelReplied(key, reply, at, started=at)
                case sf.commands.RunTool(key):
                    event = sf.events.ToolReturned(key, outcome, at, started=at)
                case _:
                    raise AssertionError(command)
            transition = sf.step(program, transition.state, event)
        if len(transition.state.steps) != steps + 1:
            raise AssertionError(transition.state.phase)

    return timed(fold)


async def read(count: int) -> None:
    async with agent_of(Fake(count)).stream("go", run_id="r", seed=0) as stream:
        text = "".join([delta async for delta in stream.text()])
    if len(text) != 4 * count:
        raise AssertionError(len(text))


def deltas(count: int) -> Figure:
    return timed(lambda: anyio.run(read, count))


async def many(count: int) -> None:
    agent = agent_of(Fake(2, rest=True))
    finished = 0

    async def one() -> None:
        nonlocal finished
        run = await agent.generate("go", run_id="r", seed=0)
        finished += run.text == "done"

    async with anyio.create_task_group() as group:
        for _ in range(count):
            group.start_soon(one)
    if finished != count:
        raise AssertionError(finished)


def concurrent() -> Figure:
    return timed(lambda: anyio.run(many, 1_000))


def profile(steps: int) -> list[tuple[str, float]]:
    """Shares of the time of a tool loop, by room, largest first."""
    profiler = cProfile.Profile()
    profiler.runcall(lambda: anyio.run(generated, Fake(steps), steps + 1, steps))
    totals: defaultdict[str, float] = defaultdict(float)
    package = Path(sf.__file__).parent
    stats = pstats.Stats(profiler).stats  # type: ignore[attr-defined]  # known to no stub
    for (file, _, name), (_, _, own, _, _) in stats.items():
        totals[room_of(file, name, package)] += own
    whole = sum(totals.values())
    shares = [(room, own / whole) for room, own in totals.items()]
    return sorted(shares, key=lambda share: -share[1])[:10]


def room_of(file: str, name: str, package: Path) -> str:
    if file.startswith("<attrs generated"):
        return "making frozen values"
    path = Path(file)
    if path.is_relative_to(package):
        return f"stepfold.{path.relative_to(package).parts[0]}"
    if file == "~":
        return "built-in functions"
    return "the model and tools of this benchmark" if path == Path(__file__) else "other libraries"
