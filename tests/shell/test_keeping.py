"""What a model keeps lives from the first call of a run until it rests, however that comes."""

from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import TypeAlias, final

import anyio
import pytest

import stepfold as sf
from stepfold.ports import KEEPER
from stepfold.shell import drive_sync
from stepfold.testing import call, reply

RunOf: TypeAlias = Callable[[sf.LanguageModel], Coroutine[object, object, sf.Run[str]]]


@sf.tool
async def look() -> str:
    """Look."""
    assert KEEPER.get() is None
    return "seen"


@final
class Thing:
    """Something to keep, whose closing takes a while, or fails."""

    def __init__(self, *, fails: bool = False, waits: bool = True) -> None:
        self.closed = 0
        self._fails = fails
        self._waits = waits

    async def aclose(self) -> None:
        if self._waits:
            await anyio.sleep(0.01)
        self.closed += 1
        if self._fails:
            raise OSError("already gone")


@final
class Keeping:
    """A model that wants a thing for each call, and keeps it if it can."""

    provider = "demo"
    model_id = "keeping"

    def __init__(self, *, fails: bool = False, waits: bool = True, calls: int = 2) -> None:
        self.made: list[Thing] = []
        self.used: list[Thing | None] = []
        self.answering: anyio.Event | None = None
        self._fails, self._waits = fails, waits
        self._calls = calls

    def _thing(self) -> Thing:
        self.made.append(Thing(fails=self._fails, waits=self._waits))
        return self.made[-1]

    def use(self) -> None:
        keeper = KEEPER.get()
        self.used.append(None if keeper is None else keeper.keep(self, self._thing))

    async def generate(self, request: sf.ModelRequest, /) -> sf.ModelReply:
        self.use()
        if self.answering is not None:
            self.answering.set()
            await anyio.sleep_forever()
        return reply(call(look)) if len(self.used) < self._calls else reply("done")

    @sf.streamed
    async def stream(self, request: sf.ModelRequest, /) -> AsyncGenerator[sf.StreamPart]:
        yield sf.StreamStart()
        for part in sf.parts_of(await self.generate(request)):
            yield part


async def generated(model: sf.LanguageModel) -> sf.Run[str]:
    return await sf.Agent(model=model, tools=[look]).generate("go")


async def streamed(model: sf.LanguageModel) -> sf.Run[str]:
    around = KEEPER.get()
    async with sf.Agent(model=model, tools=[look]).stream("go") as stream:
        async for _ in stream:
            assert KEEPER.get() is around
        return await stream.run()


both = pytest.mark.parametrize("run_of", [generated, streamed])


@both
@pytest.mark.parametrize("fails", [False, True])
async def test_a_thing_is_made_once_and_closed_once(run_of: RunOf, fails: bool) -> None:
    model = Keeping(fails=fails)

    run = await run_of(model)

    assert isinstance(run.end, sf.Completed)
    assert run.results_of(look) == ("seen",)
    (thing,) = model.made
    assert model.used == [thing, thing]
    assert thing.closed == 1


@pytest.mark.parametrize("fails", [False, True])
def test_a_thing_is_made_once_and_closed_once_without_an_event_loop(fails: bool) -> None:
    model = Keeping(fails=fails, waits=False)
    agent = sf.Agent(model=model, tools=[look])
    first = sf.begin(agent.program, "go", run="r", seed=0, at=0)

    state = drive_sync(agent.program, first, sf.Runtime(models=(model,), tools=(look,), deps=None))

    assert len(state.steps) == 2
    assert [thing.closed for thing in model.made] == [1]


@both
async def test_a_thing_is_closed_whoever_cancels_the_run(run_of: RunOf) -> None:
    model = Keeping()
    model.answering = anyio.Event()

    async with anyio.create_task_group() as group:
        group.start_soon(run_of, model)
        await model.answering.wait()
        group.cancel_scope.cancel()

    assert [thing.closed for thing in model.made] == [1]


async def test_a_thing_is_closed_when_a_handle_ends_the_stream() -> None:
    model, cancel = Keeping(), sf.CancelHandle()

    async with sf.Agent(model=model, tools=[look]).stream("go", cancel=cancel) as stream:
        async for part in stream:
            if isinstance(part, sf.notes.ToolFinished):
                cancel("enough")
        assert [thing.closed for thing in model.made] == [1]


@both
async def test_a_run_inside_a_models_call_keeps_for_itself(run_of: RunOf) -> None:
    inner, outer = Keeping(), Keeping()

    @final
    class Asking:
        provider = "demo"
        model_id = "asking"

        async def generate(self, request: sf.ModelRequest, /) -> sf.ModelReply:
            outer.use()
            await run_of(inner)
            outer.use()
            return reply("done")

        @sf.streamed
        async def stream(self, request: sf.ModelRequest, /) -> AsyncGenerator[sf.StreamPart]:
            for part in sf.parts_of(await self.generate(request)):
                yield part

    await run_of(Asking())

    assert outer.used == [outer.made[0], outer.made[0]]
    assert inner.used == [inner.made[0], inner.made[0]]
    assert [thing.closed for thing in (*inner.made, *outer.made)] == [1, 1]


async def test_a_run_at_rest_keeps_nothing_more() -> None:
    """Whoever took the keeper along finds it closed, and has to close what it makes."""
    model = Keeping()
    taken = []

    @final
    class Taking:
        provider = "demo"
        model_id = "taking"
        stream = model.stream

        async def generate(self, request: sf.ModelRequest, /) -> sf.ModelReply:
            taken.append(KEEPER.get())
            return await model.generate(request)

    await generated(Taking())
    keeper = taken[0]

    assert keeper is not None
    assert keeper.keep("another", Thing) is None
