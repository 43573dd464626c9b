"""Laws 7 and 15 in real runs: one loop under every driver, however its replies are cut."""

from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from stepfold.loop import (
    Done,
    JournalHeader,
    LoopState,
    Program,
    Timeouts,
    Transition,
    begin,
    command_ids,
)
from stepfold.ports import ModelStream
from stepfold.shell import (
    AnyTool,
    CancelHandle,
    MemoryJournal,
    Runtime,
    StreamDriver,
    drive,
    drive_sync,
    tool,
)
from stepfold.testing import Scripted, ScriptedModel, VirtualClock, World, laws, reply
from stepfold.testing.strategies import programs, prompts, worlds
from stepfold.values import (
    Cancelled,
    Failure,
    JsonText,
    Message,
    ModelReply,
    ModelRequest,
    NoOutput,
    Outcome,
    Success,
    ToolFault,
    UserMessage,
)


@tool
async def look(n: int) -> int:
    """Double a number."""
    return n * 2


@tool(idempotent=True)
async def wipe(n: int) -> str:
    """Refuse odd numbers."""
    if n % 2:
        msg = f"{n} is odd"
        raise ToolFault(msg)
    return f"wiped {n}"


@tool
def ask(n: int) -> list[int]:
    """Count up to a number, in a thread where there are threads."""
    return list(range(n))


@tool(needs_approval=True)
async def send(n: int) -> None:
    """Do nothing, once a person agrees."""


@tool(name="wipe")
async def slow_wipe(n: int) -> str:
    """Take longer for small numbers, so that answers come in another order than calls."""
    for _ in range(10 - n):
        await anyio.lowlevel.checkpoint()
    return str(await wipe(n))


TOOLS: tuple[AnyTool[object, object], ...] = (look, wipe, ask, send)
SLOW: tuple[AnyTool[object, object], ...] = (look, slow_wipe, ask, send)


@st.composite
def real_programs(draw: st.DrawFn) -> Program:
    """Draw programs whose tools have code, and whose hooks the shell can carry out."""
    drawn = draw(programs(min_tools=2, limited=20, breaks=1, hooks=0))
    tools = {one.name: one.spec for one in TOOLS if one.name in drawn.tools}
    tools |= {name: spec for name, spec in drawn.tools.items() if spec.is_output}
    return evolve(drawn, tools=tools)


def runtime_of(
    program: Program,
    world: World,
    *,
    chunk_size: int | None = None,
    tools: tuple[AnyTool[object, object], ...] = TOOLS,
    before: Callable[[], None] = lambda: None,
) -> Runtime[None]:
    """Models that say what the models of the world say, and a clock that never waits."""
    script: list[Scripted] = []
    for turn in world.turns:
        script += [*turn.failures, turn.reply]
    script += [reply("That is all.")] * 30

    def scripted(name: str) -> ScriptedModel:
        provider, _, model_id = name.partition("/")
        return ScriptedModel(
            script, provider=provider, model_id=model_id, chunk_size=chunk_size, by_step=True
        )

    return Runtime(
        models=[Watched(scripted(name), before) for name in program.every_model],
        deps=None,
        tools=tools,
        clock=VirtualClock(),
        journal=MemoryJournal(),
        bind_output=judged,
    )


def judged(document: JsonText) -> Outcome[object, NoOutput]:
    """Validators that refuse some outputs, always the same."""
    if len(document.text) % 2:
        return Failure(NoOutput("of an odd length", document.text, cause="refused"))
    return Success(document)


class Watched:
    """A model that tells when it is asked."""

    def __init__(self, model: ScriptedModel, before: Callable[[], None]) -> None:
        self.model = model
        self.before = before
        self.provider = model.provider
        self.model_id = model.model_id

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        self.before()
        return await self.model.generate(request)

    def stream(self, request: ModelRequest, /) -> ModelStream:
        self.before()
        return self.model.stream(request)


Prompt = str | tuple[Message, ...]
Run = tuple[LoopState, Runtime[None]]
Way = Callable[[Program, Transition, Runtime[None], CancelHandle | None], Awaitable[LoopState]]


async def generated(
    program: Program, first: Transition, runtime: Runtime[None], cancel: CancelHandle | None
) -> LoopState:
    return await drive(program, first, runtime, cancel=cancel)


async def streamed(
    program: Program, first: Transition, runtime: Runtime[None], cancel: CancelHandle | None
) -> LoopState:
    async with StreamDriver(program, first, runtime, cancel) as stream:
        while True:
            try:
                await stream.pull()
            except StopAsyncIteration:
                return stream.state


def begun(program: Program, prompt: Prompt) -> Transition:
    return begin(program, prompt, run="run", seed=0, at=VirtualClock().now())


def on(
    backend: str, way: Way, program: Program, prompt: Prompt, runtime: Runtime[None]
) -> LoopState:
    return anyio.run(way, program, begun(program, prompt), runtime, None, backend=backend)


def journal_is_exact(
    program: Program, prompt: Prompt, runtime: Runtime[None], state: LoopState
) -> None:
    """What a real run wrote down leads to the state that it reached."""
    first = begun(program, prompt)
    messages = (UserMessage(prompt),) if isinstance(prompt, str) else prompt
    identity = first.state.identity
    header = JournalHeader(
        identity.run,
        identity.seed,
        identity.started,
        messages,
        program.fingerprint,
        commands=command_ids(first),
    )
    journal = runtime.journal
    assert isinstance(journal, MemoryJournal)
    laws.run_is_replayable(program, header, journal.entries, state)


@given(st.data(), real_programs())
def test_every_driver_gives_one_run(data: st.DataObject, program: Program) -> None:
    prompt = data.draw(prompts(tools=[*program.tools], histories_percent=20))
    world = data.draw(worlds(program=program, max_turns=3, hostile=10, failing=10))
    chunk_size = data.draw(st.sampled_from([None, 1, 3]))

    runtime = runtime_of(program, world)
    plain = drive_sync(program, begun(program, prompt), runtime)
    journal_is_exact(program, prompt, runtime, plain)

    for backend in ("asyncio", "trio"):
        for way in (generated, streamed):
            runtime = runtime_of(program, world, chunk_size=chunk_size, tools=SLOW)
            state = on(backend, way, program, prompt, runtime)
            laws.same_run(state, plain)
            journal_is_exact(program, prompt, runtime, state)


async def streamed_beside(
    program: Program, first: Transition, runtime: Runtime[None], cancel: CancelHandle | None
) -> LoopState:
    return await streamed(program, first, runtime, cancel or CancelHandle())


AMPLE = st.sampled_from([Timeouts(), Timeouts(first_chunk=3600), Timeouts(chunk=3600)])
SECONDS = st.sampled_from([None, 0.5, 1.0, 2.0, 3.0, 5.0, 9.0, 3600.0])


@given(st.data(), real_programs(), SECONDS, SECONDS, st.sampled_from(["asyncio", "trio"]))
def test_limits_of_time_hold_alike_under_every_driver(
    data: st.DataObject,
    program: Program,
    total: float | None,
    step: float | None,
    backend: str,
) -> None:
    """Time passes in the pauses before retries only, so that it is the same for all."""
    world = data.draw(worlds(program=program, max_turns=3, hostile=5, failing=40))
    timeouts = evolve(data.draw(AMPLE), total=total, step=step)
    program = evolve(program, timeouts=timeouts)

    runtime = runtime_of(program, world)
    plain = drive_sync(program, begun(program, "Hello"), runtime)
    journal_is_exact(program, "Hello", runtime, plain)
    laws.end_can_be_sent(plain)

    for way in (generated, streamed, streamed_beside):
        runtime = runtime_of(program, world, chunk_size=3, tools=SLOW)
        state = on(backend, way, program, "Hello", runtime)
        laws.same_run(state, plain)
        journal_is_exact(program, "Hello", runtime, state)


@given(st.data(), real_programs(), st.sampled_from(["asyncio", "trio"]), st.integers(0, 6))
def test_a_run_that_is_cancelled_from_beside_it_keeps_what_it_has(
    data: st.DataObject, program: Program, backend: str, tick: int
) -> None:
    world = data.draw(worlds(program=program, max_turns=3, hostile=5, cut=0, failing=5))
    way = data.draw(st.sampled_from([generated, streamed]))

    async def cancelled() -> Run:
        handle = CancelHandle()
        left = [tick]

        def happens() -> None:
            left[0] -= 1
            if left[0] < 0:
                handle("enough")

        async def act(n: int) -> int:
            """Do something, and be cancelled or not."""
            happens()
            await anyio.lowlevel.checkpoint()
            return n

        tools = tuple(tool(name=name)(act) for name in program.tools)
        runtime = runtime_of(program, world, tools=tools, before=happens)
        return await way(program, begun(program, "Hello"), runtime, handle), runtime

    state, runtime = anyio.run(cancelled, backend=backend)

    laws.end_can_be_sent(state)
    journal_is_exact(program, "Hello", runtime, state)
    phase = state.phase
    if isinstance(phase, Done) and isinstance(phase.end, Cancelled):
        assert phase.end.reason == "enough"


@given(
    st.data(),
    real_programs(),
    st.sampled_from(["asyncio", "trio"]),
    st.integers(0, 3),
    st.sampled_from(["in a model call", "in a tool"]),
)
def test_a_run_that_shall_end_after_its_step_ends_alike_under_every_driver(
    data: st.DataObject, program: Program, backend: str, asked_in: int, where: str
) -> None:
    """Whatever is asked meanwhile: what is in flight comes to its end, and nothing after it."""
    world = data.draw(worlds(program=program, max_turns=3, hostile=5, cut=0, failing=15))

    def asking() -> tuple[CancelHandle, Runtime[None], list[int]]:
        handle, asked_after = CancelHandle(), list[int]()
        model_calls = [0]

        def ask(is_there: bool) -> None:
            if is_there and model_calls[0] > asked_in:
                handle("enough for now", after_step=True)
                asked_after.append(model_calls[0])

        def called() -> None:
            model_calls[0] += 1
            ask(where == "in a model call")

        async def act(n: int) -> int:
            """Take a while, so that calls stand side by side."""
            ask(where == "in a tool")
            return n

        tools = tuple(tool(name=name)(act) for name in program.tools)
        return handle, runtime_of(program, world, tools=tools, before=called), asked_after

    handle, runtime, asked_after = asking()
    plain = drive_sync(program, begun(program, "Hello"), runtime, cancel=handle)
    journal_is_exact(program, "Hello", runtime, plain)
    assert len(set(asked_after)) <= 1  # no model was called after it
    phase = plain.phase
    if isinstance(phase, Done) and isinstance(phase.end, Cancelled):
        assert phase.end.reason == "enough for now"

    for way in (generated, streamed):
        handle, runtime, _ = asking()
        state = anyio.run(way, program, begun(program, "Hello"), runtime, handle, backend=backend)
        laws.same_run(state, plain)
        journal_is_exact(program, "Hello", runtime, state)
