"""Time limits: they hold whatever is in flight, keep what was finished, and name themselves."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any, final

import anyio
import anyio.lowlevel
import pytest
from attrs import field, frozen

from stepfold.agent import Agent, Run, approve
from stepfold.loop import Done, LoopState, Program, RetryPolicy, Timeouts, begin, replay
from stepfold.loop.notes import ModelRetried, RunEnded
from stepfold.ports import streamed
from stepfold.shell import (
    CancelHandle,
    MemoryJournal,
    RunPart,
    Runtime,
    StepContext,
    drive_sync,
    tool,
)
from stepfold.testing import Scripted, ScriptedModel, VirtualClock, call, reply
from stepfold.values import (
    Blocked,
    Cancelled,
    Completed,
    Failed,
    Finish,
    FinishReason,
    JsonText,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    Ping,
    Stop,
    Stopped,
    StreamPart,
    StreamStart,
    Success,
    TextDelta,
    TextEnd,
    TextStart,
    ToolError,
    ToolResult,
)
from tests.shell._runs import DONE, settled

BUSY = ModelErrorReason("overloaded", "busy")
SLOW_RETRY = RetryPolicy(initial_delay=60.0)
NO_RETRY = RetryPolicy(max_retries=0)

in_both_ways = pytest.mark.parametrize("streams", [False, True])


@tool
async def quick() -> str:
    return "quick"


@tool
async def forever() -> str:
    await anyio.sleep_forever()
    return "never"


@final
@frozen
class Saying:
    """A model that streams these parts, each after a pause, which may be one without an end."""

    script: Sequence[tuple[float, StreamPart]]
    provider: str = "acme"
    model_id: str = "saying"
    closed: list[int] = field(factory=list[int], eq=False)

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        await anyio.sleep_forever()
        return DONE

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        try:
            with anyio.fail_after(60):  # a scope of its own, from one part to the next
                for pause, part in self.script:
                    await anyio.sleep(pause)
                    yield part
        finally:
            self.closed.append(len(self.closed))


FOREVER = float("inf")
HANGS: Sequence[tuple[float, StreamPart]] = (
    (0, StreamStart()),
    (0, TextStart("0")),
    (0, TextDelta("0", "Well, ")),
    (FOREVER, TextEnd("0")),
)


async def ran(
    agent: Agent, *, streams: bool, take: Callable[[RunPart], Awaitable[None]] | None = None
) -> Run[str]:
    """Run it, and check what holds of every run that ran out of time."""
    before = len(anyio.get_running_tasks())
    journal = MemoryJournal()
    with anyio.fail_after(10):
        if streams:
            async with agent.stream("Go.", journal=journal) as stream:
                async for part in stream:
                    if take is not None:
                        await take(part)
                await anyio.lowlevel.checkpoint()  # the reader itself is not cancelled
                run = await stream.run()
        else:
            run = await agent.generate("Go.", journal=journal)
    assert len(anyio.get_running_tasks()) == before
    assert replay(agent.program, journal.header, journal.entries) == Success(run.state)
    return run


of_both_kinds = pytest.mark.parametrize("which", ["total", "step"])


def within(which: str, seconds: float = 0.3) -> Timeouts:
    """A limit that is long enough for all that does not hang."""
    return Timeouts(total=seconds) if which == "total" else Timeouts(step=seconds)


def late(which: str, seconds: float = 0.3) -> Stopped:
    return Stopped(Stop(f"timeout-{which}", JsonText(f'{{"limit":{seconds}}}')))


# --- whatever is in flight --------------------------------------------------------------------


@in_both_ways
@of_both_kinds
async def test_while_a_model_is_asked(which: str, streams: bool) -> None:
    """The model is stopped; what it had said is kept where it was streamed."""
    model = Saying(HANGS)
    run = await ran(Agent(model=model, timeout=within(which)), streams=streams)

    assert run.end == late(which)
    assert run.text == ("Well, " if streams else "")
    assert model.closed == ([0] if streams else [])


@in_both_ways
@of_both_kinds
async def test_while_tools_run(which: str, streams: bool) -> None:
    """What was finished is kept, what was running is closed as interrupted."""
    agent = Agent(
        model=ScriptedModel([reply(call(quick), call(forever)), DONE]),
        tools=[quick, forever],
        timeout=within(which),
    )
    run = await ran(agent, streams=streams)

    assert run.end == late(which)
    done, open_call = settled(run)
    assert isinstance(done, ToolResult)
    assert isinstance(open_call, ToolError)
    assert open_call.kind == "interrupted"


@in_both_ways
@of_both_kinds
async def test_while_a_hook_is_asked(which: str, streams: bool) -> None:
    """The user's code is stopped as well."""

    async def prepare(context: StepContext[object]) -> None:
        await anyio.sleep_forever()

    agent = Agent(model=ScriptedModel([DONE]), prepare_step=prepare, timeout=within(which, 0.05))
    run = await ran(agent, streams=streams)

    assert run.end == late(which, 0.05)
    assert run.steps == ()


@in_both_ways
@of_both_kinds
async def test_while_waiting_for_a_retry(which: str, streams: bool) -> None:
    """A pause is not slept out."""
    model = ScriptedModel([BUSY, DONE])
    agent = Agent(model=model, retry=SLOW_RETRY, timeout=within(which, 0.05))
    run = await ran(agent, streams=streams)

    assert run.end == late(which, 0.05)
    assert len(model.requests) <= 1


@of_both_kinds
async def test_while_the_reader_takes_its_time(which: str) -> None:
    """The time of a run and of a step is that of the clock, whoever spends it."""

    async def take(part: RunPart) -> None:
        if isinstance(part, TextDelta):
            await anyio.sleep(0.6)

    agent = Agent(model=ScriptedModel([DONE]), timeout=within(which))
    run = await ran(agent, streams=True, take=take)

    assert run.end == late(which)
    assert run.text == "done"


# --- what is counted --------------------------------------------------------------------------


@in_both_ways
async def test_each_step_has_its_own_time(streams: bool) -> None:
    """Many short steps may take longer than one may."""
    script: list[Scripted] = [reply(call("nap"))] * 4

    @tool
    async def nap() -> None:
        await anyio.sleep(0.15)

    agent = Agent(model=ScriptedModel([*script, DONE]), tools=[nap], timeout=Timeouts(step=0.5))
    run = await ran(agent, streams=streams)

    assert run.end == Completed("done")


@in_both_ways
async def test_the_first_limit_to_be_reached_counts(streams: bool) -> None:
    """Whichever it is."""
    for timeouts, which in (
        (Timeouts(total=0.05, step=60), "total"),
        (Timeouts(total=60, step=0.05), "step"),
    ):
        run = await ran(Agent(model=Saying(HANGS), timeout=timeouts), streams=streams)
        assert run.end == late(which, 0.05)


async def test_a_number_is_the_time_of_the_whole_run() -> None:
    """In seconds."""
    agent = Agent(model=Saying(HANGS), timeout=0.05)

    assert agent.program.timeouts == Timeouts(total=0.05)
    assert (await ran(agent, streams=False)).end == late("total", 0.05)


@in_both_ways
async def test_what_passes_while_a_run_rests_does_not_count(streams: bool) -> None:
    """A person may take a month; the time counts anew from when the run is taken up."""

    @tool(needs_approval=True)
    async def pay() -> str:
        return "paid"

    clock = VirtualClock()
    agent = Agent(
        model=ScriptedModel([reply(call(pay)), DONE]),
        tools=[pay],
        timeout=Timeouts(total=5, step=5),
    )
    if streams:
        async with agent.stream("Go.", clock=clock) as stream:
            run = await stream.run()
            clock.advance(3_000_000)
            with pytest.raises(StopAsyncIteration):
                await anext(stream)
    else:
        run = await agent.generate("Go.", clock=clock)
    assert isinstance(run.end, Blocked)
    clock.advance(3_000_000)
    answered = await agent.answer(run, [approve(run.open_approvals[0])], clock=clock)

    assert answered.end == Completed("done")


@in_both_ways
async def test_whoever_cancels_goes_before_a_limit(streams: bool) -> None:
    """A run ends once."""
    handle = CancelHandle()

    @tool
    async def cancels() -> None:
        handle("enough")
        await anyio.sleep_forever()

    agent = Agent(model=ScriptedModel([reply(call(cancels))]), tools=[cancels], timeout=60)
    if streams:
        async with agent.stream("Go.", cancel=handle) as stream:
            run = await stream.run()
    else:
        run = await agent.generate("Go.", cancel=handle)

    assert run.end == Cancelled("enough")


# --- a clock that never waits, and no event loop ----------------------------------------------


def driven_here(agent: Agent, clock: VirtualClock, *models: ScriptedModel) -> LoopState:
    first = begin(agent.program, "Go.", run="run", seed=0, at=clock.now())
    runtime = agent.runtime(clock=clock)
    return drive_sync(agent.program, first, runtime)


def end_of(state: LoopState) -> object:
    assert isinstance(state.phase, Done)
    return state.phase.end


def test_a_pause_ends_with_the_time() -> None:
    """The clock is not set past the limit."""
    clock = VirtualClock()
    start = clock.now()
    agent = Agent(model=ScriptedModel([BUSY, DONE]), retry=SLOW_RETRY, timeout=5)
    state = driven_here(agent, clock)

    assert end_of(state) == Stopped(Stop("timeout-total", JsonText('{"limit":5}')))
    assert clock.slept == (start + 5_000_000_000,)
    assert state.now == start + 5_000_000_000


def test_without_a_loop_nothing_begins_after_the_limit() -> None:
    """What runs cannot be interrupted: it is kept, and is the last."""
    clock = VirtualClock()
    ran: list[str] = []

    @tool
    def slow() -> str:
        clock.advance(10.0)
        ran.append("slow")
        return "late"

    @tool
    def later() -> str:
        ran.append("later")
        return "later"

    agent = Agent(
        model=ScriptedModel([reply(call(slow), call(later))]), tools=[slow, later], timeout=5
    )
    state = driven_here(agent, clock)

    assert ran == ["slow"]
    first, second = (
        part for part in state.steps[0].content if isinstance(part, ToolResult | ToolError)
    )
    assert isinstance(first, ToolResult)
    assert isinstance(second, ToolError)
    assert second.kind == "interrupted"
    assert end_of(state) == Stopped(Stop("timeout-total", JsonText('{"limit":5}')))


def test_without_a_loop_an_answer_that_came_late_is_an_answer() -> None:
    """There is nothing left to begin, so nothing is stopped."""
    clock = VirtualClock()

    def slow(request: ModelRequest) -> ModelReply:
        clock.advance(10.0)
        return DONE

    agent = Agent(model=ScriptedModel([slow]), timeout=Timeouts(total=5, first_chunk=1))

    assert end_of(driven_here(agent, clock)) == Completed(JsonText('"done"'))


# --- a model that says nothing ----------------------------------------------------------------


def reason_of(run: Run[str]) -> ModelErrorReason:
    end = run.end
    assert isinstance(end, Failed)
    assert isinstance(end.error, ModelErrorReason)
    return end.error


async def tried(agent: Agent, *, streams: bool) -> tuple[Run[str], list[RunPart]]:
    parts: list[RunPart] = []
    with anyio.fail_after(10):
        if not streams:
            outcome = await agent.try_generate("Go.")
            match outcome:
                case Success(run):
                    return run, parts
                case failed:
                    return _whole(failed.failure().run), parts
        async with agent.stream("Go.") as stream:
            parts = [part async for part in stream]
            return await stream.run(), parts


def _whole(run: Run[Any]) -> Run[str]:
    return run


@in_both_ways
async def test_a_model_that_never_begins_fails(streams: bool) -> None:
    """Neither the start of the reply nor a ping is output."""
    model = Saying([(0, StreamStart()), (0, Ping()), (FOREVER, Ping())])
    agent = Agent(model=model, retry=NO_RETRY, timeout=Timeouts(first_chunk=0.05, chunk=60))
    run, _ = await tried(agent, streams=streams)

    assert reason_of(run) == ModelErrorReason(
        "timeout",
        "the model said nothing for 0.05 seconds after the request",
        code="first-chunk-timeout",
    )
    assert reason_of(run).is_retryable
    assert model.closed == [0]


@in_both_ways
async def test_a_model_that_does_not_even_answer_fails(streams: bool) -> None:
    """The time counts from the request."""

    async def hang(request: ModelRequest) -> ModelReply:
        await anyio.sleep_forever()
        return DONE

    agent = Agent(model=ScriptedModel([hang]), retry=NO_RETRY, timeout=Timeouts(first_chunk=0.05))
    run, _ = await tried(agent, streams=streams)

    assert reason_of(run).code == "first-chunk-timeout"


@in_both_ways
async def test_a_model_that_falls_silent_fails(streams: bool) -> None:
    """Pings do not count as output; what had come is kept."""
    pings: Sequence[tuple[float, StreamPart]] = [(0.02, Ping())] * 100
    model = Saying([*HANGS[:3], *pings])
    agent = Agent(model=model, retry=NO_RETRY, timeout=Timeouts(chunk=0.1))
    run, _ = await tried(agent, streams=streams)

    assert reason_of(run) == ModelErrorReason(
        "timeout",
        "the model said nothing for 0.1 seconds after what it said last",
        code="chunk-timeout",
    )
    assert run.text == "Well, "
    assert model.closed == [0]


@in_both_ways
async def test_silence_is_retried_as_any_failure(streams: bool) -> None:
    """The policy decides, and a stream shows that what was said does not count."""
    model = Saying(HANGS)
    agent = Agent(
        model=model,
        retry=RetryPolicy(max_retries=1, initial_delay=0.0),
        timeout=Timeouts(first_chunk=60, chunk=0.05),
    )
    run, parts = await tried(agent, streams=streams)

    assert model.closed == [0, 1]
    assert reason_of(run).code == "chunk-timeout"
    if streams:
        [retried] = [part for part in parts if isinstance(part, ModelRetried)]
        assert retried.reason == reason_of(run)
        assert isinstance(parts[-1], RunEnded)


@in_both_ways
async def test_a_model_that_keeps_talking_is_in_time(streams: bool) -> None:
    """The whole reply may take longer than a pause; so may its reader."""
    words: Sequence[tuple[float, StreamPart]] = [(0.1, TextDelta("0", "word "))] * 8
    model = Saying(
        [
            *HANGS[:2],
            *words,
            (0, TextEnd("0")),
            (0, Finish(FinishReason("stop"))),
        ]
    )
    agent = Agent(model=model, retry=NO_RETRY, timeout=Timeouts(first_chunk=0.5, chunk=0.5))

    async def take(part: RunPart) -> None:
        if isinstance(part, TextEnd):
            await anyio.sleep(0.7)

    run = await ran(agent, streams=streams, take=take)

    assert run.text == "word " * 8


async def test_a_reply_that_is_whole_is_not_lost_to_a_slow_farewell() -> None:
    """Only what the model says is waited for with the clock in hand."""

    @final
    class Lingering:
        provider = "acme"
        model_id = "lingering"

        async def generate(self, request: ModelRequest, /) -> ModelReply:
            raise NotImplementedError

        def stream(self, request: ModelRequest, /) -> "Lingering":
            return self

        async def __aenter__(self) -> "Any":
            async def parts() -> AsyncGenerator[StreamPart]:
                yield TextStart("0")
                yield TextDelta("0", "done")
                yield TextEnd("0")
                yield Finish(FinishReason("stop"))

            return parts()

        async def __aexit__(self, *_: object) -> None:
            await anyio.sleep(0.1)

    agent = Agent(model=Lingering(), timeout=Timeouts(chunk=0.05))

    assert (await ran(agent, streams=False)).text == "done"


# --- tools ------------------------------------------------------------------------------------


@in_both_ways
async def test_all_tools_have_the_time_of_the_run(streams: bool) -> None:
    """The model sees the error, and the run goes on."""
    agent = Agent(
        model=ScriptedModel([reply(call(quick), call(forever)), DONE]),
        tools=[quick, forever],
        timeout=Timeouts(tool=0.3),
    )
    run = await ran(agent, streams=streams)

    done, failed = settled(run)
    assert isinstance(done, ToolResult)
    assert isinstance(failed, ToolError)
    assert (failed.kind, failed.error) == (
        "timeout",
        "the tool did not end within 0.3 seconds",
    )
    assert run.end == Completed("done")


def deadline_of(timeouts: Timeouts, *, own: float | None) -> int | None:
    """How long a tool is given, in nanoseconds."""

    @tool(timeout=own)
    async def look() -> str:
        return "seen"

    program = Agent(model=ScriptedModel([]), tools=[look], timeout=timeouts).program
    return program.timeout_of(program.tools["look"])


def test_the_time_of_a_tool_is_what_is_said_of_it_alone() -> None:
    """`tools` before its own, its own before `tool`."""
    assert deadline_of(Timeouts(), own=None) is None
    assert deadline_of(Timeouts(total=9), own=None) is None
    assert deadline_of(Timeouts(tool=2), own=None) == 2_000_000_000
    assert deadline_of(Timeouts(tool=2), own=1) == 1_000_000_000
    assert deadline_of(Timeouts(tool=2, tools={"look": 3}), own=1) == 3_000_000_000
    assert deadline_of(Timeouts(tools={"look": 0.5}), own=None) == 500_000_000


def test_a_runtime_is_all_that_is_needed() -> None:
    """A program that is driven by hand keeps its limits."""
    model = ScriptedModel([BUSY, DONE])
    clock = VirtualClock()
    program = Program(models=("scripted/model",), retry=SLOW_RETRY, timeouts=Timeouts(step=1))
    first = begin(program, "Go.", run="run", seed=0, at=clock.now())
    state = drive_sync(program, first, Runtime(models=[model], deps=None, clock=clock))

    assert end_of(state) == Stopped(Stop("timeout-step", JsonText('{"limit":1}')))
