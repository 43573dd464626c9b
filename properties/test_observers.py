"""Laws 2 and 7 for observers: they are told the run, alike by every driver, and change nothing."""

from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel
from hypothesis import given
from hypothesis import strategies as st

from properties.test_one_loop import SLOW, begun, generated, real_programs, runtime_of, streamed
from stepfold.loop import LoopState, Program, Transition, command_ids
from stepfold.loop.events import Event, ModelFailed, ModelReplied
from stepfold.shell import (
    AnyTool,
    CancelHandle,
    EventHappened,
    MemoryJournal,
    ModelCallEnded,
    ModelCallStarted,
    Observation,
    Observer,
    RunTakenUp,
    Runtime,
    ToolExecutionEnded,
    ToolExecutionStarted,
    drive_sync,
)
from stepfold.testing import World, laws
from stepfold.testing.strategies import prompts, worlds

Way = Callable[[Program, Transition, Runtime[None], CancelHandle | None], Awaitable[LoopState]]


def observed(
    runtime: Runtime[None], *observers: Observer, concurrency: int | None = None
) -> Runtime[None]:
    """The same runtime, watched."""
    return Runtime(
        models=runtime.models.values(),
        deps=None,
        tools=runtime.tools.values(),
        clock=runtime.clock,
        journal=runtime.journal,
        concurrency=concurrency,
        observers=observers,
        bind_output=runtime.bind_output,
    )


def timeless(seen: Observation) -> object:
    """What was seen, without what only a streamed reply knows."""
    match seen:
        case RunTakenUp(run, _, transition):
            return "taken up", run, transition
        case ModelCallStarted(run, key, model, request):
            return "model", run, key, model, request
        case ToolExecutionStarted(run, key, call, context):
            return "tool", run, key, call, context
        case ModelCallEnded(run, key, request, event):
            return "model ended", run, key, request, _bare(event)
        case ToolExecutionEnded(run, key, call, context, event):
            return "tool ended", run, key, call, context, event
        case EventHappened(run, event, transition):
            notes = [type(note).__name__ for note in transition.notes]
            return "event", run, _bare(event), command_ids(transition), notes
        case _:
            raise AssertionError(seen)  # that a run neither embeds nor ranks


def _bare(event: Event) -> object:
    if isinstance(event, ModelReplied):  # what has no id is named by the fold, or by `step`
        return event.key, event.reply.finish_reason, event.reply.usage, event.started, event.at
    if isinstance(event, ModelFailed):  # only a stream has something to show for it
        return event.key, event.reason, event.at
    return event


@given(st.data(), real_programs())
def test_every_driver_tells_the_same(data: st.DataObject, program: Program) -> None:
    """With one tool at a time the order is one; a stream may be cut in any chunks."""
    prompt = data.draw(prompts(tools=[*program.tools], histories_percent=20))
    world = data.draw(worlds(program=program, max_turns=3, hostile=10, failing=10))
    chunk_size = data.draw(st.sampled_from([None, 1, 3]))

    def first() -> Transition:
        return begun(program, prompt)

    plain: list[Observation] = []
    state = drive_sync(
        program, first(), observed(runtime_of(program, world), plain.append, concurrency=1)
    )
    laws.observations_are_the_run(plain, state)

    for backend in ("asyncio", "trio"):
        for way in (generated, streamed):
            told: list[Observation] = []
            runtime = runtime_of(program, world, chunk_size=chunk_size)
            watched = observed(runtime, told.append, concurrency=1)
            state = anyio.run(way, program, first(), watched, None, backend=backend)
            laws.observations_are_the_run(told, state)
            assert list(map(timeless, told)) == list(map(timeless, plain))


@given(st.data(), real_programs(), st.sampled_from(["asyncio", "trio"]))
def test_observers_change_nothing_and_miss_nothing(
    data: st.DataObject, program: Program, backend: str
) -> None:
    """Whatever they raise, however long they take; side by side too, all see one order."""
    world = data.draw(worlds(program=program, max_turns=3, hostile=10, failing=10))
    way = data.draw(st.sampled_from([generated, streamed]))
    journaled = data.draw(st.booleans())
    sync: list[Observation] = []
    late: list[Observation] = []

    def fails(seen: Observation) -> None:
        raise ValueError(seen.run)

    async def slow(seen: Observation) -> None:
        for _ in range(len(late) % 3):
            await anyio.lowlevel.checkpoint()
        assert sync[-1] is seen  # told one thing at a time, in the order of observers
        late.append(seen)

    def run(tools: tuple[AnyTool[object, object], ...], *observers: Observer) -> LoopState:
        runtime = runtime_of(program, world, tools=tools)
        if not journaled:
            runtime = Runtime(
                models=runtime.models.values(),
                deps=None,
                tools=tools,
                clock=runtime.clock,
                bind_output=runtime.bind_output,
            )
        watched = observed(runtime, *observers)
        return anyio.run(way, program, begun(program, "Hello"), watched, None, backend=backend)

    state = run(SLOW, fails, sync.append, slow, fails)

    laws.observations_are_the_run(sync, state)
    assert late == sync
    laws.same_run(state, run(SLOW))


@given(st.data(), real_programs())
def test_the_observed_events_are_the_journal(data: st.DataObject, program: Program) -> None:
    world: World = data.draw(worlds(program=program, max_turns=3, hostile=10, failing=10))
    told: list[Observation] = []
    runtime = runtime_of(program, world)
    drive_sync(program, begun(program, "Hello"), observed(runtime, told.append))

    journal = runtime.journal
    assert isinstance(journal, MemoryJournal)
    assert [(entry.event, entry.commands) for entry in journal.entries] == [
        (seen.event, command_ids(seen.transition))
        for seen in told
        if isinstance(seen, EventHappened)
    ]


@given(st.data(), real_programs(), st.sampled_from(["asyncio", "trio"]), st.integers(0, 12))
def test_a_cancelled_run_is_told_to_its_end(
    data: st.DataObject, program: Program, backend: str, tick: int
) -> None:
    """Wherever the run is when it is cancelled: even within an observer."""
    world = data.draw(worlds(program=program, max_turns=3, hostile=5, cut=0, failing=5))
    way: Way = data.draw(st.sampled_from([generated, streamed]))
    told: list[Observation] = []

    async def cancelled() -> LoopState:
        handle = CancelHandle()

        async def slow(seen: Observation) -> None:
            if len(told) == tick:
                handle("enough")
            await anyio.lowlevel.checkpoint()

        watched = observed(runtime_of(program, world), told.append, slow)
        return await way(program, begun(program, "Hello"), watched, handle)

    state = anyio.run(cancelled, backend=backend)

    laws.observations_are_the_run(told, state)
