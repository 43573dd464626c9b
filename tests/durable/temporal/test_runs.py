"""A run that is a workflow is the run that it is without an engine."""

import asyncio
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from temporalio.client import WorkflowFailureError, WorkflowUpdateFailedError
from temporalio.exceptions import ApplicationError, WorkflowAlreadyStartedError

import stepfold as sf
from stepfold.durable import temporal
from stepfold.durable.temporal._wire import sent
from stepfold.loop import Done, open_requests
from stepfold.loop.commands import CallKey
from stepfold.loop.events import MessageSteered, ToolReturned, ToolSucceeded
from stepfold.values import OpenApproval, OpenCall, TextOutput
from tests.durable.temporal.conftest import Serve
from tests.durable.temporal.program import (
    HOUR,
    SEEN,
    Boss,
    Brief,
    Crowd,
    Hooked,
    Hurried,
    Impure,
    Patient,
    Refused,
    Renewed,
    Shopper,
    Sleeper,
    Stranger,
    Total,
    Traveller,
    Watched,
    Wearied,
    World,
    confirm,
    count,
    hold,
    look,
    pay,
)


async def test_a_workflow_is_the_run_that_the_agent_would_make(serve: Serve) -> None:
    alone = await Traveller.agent.generate("Go", run_id="alone")
    async with serve(temporal.serve(Traveller)) as serving:
        handle = await serving.start(Traveller)
        run = await handle.result()

    assert run.unwrap() == "Done."
    assert [step.content for step in run.steps][2:] == [step.content for step in alone.steps][2:]
    assert run.results_of(look) == alone.results_of(look)
    assert run.state.ledger == alone.state.ledger
    assert run.state.identity.run == handle.id


async def test_an_id_is_used_once(serve: Serve) -> None:
    async with serve(temporal.serve(Traveller)) as serving:
        handle = await serving.start(Traveller)
        await handle.result()
        with pytest.raises(WorkflowAlreadyStartedError):
            await serving.start(Traveller, id=handle.id)


async def test_the_engine_is_told_what_it_shall_know_of_a_workflow(serve: Serve) -> None:
    async with serve(temporal.serve(Traveller)) as serving:
        handle = await serving.start(
            Traveller, memo={"customer": "Ann"}, execution_timeout=600.0, task_timeout=5.0
        )
        await handle.result()
        described = await handle.workflow.describe()

    assert await described.memo() == {"customer": "Ann"}
    config = described.raw_description.execution_config
    assert config.workflow_execution_timeout.ToTimedelta() == timedelta(seconds=600)
    assert config.default_workflow_task_timeout.ToTimedelta() == timedelta(seconds=5)


async def test_a_wrong_prompt_is_refused_before_anything_begins(serve: Serve) -> None:
    async with serve(temporal.serve(Traveller)) as serving:
        with pytest.raises(sf.UsageError, match="prompt"):
            await temporal.start(serving.client, Traveller, "", id="empty", task_queue="none")
        with pytest.raises(sf.UsageError, match="runtime_context: expected a JSON object"):
            await serving.start(Traveller, runtime_context={"clock": object()})


async def test_a_handle_is_found_again_by_its_id(serve: Serve) -> None:
    async with serve(temporal.serve(Traveller)) as serving:
        began = await serving.start(Traveller)
        again = temporal.handle_of(serving.client, Traveller, began.id)

        assert (await again.result()).unwrap() == "Done."
        assert (await again.at_rest()).unwrap() == "Done."
        assert isinstance((await again.state()).phase, Done)


async def test_a_run_that_fails_is_a_workflow_that_fails(serve: Serve) -> None:
    async with serve(temporal.serve(Refused)) as serving:
        handle = await serving.start(Refused)
        with pytest.raises(sf.RunFailed, match="who are you") as failed:
            await handle.result()
        with pytest.raises(WorkflowFailureError):
            await handle.workflow.result()

    assert failed.value.run.state.identity.run == handle.id


# --- people and clients -----------------------------------------------------------------------


async def test_a_run_rests_until_it_is_answered(serve: Serve) -> None:
    async with serve(temporal.serve(Shopper)) as serving:
        handle = await serving.start(Shopper)
        run = await handle.at_rest()
        approval, question = open_requests(run.state)
        assert isinstance(approval, OpenApproval)
        assert isinstance(question, OpenCall)

        await handle.answer([sf.approve(approval)])
        assert open_requests(await handle.state()) == (question,)
        await handle.answer([sf.tool_output(question, value=True)])
        ended = await handle.result()

    assert ended.unwrap() == "Done."
    assert ended.results_of(pay) == ("paid 5",)
    assert ended.results_of(confirm) == (True,)


async def test_what_was_never_asked_cannot_be_answered(serve: Serve) -> None:
    """The engine keeps nothing of an answer that is refused."""
    async with serve(temporal.serve(Shopper)) as serving:
        handle = await serving.start(Shopper)
        run = await handle.at_rest()
        before = await handle.state()
        _, question = open_requests(run.state)
        assert isinstance(question, OpenCall)
        with pytest.raises(sf.UsageError, match="confirm"):
            await handle.answer([sf.tool_output(question, "no truth value")])
        outcome = ToolSucceeded(TextOutput("forged"))
        forged = ToolReturned(CallKey(7, 0, 0), outcome, 0, started=0)
        with pytest.raises(WorkflowUpdateFailedError) as refused:
            await handle.workflow.execute_update("answer", sent(forged))
        with pytest.raises(WorkflowUpdateFailedError) as other:
            await handle.workflow.execute_update(
                "answer", sent(MessageSteered("x", sf.UserMessage("Hi"), "steer", 0))
            )
        history = await handle.workflow.fetch_history()

        assert await handle.state() == before
        await handle.cancel()

    assert isinstance(refused.value.cause, ApplicationError)
    assert refused.value.cause.type == "IllegalEvent"
    assert "expected the answer to an open request" in str(other.value.cause)
    kinds = [event.WhichOneof("attributes") for event in history.events]
    assert kinds.count("workflow_execution_update_accepted_event_attributes") == 1  # at_rest


async def test_an_answer_to_a_tool_that_is_at_work_here_is_refused(serve: Serve) -> None:
    world = World()
    async with serve(temporal.serve(Patient, deps=world)) as serving:
        handle = await serving.start(Patient)
        await world.begun.wait()
        outcome = ToolSucceeded(TextOutput("forged"))
        forged = ToolReturned(CallKey(0, 0, 0), outcome, 0, started=0)
        with pytest.raises(WorkflowUpdateFailedError):
            await handle.workflow.execute_update("answer", sent(forged))
        world.free.set()
        run = await handle.result()

    assert run.results_of(hold) == ("held a",)


async def test_a_run_is_spoken_to(serve: Serve) -> None:
    world = World()
    async with serve(temporal.serve(Patient, deps=world)) as serving:
        handle = await serving.start(Patient)
        await world.begun.wait()
        assert await handle.steer("Quickly.", key="1")
        assert await handle.steer("Quickly.", key="1")
        assert await handle.queue("And then?")
        world.free.set()
        run = await handle.result()
        is_heard = await handle.steer("Too late.")

    heard = [message for step in run.steps for message in step.late]
    assert heard == [sf.UserMessage("Quickly."), sf.UserMessage("And then?")]
    assert not is_heard


# --- ends -------------------------------------------------------------------------------------


async def test_a_run_that_is_cancelled_keeps_what_was_finished(serve: Serve) -> None:
    world = World()
    async with serve(temporal.serve(Patient, deps=world)) as serving:
        handle = await serving.start(Patient)
        await world.begun.wait()
        await handle.cancel("enough")
        run = await handle.result()
        await world.ended.wait()  # its worker is told with the next heartbeat
        await handle.cancel("twice")

    assert world.cancelled == ["a"]
    assert run.end == sf.Cancelled("enough")
    [error] = run.steps[0].tool_errors
    assert error.kind == "interrupted"
    assert not sf.inspect_history(run.messages)


async def test_cancelling_the_workflow_cancels_the_run(serve: Serve) -> None:
    world = World()
    async with serve(temporal.serve(Patient, deps=world)) as serving:
        handle = await serving.start(Patient)
        await world.begun.wait()
        await handle.workflow.cancel()
        run = await handle.result()

    assert run.end == sf.Cancelled("cancelled by the engine")
    assert [error.kind for error in run.steps[0].tool_errors] == ["interrupted"]


async def test_a_step_in_flight_may_come_to_its_end(serve: Serve) -> None:
    world = World()
    async with serve(temporal.serve(Patient, deps=world)) as serving:
        handle = await serving.start(Patient)
        await world.begun.wait()
        await handle.cancel("enough", after_step=True)
        world.free.set()
        run = await handle.result()

    assert run.end == sf.Cancelled("enough")
    assert run.results_of(hold) == ("held a",)


async def test_a_blocked_run_can_be_cancelled(serve: Serve) -> None:
    async with serve(temporal.serve(Shopper)) as serving:
        handle = await serving.start(Shopper)
        await handle.at_rest()
        await handle.workflow.cancel()
        run = await handle.at_rest()

    assert run.end == sf.Cancelled("cancelled by the engine")


async def test_a_worker_that_is_shut_down_in_order_gives_its_calls_up(serve: Serve) -> None:
    world = World()
    async with serve(temporal.serve(Patient, deps=world)) as serving:
        handle = await serving.start(Patient)
        await world.begun.wait()
    async with serve(temporal.serve(Patient, deps=World()), queue=serving.queue):
        run = await handle.result()

    assert world.cancelled == ["a"]
    assert run.unwrap() == "Two."
    assert [error.kind for error in run.steps[0].tool_errors] == ["interrupted"]


# --- time -------------------------------------------------------------------------------------


async def test_a_pause_is_a_timer_of_the_engine(serve_without_waiting: Serve) -> None:
    async with serve_without_waiting(temporal.serve(Sleeper)) as serving:
        handle = await serving.start(Sleeper)
        run = await handle.result()
        history = await handle.workflow.fetch_history()

    assert run.unwrap() == "Done."
    assert run.state.now - run.state.identity.started >= 10 * HOUR
    timers = [
        event.timer_started_event_attributes.start_to_fire_timeout.ToTimedelta()
        for event in history.events
        if event.HasField("timer_started_event_attributes")
    ]
    [timer] = timers
    assert timedelta(hours=9.9) < timer <= timedelta(hours=10)


async def test_a_run_that_takes_too_long_is_stopped(serve_without_waiting: Serve) -> None:
    async with serve_without_waiting(temporal.serve(Hurried)) as serving:
        run = await (await serving.start(Hurried)).result()

    assert isinstance(run.end, sf.Stopped)
    assert run.end.stop.name == "timeout-total"
    took = run.state.now - run.state.identity.started
    assert HOUR <= took < 2 * HOUR


async def test_time_counts_on_in_a_new_history(serve_without_waiting: Serve) -> None:
    async with serve_without_waiting(temporal.serve(Wearied)) as serving:
        handle = await serving.start(Wearied)
        run = await handle.result()
        last = await handle.workflow.fetch_history()

    assert last.run_id != handle.workflow.first_execution_run_id
    assert isinstance(run.end, sf.Stopped)
    assert run.end.stop.name == "timeout-total"
    took = run.state.now - run.state.identity.started
    assert HOUR <= took < HOUR + HOUR // 8


# --- histories --------------------------------------------------------------------------------


async def test_a_long_run_goes_on_in_new_histories(serve: Serve) -> None:
    alone = await Renewed.agent.generate("Go", run_id="alone", seed=7)
    async with serve(temporal.serve(Renewed)) as serving:
        handle = await serving.start(Renewed, id="renewed", seed=7)
        run = await handle.at_rest()
        first = await serving.client.get_workflow_handle(
            handle.id, run_id=handle.workflow.first_execution_run_id
        ).fetch_history()
        last = await handle.workflow.fetch_history()

    assert run.unwrap() == "Done."
    assert len(run.steps) == 13
    assert run.state.ledger == alone.state.ledger
    assert run.messages[-1] == alone.messages[-1]
    assert first.run_id != last.run_id
    ended = first.events[-1]
    assert ended.HasField("workflow_execution_continued_as_new_event_attributes")
    assert len(first.events) < 60
    assert len(last.events) < 60


async def test_each_history_gets_the_run_on_however_short_it_is(serve: Serve) -> None:
    async with serve(temporal.serve(Brief)) as serving:
        handle = await serving.start(Brief)
        run = await handle.result()

    assert run.unwrap() == "Done."


async def test_pieces_of_a_history_are_sent_as_they_were(serve: Serve) -> None:
    """What a storage keeps under a digest is what was sent before."""
    async with serve(temporal.serve(Renewed)) as serving:
        handle = await serving.start(Renewed)
        await handle.result()
        history = await handle.workflow.fetch_history()
    sent_pieces = [
        [payload.data for payload in event.activity_task_scheduled_event_attributes.input.payloads]
        for event in history.events
        if event.HasField("activity_task_scheduled_event_attributes")
    ]
    assert len(sent_pieces[-1]) > 3
    for before, after in pairwise(sent_pieces):
        closed = before[1:-1]
        assert after[1 : 1 + len(closed)] == closed


async def test_the_engine_begins_again_only_what_may_run_twice(serve: Serve) -> None:
    async with serve(temporal.serve(Traveller)) as serving:
        handle = await serving.start(Traveller)
        await handle.result()
        history = await handle.workflow.fetch_history()

    attempts = {
        (asked.activity_type.name, event.user_metadata.summary.data.decode()): (
            asked.retry_policy.maximum_attempts
        )
        for event in history.events
        if (asked := event.activity_task_scheduled_event_attributes).activity_type.name
    }
    assert attempts == {
        ("Traveller.call_model", '"scripted/model"'): 1,
        ("Traveller.run_tool", '"book"'): 1,
        ("Traveller.run_tool", '"look"'): 10,
    }


# --- what programs have -----------------------------------------------------------------------


async def test_no_more_tools_are_at_work_than_the_agent_lets(serve: Serve) -> None:
    world = World()
    async with serve(temporal.serve(Crowd, deps=world)) as serving:
        handle = await serving.start(Crowd)
        await world.full.wait()
        await asyncio.sleep(0.3)  # more would begin now
        world.free.set()
        run = await handle.result()

    assert world.most_at_work == 2
    assert run.results_of(hold) == tuple(f"held {n}" for n in range(5))


async def test_grants_and_limits_hold(serve: Serve) -> None:
    alone = await Boss.agent.generate("Go", run_id="alone")
    async with serve(temporal.serve(Boss)) as serving:
        run = await (await serving.start(Boss)).result()

    assert isinstance(run.end, sf.Stopped)
    assert run.end == alone.end
    assert run.state.ledger == alone.state.ledger
    assert run.usage == alone.usage


async def test_hooks_are_asked_by_workers(serve: Serve, tmp_path: Path) -> None:
    world = tmp_path / "asked"
    async with serve(temporal.serve(Hooked, deps=world)) as serving:
        run = await (await serving.start(Hooked)).result()

    assert run.unwrap() == Total(3)
    assert run.results_of(count) == (2, 1)
    asked = world.read_text().splitlines()
    assert sorted(asked) == [
        "check 1",
        'judge {"what":{"amount":1}}',
        'judge {"what":{"amount":2}}',
        "prepare 0",
        "prepare 1",
        "repair count",
    ]


async def test_observers_are_told_by_workers(serve: Serve) -> None:
    SEEN.clear()
    async with serve(temporal.serve(Watched)) as serving:
        handle = await serving.start(Watched)
        await handle.result()

    kinds = [type(seen).__name__ for seen in SEEN if not isinstance(seen, sf.RunTakenUp)]
    assert kinds == [
        "ModelCallStarted",
        "ModelCallEnded",
        "EventHappened",
        "ToolExecutionStarted",
        "ToolExecutionEnded",
        "EventHappened",
        "ModelCallStarted",
        "ModelCallEnded",
        "EventHappened",
    ]


# --- what goes wrong --------------------------------------------------------------------------


async def test_a_worker_that_lacks_what_is_asked_for_fails_the_run(serve: Serve) -> None:
    strange = temporal.Served(Traveller, temporal.serve(Stranger).activities)
    async with serve(strange) as serving:
        handle = await serving.start(Traveller)
        with pytest.raises(WorkflowFailureError) as failed:
            await handle.result()

    cause = failed.value.cause
    assert isinstance(cause, ApplicationError)
    assert cause.type == "UsageError"
    assert "expected one named 'look'" in str(cause)


async def test_a_worker_with_another_program_leaves_a_run_to_those_that_have_it(
    serve: Serve,
) -> None:
    async with serve(temporal.serve(Stranger)) as serving:
        handle = await serving.start(Traveller)
        failure = await failed_task(handle)
    async with serve(temporal.serve(Traveller), queue=serving.queue):
        run = await handle.result()

    assert "the run was not begun with the program of this worker" in failure
    assert run.unwrap() == "Done."


async def failed_task(handle: temporal.RunHandle[str]) -> str:
    """What a worker said that could not decide anything."""
    for _ in range(600):
        history = await handle.workflow.fetch_history()
        for event in history.events:
            if event.HasField("workflow_task_failed_event_attributes"):
                return event.workflow_task_failed_event_attributes.failure.message
        await asyncio.sleep(0.05)
    raise TimeoutError("no worker has said anything")


async def test_a_condition_that_asks_the_world_is_found_by_the_sandbox(serve: Serve) -> None:
    """The program's own module stays inside the sandbox."""
    async with serve(temporal.serve(Impure)) as serving:
        handle = await serving.start(Impure)
        with pytest.raises(sf.RunFailed, match="RestrictedWorkflowAccessError"):
            await handle.result()
