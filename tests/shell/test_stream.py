"""Streams: the reader pulls, the loop decides, and leaving is always clean."""

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import final

import anyio
import anyio.lowlevel
import pytest
from attrs import field, frozen

from stepfold.agent import Agent, Run, RunStream
from stepfold.loop import RetryPolicy, parts_of
from stepfold.loop.notes import (
    ApprovalRequested,
    CallRejected,
    CallRequested,
    ModelRetried,
    RunBlocked,
    RunEnded,
    StepFinished,
    StepStarted,
)
from stepfold.ports import ModelStream, streamed
from stepfold.shell import MemoryJournal, RunPart, ToolProgressed, tool
from stepfold.shell._gaps import gaps_of
from stepfold.testing import ScriptedModel, VirtualClock, call, reply
from stepfold.values import (
    Blocked,
    Cancelled,
    ChunkGaps,
    Completed,
    Failed,
    Finish,
    FinishReason,
    JsonOutput,
    JsonText,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    StreamError,
    StreamPart,
    StreamStart,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    ToolResult,
    UsageError,
)
from tests.shell._runs import DONE, agent_of, names, settled

NO_RETRY = RetryPolicy(max_retries=0)
OVERLOADED = ModelErrorReason("overloaded", "busy")


@tool
async def double(number: int) -> int:
    await anyio.lowlevel.checkpoint()
    return number * 2


@tool
async def forever() -> str:
    await anyio.sleep_forever()
    return "never"


@tool
async def count(to: int) -> AsyncIterator[int]:
    for number in range(to):
        await anyio.lowlevel.checkpoint()
        yield number


@final
@frozen
class Watched:
    """A model whose generator tells how far it is, and that it was closed."""

    script: Sequence[Sequence[StreamPart]]
    provider: str = "acme"
    model_id: str = "watched"
    sent: list[StreamPart] = field(factory=list[StreamPart], eq=False)
    closed: list[int] = field(factory=list[int], eq=False)

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        raise NotImplementedError

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        place = len(self.closed)
        try:
            for part in self.script[place]:
                await anyio.lowlevel.checkpoint()
                self.sent.append(part)
                yield part
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.lowlevel.checkpoint()
            self.closed.append(place)


async def read(agent: Agent) -> tuple[list[RunPart], Run[str]]:
    async with agent.stream("Go.", clock=VirtualClock(), run_id="r") as stream:
        parts = [part async for part in stream]
        return parts, await stream.run()


# --- what comes, and in which order -----------------------------------------------------------


async def test_parts_come_in_order() -> None:
    """The model's parts, then what was decided of them; the tools; the next step; the end."""
    script = [reply("Let me see.", call("double", {"number": 2})), DONE]
    parts, run = await read(agent_of(double, script=script))

    assert names(parts) == [
        "StepStarted",
        "StreamStart",
        "TextStart",
        "TextDelta",
        "TextEnd",
        "Finish",
        "CallRequested",
        "ToolFinished",
        "StepFinished",
        "StepStarted",
        "StreamStart",
        "TextStart",
        "TextDelta",
        "TextEnd",
        "Finish",
        "StepFinished",
        "RunEnded",
    ]
    assert run.end == Completed("done")
    assert parts[-1] == RunEnded(Completed(JsonText('"done"')))
    assert isinstance(parts[0], StepStarted)
    assert isinstance(parts[-2], StepFinished)
    assert parts[-2].result == run.steps[-1]


async def test_a_client_call_is_shown_as_the_history_holds_it() -> None:
    """Not as the model's own part, but once it is accepted, or rejected."""
    script = [reply(call("double", {"number": 1}), call("double", "{"), call("no-such")), DONE]
    parts, run = await read(agent_of(double, script=script))

    assert not [part for part in parts if isinstance(part, ToolCall)]
    shown = [part.call for part in parts if isinstance(part, CallRequested)]
    assert tuple(shown) == run.steps[0].tool_calls
    assert len([part for part in parts if isinstance(part, CallRejected)]) == 2


async def test_calls_of_the_provider_are_shown_as_they_are() -> None:
    """They are answered in the reply itself; nothing is run here."""
    search = ToolCall("s", "web_search", "{}", provider_executed=True)
    found = ToolResult("s", "web_search", JsonOutput(JsonText("[]")), provider_executed=True)
    parts, run = await read(Agent(model=ScriptedModel([reply(search, found, "Nothing.")])))

    assert search in parts
    assert found in parts
    assert not [part for part in parts if isinstance(part, CallRequested)]
    assert run.text == "Nothing."


async def test_ids_in_the_stream_are_those_of_the_history() -> None:
    """Blank ones and those that were used before are renamed as they come."""
    chunk: list[StreamPart] = [
        ToolInputStart("", "double"),
        ToolInputDelta("", '{"number":'),
        ToolInputDelta("", "1}"),
        ToolInputEnd(""),
        ToolCall("", "double", '{"number":1}'),
        ToolInputStart("same", "double"),
        ToolInputEnd("same"),
        ToolCall("same", "double", '{"number":2}'),
        ToolCall("same", "double", '{"number":3}'),
    ]
    finish = Finish(FinishReason("tool-calls"))
    model = ScriptedModel([[StreamStart(), *chunk, finish], [StreamStart(), *chunk, finish], DONE])
    parts, run = await read(Agent(model=model, tools=[double]))

    started = [part.id for part in parts if isinstance(part, ToolInputStart)]
    ended = [part.id for part in parts if isinstance(part, ToolInputEnd)]
    calls = [one.tool_call_id for step in run.steps for one in step.tool_calls]
    assert calls == ["r/0/0", "same", "r/0/2", "r/1/0", "r/1/1", "r/1/2"]
    assert started == ended == ["r/0/0", "same", "r/1/0", "r/1/1"]
    assert run.results_of(double) == (2, 4, 6, 2, 4, 6)


async def test_tools_side_by_side_are_shown_as_they_end() -> None:
    """Progress and results come in the order in which they happen."""
    script = [reply(call("count", {"to": 3}), call("double", {"number": 1})), DONE]
    parts, run = await read(agent_of(count, double, script=script))

    progress = [part.value.text for part in parts if isinstance(part, ToolProgressed)]
    assert progress == ["0", "1", "2"]
    assert run.results_of(count) == (2,)
    kinds = names(parts)
    assert kinds.index("ToolProgressed") < kinds.index("ToolFinished")


async def test_a_blocked_run_ends_its_stream() -> None:
    """There is nothing more to come until somebody has answered."""

    @tool(needs_approval=True)
    async def pay() -> str:
        return "paid"

    parts, run = await read(agent_of(pay))

    assert isinstance(run.end, Blocked)
    assert isinstance(parts[-1], RunBlocked)
    assert len([part for part in parts if isinstance(part, ApprovalRequested)]) == 1


async def test_gaps_between_chunks_are_measured() -> None:
    """A streamed step knows how long its first output took, and the pauses after it."""
    clock = VirtualClock()

    def tick(part: StreamPart) -> StreamPart:
        clock.advance(1.0)
        return part

    @final
    class Slow:
        provider = "acme"
        model_id = "slow"

        async def generate(self, request: ModelRequest, /) -> ModelReply:
            raise NotImplementedError

        @streamed
        async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
            yield tick(StreamStart())
            yield tick(TextStart("0"))
            for _ in range(4):
                yield tick(TextDelta("0", "x"))
            yield tick(TextEnd("0"))
            yield tick(Finish(FinishReason("stop")))

    async with Agent(model=Slow()).stream("Go.", clock=clock) as stream:
        run = await stream.run()

    second = 1_000_000_000
    performance = run.steps[0].performance
    assert performance.time_to_first_output == 3 * second
    assert performance.chunk_gaps == ChunkGaps(3, second, second, second, second, second, second)


def test_percentiles_are_by_nearest_rank() -> None:
    """Fewer than two instants have no gap between them."""
    assert gaps_of([]) is None
    assert gaps_of([5]) is None
    assert gaps_of([0, 1, 3, 6, 10]) == ChunkGaps(4, 1, 1, 2, 2, 4, 4)


# --- back-pressure ----------------------------------------------------------------------------


async def test_the_model_never_runs_ahead_of_its_reader() -> None:
    """Each part is made when it is asked for."""
    model = Watched([parts_of(reply("a", "b", "c"))])
    read_parts = 0
    async with Agent(model=model).stream("Go.") as stream:
        async for part in stream:
            if isinstance(part, StepStarted):
                continue
            if not isinstance(part, StepFinished | RunEnded):
                read_parts += 1
            assert len(model.sent) == read_parts
            for _ in range(3):
                await anyio.lowlevel.checkpoint()
            assert len(model.sent) == read_parts

    assert model.closed == [0]


# --- leaving ----------------------------------------------------------------------------------


LEAVING = 24


async def _leave_by_break(stream: RunStream[str], after: int) -> list[RunPart]:
    seen: list[RunPart] = []
    async for part in stream:
        seen.append(part)
        if len(seen) > after:
            break
    return seen


@pytest.mark.parametrize("after", range(LEAVING))
async def test_a_stream_can_be_left_at_every_part(after: int) -> None:
    """The model's generator is closed, tools are stopped, what was finished is kept."""
    before = len(anyio.get_running_tasks())
    first = reply("Hm.", call("double", {"number": 1}), call("count", {"to": 2}))
    model = Watched([parts_of(first), parts_of(DONE)])
    journal = MemoryJournal()
    agent = Agent(model=model, tools=[double, count, forever])
    async with agent.stream("Go.", journal=journal) as stream:
        seen = await _leave_by_break(stream, after)
    run = await stream.run()

    assert len(anyio.get_running_tasks()) == before
    if names(seen).count("StepFinished") == 2:  # the end is decided together with the last step
        assert run.end == Completed("done")
    else:
        assert run.end == Cancelled("the stream was left")
    asked = 1 + (len(model.sent) > len(parts_of(first)) or len(run.steps) > 1)
    assert len(model.closed) in {asked - 1, asked}
    assert len(journal.entries) > 0


@pytest.mark.parametrize("which", ["one", "two"])
async def test_a_stream_can_be_left_while_tools_run(which: str) -> None:
    """They are cancelled, and closed as interrupted."""
    before = len(anyio.get_running_tasks())
    calls = [call("forever")] if which == "one" else [call("forever"), call("forever")]
    async with agent_of(forever, script=[reply(*calls)]).stream("Go.") as stream:
        async for part in stream:
            if isinstance(part, CallRequested):
                await anyio.lowlevel.checkpoint()
                break
    run = await stream.run()

    assert len(anyio.get_running_tasks()) == before
    assert run.end == Cancelled("the stream was left")
    assert {getattr(part, "kind", None) for part in settled(run)} == {"interrupted"}


@pytest.mark.parametrize("after", range(10))
async def test_an_error_in_the_body_comes_out_as_it_is(after: int) -> None:
    """In no group, at whatever part; the run is cancelled."""
    error = KeyError("mine")
    agent = agent_of(double, forever, script=[reply(call("forever"), call("forever"))])

    async def body() -> None:
        seen = 0
        async with agent.stream("Go.") as stream:
            streams.append(stream)
            with anyio.move_on_after(0.05):
                async for _ in stream:
                    seen += 1
                    if seen > after:
                        raise error
            raise error

    streams: list[RunStream[str]] = []
    with pytest.raises(KeyError) as caught:
        await body()

    assert caught.value is error
    assert (await streams[0].run()).end == Cancelled("the stream was left")


async def test_a_stream_that_was_only_entered_is_left() -> None:
    """Nothing was asked of the model."""
    model = ScriptedModel([DONE])
    async with Agent(model=model).stream("Go.") as stream:
        pass

    assert (await stream.run()).end == Cancelled("the stream was left")
    assert model.requests == ()


# --- the reader's own scopes ------------------------------------------------------------------


async def _patiently(stream: RunStream[str], seconds: float) -> list[RunPart]:
    """Read to the end, giving up each wait after a while and beginning anew."""
    parts: list[RunPart] = []
    for _ in range(1000):
        with anyio.move_on_after(seconds):
            try:
                parts.append(await anext(stream))
            except StopAsyncIteration:
                return parts
    raise AssertionError(parts)


async def test_giving_up_a_wait_for_tools_loses_nothing() -> None:
    """The next pull takes up where the last one was given up."""

    @tool
    async def slow(number: int) -> int:
        await anyio.sleep(0.03)
        return number

    for calls in (1, 3):
        script = [reply(*(call("slow", {"number": n}) for n in range(calls))), DONE]
        async with agent_of(slow, script=script).stream("Go.") as stream:
            await _patiently(stream, 0.005)
            run = await stream.run()

        assert run.results_of(slow) == tuple(range(calls))
        assert run.end == Completed("done")


async def test_giving_up_a_wait_for_a_retry_loses_nothing() -> None:
    """The pause goes on where it was."""
    agent = Agent(
        model=ScriptedModel([OVERLOADED, DONE]),
        retry=RetryPolicy(initial_delay=0.04, jitter=0.0),
    )
    async with agent.stream("Go.") as stream:
        parts = await _patiently(stream, 0.005)
        run = await stream.run()

    assert run.end == Completed("done")
    assert len([part for part in parts if isinstance(part, ModelRetried)]) == 1


@final
@frozen
class Slow:
    """A model that takes its time, before the stream opens or within it."""

    opening: float = 0.0
    parts: float = 0.0
    provider: str = "acme"
    model_id: str = "slow"
    opened: list[int] = field(factory=list[int], eq=False)

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        raise NotImplementedError

    def stream(self, request: ModelRequest, /) -> ModelStream:
        return self._stream()

    @asynccontextmanager
    async def _stream(self) -> AsyncGenerator[AsyncIterator[StreamPart]]:
        self.opened.append(len(self.opened))
        if len(self.opened) < 3:
            await anyio.sleep(self.opening)

        async def parts() -> AsyncGenerator[StreamPart]:
            for part in parts_of(DONE):
                if len(self.opened) < 3:
                    await anyio.sleep(self.parts)
                yield part

        generator = parts()
        try:
            yield generator
        finally:
            await generator.aclose()


@pytest.mark.parametrize("model", [Slow(opening=0.05), Slow(parts=0.05)])
async def test_giving_up_a_wait_for_the_model_costs_an_attempt(model: Slow) -> None:
    """A generator that was interrupted is over; the run asks again, and never hangs or tears."""
    model.opened.clear()
    agent = Agent(model=model, retry=RetryPolicy(initial_delay=0.0))
    async with agent.stream("Go.") as stream:
        await _patiently(stream, 0.01)
        run = await stream.run()

    assert run.end == Completed("done")
    assert len(model.opened) == 3


async def test_giving_up_between_parts_does_not_end_the_stream() -> None:
    """A scope of the reader's around its own work is its own affair."""
    async with agent_of(double, script=[reply(call("double", {"number": 1})), DONE]).stream(
        "Go."
    ) as stream:
        async for _ in stream:
            with anyio.move_on_after(0):
                await anyio.sleep_forever()
        run = await stream.run()

    assert run.end == Completed("done")


# --- using it wrongly -------------------------------------------------------------------------


async def test_a_stream_is_used_inside_its_block() -> None:
    """Before, after and twice are mistakes that say so; the run can still be had afterwards."""
    stream = Agent(model=ScriptedModel([DONE])).stream("Go.")
    with pytest.raises(UsageError, match="inside its `async with`, got one that was not entered"):
        await anext(stream)
    with pytest.raises(UsageError, match="was not entered"):
        await stream.run()
    async with stream:
        first = [part async for part in stream]
        again = [part async for part in stream]
    with pytest.raises(UsageError, match="inside its `async with`, got one that was left"):
        await anext(stream)
    with pytest.raises(UsageError, match="got one that was used: make another"):
        await stream.__aenter__()
    await stream.__aexit__(None, None, None)

    assert len(first) > 0
    assert again == []
    assert (await stream.run()).end == Completed("done")


async def test_text_gives_only_the_text() -> None:
    """Of all steps, as it comes."""
    script = [reply("One ", call("double", {"number": 1})), reply("two")]
    async with agent_of(double, script=script).stream("Go.") as stream:
        text = [piece async for piece in stream.text()]
        run = await stream.run()

    assert text == ["One ", "two"]
    assert run.text == "two"


# --- streams that fail ------------------------------------------------------------------------


async def test_a_stream_that_fails_before_its_first_part_is_tried_again() -> None:
    """The reader sees that, and goes on reading."""
    parts, run = await read(Agent(model=ScriptedModel([OVERLOADED, DONE])))

    assert names(parts)[:3] == ["StepStarted", "ModelRetried", "StreamStart"]
    assert run.end == Completed("done")


@pytest.mark.parametrize("fault", [StreamError(OVERLOADED), TextDelta("other", "x"), None])
async def test_a_stream_that_fails_midway_is_tried_again(fault: StreamPart | None) -> None:
    """Also one with parts in an impossible order, or one that is cut."""
    torn: list[StreamPart] = [StreamStart(), TextStart("0"), TextDelta("0", "Hel")]
    parts, run = await read(
        Agent(model=ScriptedModel([torn if fault is None else [*torn, fault], DONE]))
    )

    assert names(parts)[:5] == [
        "StepStarted",
        "StreamStart",
        "TextStart",
        "TextDelta",
        "ModelRetried",
    ]
    assert run.text == "done"
    assert len(run.steps) == 1


async def test_what_had_come_is_kept_when_no_attempt_is_left() -> None:
    """The run fails, and the history holds the partial reply."""
    torn: list[StreamPart] = [StreamStart(), TextStart("0"), TextDelta("0", "Hel")]
    torn.append(StreamError(OVERLOADED))
    parts, run = await read(Agent(model=ScriptedModel([torn]), retry=NO_RETRY))

    assert run.end == Failed(OVERLOADED)
    assert run.text == "Hel"
    assert parts[-1] == RunEnded(Failed(OVERLOADED))


def _opening(error: Exception) -> Callable[[], ModelStream]:
    @asynccontextmanager
    async def stream() -> AsyncGenerator[AsyncIterator[StreamPart]]:
        if str(error):
            raise error
        async with ScriptedModel([]).stream(ModelRequest(messages=())) as parts:
            yield parts

    return stream


def _reading(error: Exception) -> Callable[[], ModelStream]:
    @streamed
    async def stream() -> AsyncGenerator[StreamPart]:
        yield StreamStart()
        raise error

    return stream


def _closing(error: Exception) -> Callable[[], ModelStream]:
    @asynccontextmanager
    async def stream() -> AsyncGenerator[AsyncIterator[StreamPart]]:
        async def parts() -> AsyncGenerator[StreamPart]:
            for part in parts_of(DONE):
                yield part

        yield parts()
        raise error

    return stream


@pytest.mark.parametrize("make", [_opening, _reading, _closing])
async def test_a_foreign_exception_is_the_models_failure(
    make: Callable[[Exception], Callable[[], ModelStream]],
) -> None:
    """Wherever its code raises; the reader is not thrown out of its block."""

    @final
    class Broken:
        provider = "acme"
        model_id = "broken"

        async def generate(self, request: ModelRequest, /) -> ModelReply:
            raise NotImplementedError

        def stream(self, request: ModelRequest, /) -> ModelStream:
            return make(KeyError("choices"))()

    _, run = await read(Agent(model=Broken()))

    assert isinstance(run.end, Failed)
    assert isinstance(run.end.error, ModelErrorReason)
    assert run.end.error.message == "the model raised KeyError"


async def test_the_first_fault_counts() -> None:
    """A model that raises again while it is closed does not hide why."""

    @asynccontextmanager
    async def stream() -> AsyncGenerator[AsyncIterator[StreamPart]]:
        async def parts() -> AsyncGenerator[StreamPart]:
            yield StreamStart()
            raise ModelError(ModelErrorReason("quota", "no money left"))

        yield parts()
        raise OSError

    @final
    class Broken:
        provider = "acme"
        model_id = "broken"

        async def generate(self, request: ModelRequest, /) -> ModelReply:
            raise NotImplementedError

        def stream(self, request: ModelRequest, /) -> ModelStream:
            return stream()

    _, run = await read(Agent(model=Broken()))

    assert run.end == Failed(ModelErrorReason("quota", "no money left"))


async def test_a_model_may_hold_a_scope_while_it_streams() -> None:
    """As long as the reader holds none over single parts; leaving early unwinds them in order."""

    @final
    class Scoped:
        provider = "acme"
        model_id = "scoped"

        async def generate(self, request: ModelRequest, /) -> ModelReply:
            raise NotImplementedError

        @streamed
        async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
            with anyio.fail_after(60):
                for part in parts_of(DONE):
                    await anyio.lowlevel.checkpoint()
                    yield part

    for after in range(9):
        async with Agent(model=Scoped()).stream("Go.") as stream:
            await _leave_by_break(stream, after)
        assert isinstance((await stream.run()).end, Completed | Cancelled)
