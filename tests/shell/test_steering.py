"""Steering: a word from beside a run is heard in its next step, in order, or said to be dropped."""

import threading
from typing import cast

import anyio
import anyio.from_thread
import anyio.lowlevel
import anyio.to_thread
import pytest

from stepfold.agent import Agent, Run, approve
from stepfold.loop import Done, JournalHeader, begin, command_ids, is_step_count, replay
from stepfold.loop.notes import SteeringDelivered, SteeringDropped
from stepfold.shell import CancelHandle, MemoryJournal, RunPart, Steering, drive_sync, tool
from stepfold.testing import ScriptedModel, call, reply
from stepfold.values import (
    Blocked,
    Cancelled,
    Completed,
    JsonText,
    Success,
    Text,
    UsageError,
    UserMessage,
)
from tests.shell._runs import DONE

in_both_ways = pytest.mark.parametrize("streams", [False, True])


async def ran(
    agent: Agent, steering: Steering, *, streams: bool, cancel: CancelHandle | None = None
) -> tuple[Run[str], list[RunPart]]:
    """Run it, and check that a replay hears the same."""
    journal = MemoryJournal()
    parts: list[RunPart] = []
    if streams:
        async with agent.stream(
            "Go.", steering=steering, journal=journal, cancel=cancel, run_id="r"
        ) as stream:
            parts = [part async for part in stream]
            run = await stream.run()
    else:
        run = await agent.generate(
            "Go.", steering=steering, journal=journal, cancel=cancel, run_id="r"
        )
    assert replay(agent.program, journal.header, journal.entries) == Success(run.state)
    return run, parts


def heard(run: Run[str]) -> list[str]:
    """What the user said, after the prompt, in the order of the history."""
    said = [message for message in run.messages if isinstance(message, UserMessage)]
    return [
        "".join(part.text for part in message.content if isinstance(part, Text))
        for message in said[1:]
    ]


@in_both_ways
async def test_a_word_is_heard_in_the_next_step(streams: bool) -> None:
    """After the results of the tools that were running; the stream tells of it."""
    steering = Steering()

    @tool
    async def look() -> str:
        assert steering.steer("Look closer.")
        assert steering.steer(UserMessage("And quickly."))
        await anyio.lowlevel.checkpoint()
        return "seen"

    model = ScriptedModel([reply(call(look), call(look)), DONE])
    run, parts = await ran(Agent(model=model, tools=[look]), steering, streams=streams)

    assert heard(run) == ["Look closer.", "And quickly."] * 2
    assert model.requests[1].messages == run.messages[:-1]
    assert steering.undelivered == ()
    if streams:
        told = [part for part in parts if isinstance(part, SteeringDelivered)]
        assert told == [SteeringDelivered(f"r/said/{n}", 1) for n in range(4)]


@in_both_ways
async def test_a_run_goes_on_past_a_final_answer_to_hear_it(streams: bool) -> None:
    """What is queued waits for one, each for its own."""
    steering = Steering()
    steering.queue("First.")
    steering.queue("Second.")
    steering.steer("At once.")
    model = ScriptedModel([reply("one"), reply("two"), reply("three"), DONE])
    run, _ = await ran(Agent(model=model), steering, streams=streams)

    assert heard(run) == ["At once.", "First.", "Second."]
    assert [step.text for step in run.steps] == ["one", "two", "three", "done"]
    assert run.end == Completed("done")


@in_both_ways
async def test_what_a_stop_leaves_no_room_for_is_dropped(streams: bool) -> None:
    """It is told by a note, and by the handle."""
    steering = Steering()
    steering.steer("More.")
    agent = Agent(model=ScriptedModel([DONE]), stop_when=is_step_count(1))
    run, parts = await ran(agent, steering, streams=streams)

    assert run.end == Completed("done")
    assert steering.undelivered == (UserMessage("More."),)
    if streams:
        assert SteeringDropped("r/said/0", "is_step_count") in parts


@in_both_ways
async def test_nobody_listens_after_the_end(streams: bool) -> None:
    """The answer is clear, and nothing is kept."""
    steering = Steering()
    await ran(Agent(model=ScriptedModel([DONE])), steering, streams=streams)

    assert not steering.steer("Too late.")
    assert not steering.queue("Too late.")
    assert steering.undelivered == ()


@in_both_ways
async def test_what_a_cancelled_run_never_heard_is_told(streams: bool) -> None:
    """It waited for a final answer, and there was none."""
    steering, cancel = Steering(), CancelHandle()

    @tool
    async def look() -> str:
        steering.queue("Never mind.")
        cancel("enough")
        return "seen"

    agent = Agent(model=ScriptedModel([reply(call(look))]), tools=[look])
    run, _ = await ran(agent, steering, streams=streams, cancel=cancel)

    assert run.end == Cancelled("enough")
    assert heard(run) == []
    assert steering.undelivered == (UserMessage("Never mind."),)


@in_both_ways
async def test_a_run_at_rest_does_not_listen(streams: bool) -> None:
    """It owes nothing; when it is taken up, it is spoken to by another handle."""

    @tool(needs_approval=True)
    async def pay() -> str:
        return "paid"

    steering, later = Steering(), Steering()
    steering.queue("And then?")
    model = ScriptedModel([reply(call(pay)), reply("one"), reply("two"), DONE])
    agent = Agent(model=model, tools=[pay])
    run, _ = await ran(agent, steering, streams=streams)
    assert isinstance(run.end, Blocked)
    assert not steering.steer("Hello?")

    later.queue("Last.")
    answered = await agent.answer(run, [approve(run.open_approvals[0])], steering=later)

    assert answered.results_of(pay) == ("paid",)
    assert heard(answered) == ["And then?", "Last."]
    assert answered.end == Completed("done")
    assert later.undelivered == ()


@in_both_ways
async def test_a_thread_may_speak(streams: bool) -> None:
    """Nothing has to be woken: it is heard with the next thing that happens."""
    steering = Steering()

    @tool
    def look() -> str:
        speaker = threading.Thread(target=steering.steer, args=("From a thread.",))
        speaker.start()
        speaker.join()
        return "seen"

    model = ScriptedModel([reply(call(look)), DONE])
    run, _ = await ran(Agent(model=model, tools=[look]), steering, streams=streams)

    assert heard(run) == ["From a thread."]


async def test_a_stream_can_be_spoken_to() -> None:
    """By whoever holds it; afterwards nobody listens."""
    model = ScriptedModel([reply("one"), reply("two"), DONE])
    async with Agent(model=model).stream("Go.") as stream:
        assert stream.queue("And then?")
        async for _ in stream:
            if stream.steer("Shorter, please.") and len(model.requests) == 2:
                break
        async for _ in stream:
            pass
        run = await stream.run()
        assert not stream.steer("Too late.")
        assert not stream.queue("Too late.")

    assert heard(run)[0] == "Shorter, please."
    assert "And then?" in heard(run) or len(run.steps) == 3

    late = Agent(model=ScriptedModel([DONE])).stream("Go.")
    async with late:
        await late.run()
    assert not late.steer("Too late.")


async def test_a_stream_speaks_by_the_handle_that_it_was_given() -> None:
    """There is one order of what is said."""
    steering = Steering()
    model = ScriptedModel([reply("one"), DONE])
    async with Agent(model=model).stream("Go.", steering=steering) as stream:
        steering.steer("First.")
        stream.steer("Second.")
        run = await stream.run()

    assert heard(run) == ["First.", "Second."]


def test_a_run_without_an_event_loop_listens_too() -> None:
    """A tool speaks, or another thread."""
    steering = Steering()

    @tool
    def look() -> str:
        steering.steer("Look closer.")
        return "seen"

    model = ScriptedModel([reply(call(look)), DONE])
    agent = Agent(model=model, tools=[look])
    first = begin(agent.program, "Go.", run="r", seed=0, at=0)
    journal = MemoryJournal()
    runtime = agent.runtime(journal=journal)
    state = drive_sync(agent.program, first, runtime, steering=steering)

    assert isinstance(state.phase, Done)
    assert UserMessage("Look closer.") in state.messages
    header = JournalHeader(
        "r", 0, 0, first.state.messages, agent.program.fingerprint, commands=command_ids(first)
    )
    assert replay(agent.program, header, journal.entries) == Success(state)
    assert state.phase.end == Completed(JsonText('"done"'))


async def test_a_handle_speaks_to_one_run() -> None:
    """Another would hear half of it."""
    steering = Steering()
    agent = Agent(model=ScriptedModel([DONE]))
    await agent.generate("Go.", steering=steering)

    with pytest.raises(UsageError, match="steering: expected a new one for each run"):
        await agent.generate("Go.", steering=steering)
    with pytest.raises(UsageError, match="steering: expected a Steering, got 'Hello'"):
        await agent.generate("Go.", steering=cast("Steering", "Hello"))


@pytest.mark.parametrize("said", ["", 5, None])
def test_a_word_is_text_or_a_message(said: object) -> None:
    """An empty one says nothing."""
    steering, word = Steering(), cast("str", said)
    with pytest.raises(UsageError, match="steer: expected text or a UserMessage, got"):
        steering.steer(word)
    with pytest.raises(UsageError, match="queue: expected text or a UserMessage, got"):
        steering.queue(word)
