"""Observers: told of everything once, in order, before the loop goes on; they change nothing."""

import logging
from collections.abc import Awaitable, Callable, Generator, Sequence

import anyio
import anyio.lowlevel
import pytest
from typing_extensions import override

from stepfold.agent import Agent, approve, deny, generate_text
from stepfold.loop import Limits, RetryPolicy, Transition, begin
from stepfold.loop.commands import CallKey, ModelCallKey
from stepfold.loop.events import Cancelled as EventCancelled
from stepfold.loop.events import ModelReplied, ToolReturned, ToolSucceeded
from stepfold.loop.notes import CallRequested, RunEnded, StepFinished
from stepfold.shell import (
    EventHappened,
    MemoryJournal,
    ModelCallEnded,
    ModelCallStarted,
    Observation,
    Observer,
    RunTakenUp,
    StreamDriver,
    ToolContext,
    ToolExecutionEnded,
    ToolExecutionStarted,
    drive_sync,
    on,
    tool,
)
from stepfold.testing import Scripted, ScriptedModel, VirtualClock, call, laws, reply
from stepfold.values import Cancelled, Completed, ModelErrorReason, TextOutput, UsageError

DONE = reply("done")
BUSY = ModelErrorReason("overloaded", "busy")


@tool
async def double(number: int) -> int:
    await anyio.lowlevel.checkpoint()
    return number * 2


@tool(needs_approval=True)
async def send(context: ToolContext[str], text: str) -> str:
    return f"{context.deps}: {text}"


@tool(needs_approval=True)
def ask() -> None:
    """Do nothing."""


class Suspended(Awaitable[None]):
    """Waits for somebody, whoever runs it."""

    @override
    def __await__(self) -> Generator[object, object, None]:
        yield self


def one_call() -> list[Scripted]:
    return [reply(call(double, {"number": 4})), DONE]


def told(observations: Sequence[Observation]) -> list[str]:
    """What each is, and of which event."""
    return [
        f"{type(one).__name__} {type(one.event).__name__}"
        if isinstance(one, EventHappened)
        else type(one).__name__
        for one in observations
    ]


# --- what is told -----------------------------------------------------------------------------


async def test_a_run_is_told_in_order() -> None:
    seen: list[Observation] = []
    agent = Agent(model=ScriptedModel(one_call()), tools=[double])

    run = await agent.generate("Go.", observers=[seen.append])

    assert told(seen) == [
        "RunTakenUp",
        "ModelCallStarted",
        "ModelCallEnded",
        "EventHappened ModelReplied",
        "ToolExecutionStarted",
        "ToolExecutionEnded",
        "EventHappened ToolReturned",
        "ModelCallStarted",
        "ModelCallEnded",
        "EventHappened ModelReplied",
    ]
    assert {one.run for one in seen} == {run.id}
    laws.observations_are_the_run(seen, run.state)


async def test_a_model_call_is_told_with_its_request_and_each_attempt() -> None:
    started: list[ModelCallStarted] = []
    ended: list[ModelCallEnded] = []
    agent = Agent(
        model=ScriptedModel([BUSY, DONE]),
        instructions="Be brief.",
        retry=RetryPolicy(initial_delay=1.0),
        observers=[on(ModelCallStarted, started.append), on(ModelCallEnded, ended.append)],
    )

    async with agent.stream("Go.", clock=VirtualClock()) as stream:
        await stream.run()

    assert [one.key for one in started] == [ModelCallKey(0, 0), ModelCallKey(0, 1)]
    assert [type(one.event).__name__ for one in ended] == ["ModelFailed", "ModelReplied"]
    assert [one.request for one in ended] == [one.request for one in started]
    assert {one.request.instructions for one in started} == {"Be brief."}
    assert {one.model for one in started} == {"scripted/model"}


async def test_a_tool_is_told_with_its_call_and_context() -> None:
    seen: list[ToolExecutionStarted | ToolExecutionEnded] = []
    model = ScriptedModel([reply(call(double, {"number": 4}), call(send, {"text": "hi"})), DONE])
    agent = Agent(
        model=model,
        deps_type=str,
        tools=[double, send],
        observers=[on(ToolExecutionStarted, seen.append), on(ToolExecutionEnded, seen.append)],
    )

    run = await agent.generate("Go.", deps="ada")
    await agent.answer(run, [approve(run.open_approvals[0])], deps="ada")

    assert [(type(one), one.call.tool_name) for one in seen] == [
        (ToolExecutionStarted, "double"),
        (ToolExecutionEnded, "double"),
        (ToolExecutionStarted, "send"),
        (ToolExecutionEnded, "send"),
    ]
    first, last = seen[0], seen[3]
    assert first.key == CallKey(0, 0, 0)
    assert first.context.deps == "ada"  # though this tool does not ask for it
    assert isinstance(last, ToolExecutionEnded)
    assert last.context.call_id == last.call.tool_call_id
    assert last.event.outcome == ToolSucceeded(TextOutput("ada: hi"))


async def test_a_run_that_is_taken_up_again_is_told_from_there() -> None:
    seen: list[Observation] = []
    model = ScriptedModel([reply(call(send, {"text": "hi"})), DONE])
    agent = Agent(model=model, deps_type=str, tools=[send])
    blocked = await agent.generate("Go.", deps="ada")

    run = await agent.answer(
        blocked, [approve(blocked.open_approvals[0])], deps="ada", observers=[seen.append]
    )

    first = seen[0]
    assert isinstance(first, RunTakenUp)
    assert first.transition.state == blocked.state
    laws.observations_are_the_run(seen, run.state)


def test_a_run_that_is_over_when_it_begins_is_told() -> None:
    seen: list[Observation] = []
    ends: list[RunEnded] = []
    agent = Agent(
        model=ScriptedModel([]),
        limits=Limits(steps=0),
        observers=[seen.append, on(RunEnded, lambda note, _: ends.append(note))],
    )
    first = begin(agent.program, "Go.", run="r", seed=0, at=0)

    state = drive_sync(agent.program, first, agent.runtime())

    assert told(seen) == ["RunTakenUp"]
    assert len(ends) == 1
    laws.observations_are_the_run(seen, state)


async def test_what_is_stale_is_not_told() -> None:
    seen: list[Observation] = []
    blocked = await Agent(model=ScriptedModel([reply(call(ask, {}))]), tools=[ask]).generate("Go.")
    request = blocked.open_approvals[0]
    agent = Agent(model=ScriptedModel([DONE]), tools=[ask], observers=[seen.append])

    await agent.answer(blocked, [approve(request), deny(request)])

    assert told(seen).count("EventHappened ApprovalAnswered") == 1


# --- who is told, and when --------------------------------------------------------------------


async def test_observers_of_the_agent_are_told_before_those_of_the_run() -> None:
    order: list[str] = []

    def named(name: str) -> Observer:
        return on(StepFinished, lambda note, transition: order.append(name))

    agent = Agent(model=ScriptedModel([DONE]), observers=[named("agent"), named("agent 2")])
    await agent.generate("Go.", observers=[named("run")])

    assert order == ["agent", "agent 2", "run"]


async def test_a_single_call_tells_each_observer_once() -> None:
    ends: list[str] = []

    def ended(note: RunEnded, transition: Transition) -> None:
        ends.append(transition.state.identity.run)

    await generate_text("Go.", model=ScriptedModel([DONE]), observers=[on(RunEnded, ended)])

    assert len(ends) == 1


async def test_observers_are_awaited_before_the_loop_goes_on() -> None:
    model = ScriptedModel(one_call())
    asked: list[tuple[int, int]] = []

    async def count(note: StepFinished, transition: Transition) -> None:
        before = len(model.requests)
        for _ in range(3):
            await anyio.lowlevel.checkpoint()
        asked.append((before, len(model.requests)))

    await Agent(model=model, tools=[double]).generate("Go.", observers=[on(StepFinished, count)])

    assert asked == [(1, 1), (2, 2)]


async def test_tools_side_by_side_are_told_one_after_another() -> None:
    telling = 0
    seen: list[Observation] = []

    async def slow(one: Observation) -> None:
        nonlocal telling
        telling += 1
        await anyio.lowlevel.checkpoint()
        assert telling == 1
        telling -= 1
        seen.append(one)

    calls = [call(double, {"number": number}) for number in range(5)]
    agent = Agent(model=ScriptedModel([reply(*calls), DONE]), tools=[double], observers=[slow])
    run = await agent.generate("Go.")

    assert isinstance(run.end, Completed)
    laws.observations_are_the_run(seen, run.state)


def test_without_observers_nothing_watches() -> None:
    agent = Agent(model=ScriptedModel([DONE]))
    first = begin(agent.program, "Go.", run="r", seed=0, at=0)

    assert StreamDriver(agent.program, first, agent.runtime()).watch is None


# --- an observer that fails -------------------------------------------------------------------


async def test_what_an_observer_raises_is_logged_and_changes_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    seen: list[Observation] = []

    def breaks(one: Observation) -> None:
        raise KeyError("oops")

    async def breaks_later(one: Observation) -> None:
        await anyio.lowlevel.checkpoint()
        raise ValueError("too late")

    agent = Agent(model=ScriptedModel([DONE]), observers=[breaks, breaks_later, seen.append])
    with caplog.at_level(logging.ERROR, "stepfold"):
        run = await agent.generate("Go.", run_id="r")

    assert isinstance(run.end, Completed)
    assert len(caplog.records) == 2 * len(seen)
    record = caplog.records[0]
    assert record.getMessage() == "the observer breaks failed, told of RunTakenUp in the run r"
    assert record.exc_info is not None
    assert record.exc_info[0] is KeyError


async def test_a_cancellation_that_an_observer_makes_up_ends_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    made_up: list[type[BaseException]] = []

    async def gives_up(one: Observation) -> None:
        cancelled = anyio.get_cancelled_exc_class()
        if cancelled.__module__.startswith("asyncio"):
            made_up.append(cancelled)
            raise cancelled

    run = await Agent(model=ScriptedModel([DONE]), observers=[gives_up]).generate("Go.")

    assert isinstance(run.end, Completed)
    assert len(caplog.records) == len(made_up)


async def test_each_note_is_told_though_another_failed(caplog: pytest.LogCaptureFixture) -> None:
    indices: list[int] = []

    async def odd(note: CallRequested, transition: Transition) -> None:
        indices.append(note.key.index)
        if note.key.index % 2:
            raise ValueError(note.key.index)

    calls = [call(double, {"number": number}) for number in range(4)]
    agent = Agent(model=ScriptedModel([reply(*calls), DONE]), tools=[double])
    await agent.generate("Go.", observers=[on(CallRequested, odd)])

    assert indices == [0, 1, 2, 3]
    (record,) = caplog.records
    assert record.exc_info is not None
    group = record.exc_info[1]
    assert isinstance(group, ExceptionGroup)
    assert [str(error) for error in group.exceptions] == ["1", "3"]
    assert "the observer odd failed" in record.getMessage()


async def test_one_failure_of_several_notes_is_told_as_it_is(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def first(note: CallRequested, transition: Transition) -> None:
        if note.key.index == 0:
            raise KeyError("first")

    calls = [call(double, {"number": number}) for number in range(2)]
    agent = Agent(model=ScriptedModel([reply(*calls), DONE]), tools=[double])
    await agent.generate("Go.", observers=[on(CallRequested, first)])

    assert [record.exc_info[0] for record in caplog.records if record.exc_info] == [KeyError]


# --- subscribing ------------------------------------------------------------------------------


async def test_events_come_with_their_transitions() -> None:
    seen: list[tuple[ModelReplied, int]] = []

    async def replied(event: ModelReplied, transition: Transition) -> None:
        seen.append((event, len(transition.commands)))

    agent = Agent(model=ScriptedModel(one_call()), tools=[double])
    await agent.generate("Go.", observers=[on(ModelReplied, replied)])

    assert [(event.key.step, commands) for event, commands in seen] == [(0, 1), (1, 0)]


@pytest.mark.parametrize("kind", [int, Completed, EventHappened | RunTakenUp])
def test_only_what_can_be_told_of_is_subscribed_to(kind: type[ToolReturned]) -> None:
    with pytest.raises(UsageError, match=r"on: expected a kind among .*StepStarted, "):
        on(kind, lambda event, transition: None)


def test_an_observer_is_a_function() -> None:
    agent = Agent(model=ScriptedModel([DONE]))

    with pytest.raises(UsageError, match="observers: expected functions of one observation"):
        Agent(model=ScriptedModel([]), observers=["log"])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="observers: expected functions"):
        agent.generate_sync("Go.", observers=[None])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="observers: expected a sequence of functions, got <built"):
        agent.generate_sync("Go.", observers=print)  # type: ignore[call-overload]


# --- without an event loop --------------------------------------------------------------------


def test_async_observers_run_without_an_event_loop() -> None:
    seen: list[Observation] = []

    async def keep(one: Observation) -> None:
        seen.append(one)

    agent = Agent(model=ScriptedModel([DONE]), observers=[keep])
    state = drive_sync(
        agent.program, begin(agent.program, "Go.", run="r", seed=0, at=0), agent.runtime()
    )

    laws.observations_are_the_run(seen, state)


def test_a_run_that_ran_out_of_time_is_told_to_its_end() -> None:
    seen: list[Observation] = []
    clock = VirtualClock()

    @tool
    def dawdle() -> None:
        """Take ten seconds."""
        clock.advance(10)

    agent = Agent(
        model=ScriptedModel([reply(call(dawdle, {})), DONE]),
        tools=[dawdle],
        timeout=5.0,
        observers=[seen.append],
    )
    first = begin(agent.program, "Go.", run="r", seed=0, at=clock.now())

    state = drive_sync(agent.program, first, agent.runtime(clock=clock))

    assert told(seen)[-1] == "EventHappened TimedOut"
    laws.observations_are_the_run(seen, state)


@pytest.mark.parametrize("wait", [lambda: anyio.sleep(1), Suspended], ids=["anyio", "suspends"])
def test_an_observer_that_needs_an_event_loop_is_named(wait: Callable[[], Awaitable[None]]) -> None:
    async def waits(one: Observation) -> None:
        await wait()

    agent = Agent(model=ScriptedModel([DONE]), observers=[waits])
    first = begin(agent.program, "Go.", run="r", seed=0, at=0)

    with pytest.raises(UsageError, match="drive_sync: the observer waits"):
        drive_sync(agent.program, first, agent.runtime())


# --- when a run is cut off --------------------------------------------------------------------


async def test_a_run_that_is_cancelled_within_an_observer_is_told_to_its_end() -> None:
    early: list[Observation] = []
    late: list[Observation] = []
    journal = MemoryJournal()

    async def hangs_once(one: Observation) -> None:
        early.append(one)
        if isinstance(one, EventHappened) and isinstance(one.event, ModelReplied):
            await anyio.sleep_forever()

    agent = Agent(model=ScriptedModel(one_call()), tools=[double])
    with anyio.move_on_after(0.05) as scope:
        await agent.generate("Go.", journal=journal, observers=[hangs_once, late.append])

    assert scope.cancelled_caught
    assert early == late  # nobody is told twice, and nobody is left out
    assert isinstance(late[-1], EventHappened)
    assert isinstance(late[-1].event, EventCancelled)
    laws.observations_are_the_run(late, late[-1].transition.state)


async def test_a_stream_that_is_left_is_told_to_its_end() -> None:
    seen: list[Observation] = []
    agent = Agent(model=ScriptedModel(one_call()), tools=[double])

    async with agent.stream("Go.", observers=[seen.append]) as stream:
        async for part in stream:
            if isinstance(part, CallRequested):
                break

    run = await stream.run()
    assert isinstance(run.end, Cancelled)
    laws.observations_are_the_run(seen, run.state)


async def test_a_reader_that_gives_up_waiting_for_an_observer_can_go_on() -> None:
    seen: list[Observation] = []
    waits = True

    async def hangs_once(one: Observation) -> None:
        nonlocal waits
        if isinstance(one, EventHappened) and waits:
            waits = False
            await anyio.sleep_forever()

    agent = Agent(model=ScriptedModel(one_call()), tools=[double])
    async with agent.stream("Go.", observers=[hangs_once, seen.append]) as stream:
        with anyio.move_on_after(0.05):
            await stream.run()
        run = await stream.run()

    assert isinstance(run.end, Completed)
    laws.observations_are_the_run(seen, run.state)


async def test_a_stream_left_at_its_last_note_tells_it() -> None:
    seen: list[Observation] = []
    ready = anyio.Event()

    async def slow(one: Observation) -> None:
        await anyio.lowlevel.checkpoint()
        seen.append(one)

    agent = Agent(model=ScriptedModel([DONE]))
    async with agent.stream("Go.", observers=[slow]) as stream:
        async for part in stream:
            if isinstance(part, RunEnded):
                ready.set()
                break

    assert ready.is_set()
    laws.observations_are_the_run(seen, (await stream.run()).state)
