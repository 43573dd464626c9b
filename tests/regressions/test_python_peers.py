"""Faults that were reported against other Python libraries, each as what must hold here.

The numbers are those of the table in `docs/explanation/reported-faults.md`.
"""

import contextvars
import json
import threading
from collections.abc import AsyncIterator

import anyio
import pytest
from attrs import frozen

import stepfold as sf
from stepfold.codec import decode, encode
from stepfold.providers import Endpoint
from stepfold.providers.anthropic_messages import MessagesDialect, encode_request
from stepfold.providers.openai_chat import chat_decoder
from stepfold.testing import ScriptedModel, VirtualClock, call, reply, run_script
from tests.regressions._told import assert_paired, calls_in, told_of

DONE = reply("Done.")


@sf.tool
def double(number: int) -> int:
    """Double a number."""
    return 2 * number


def doubling(*numbers: int) -> sf.ModelReply:
    return reply(*(call(double, {"number": number}) for number in numbers))


# --- parallel tools ---------------------------------------------------------------------------


async def test_01_03_one_tool_that_fails_leaves_the_others_as_they_are() -> None:
    @sf.tool
    async def slow(number: int) -> int:
        """Take a while."""
        await anyio.sleep(0.01)
        return number

    @sf.tool
    async def fail() -> str:
        """Fail."""
        raise ValueError("no")

    model = ScriptedModel(
        [reply(call(slow, {"number": 1}), call(fail), call(double, {"number": 4})), DONE]
    )
    run = await sf.Agent(model=model, tools=[slow, fail, double]).generate("Hi")

    assert run.text == "Done."
    assert run.results_of(slow) == (1,)
    assert run.results_of(double) == (8,)
    assert [error.error for error in run.steps[0].tool_errors] == ["ValueError: no"]
    assert_paired(run.messages)


async def test_02_a_failure_beside_it_loses_no_call_that_a_person_answers() -> None:
    @sf.tool
    def fail() -> str:
        """Fail."""
        raise ValueError("no")

    @sf.tool(needs_approval=True)
    def pay() -> str:
        """Pay."""
        return "paid"

    agent = sf.Agent(model=ScriptedModel([reply(call(pay), call(fail)), DONE]), tools=[fail, pay])
    run = await agent.generate("Hi")
    (request,) = run.open_approvals
    run = await agent.answer(run, [sf.approve(request)])

    assert run.results_of(pay) == ("paid",)
    assert [error.error for error in run.steps[0].tool_errors] == ["ValueError: no"]
    assert_paired(run.messages)


def test_04_calls_are_counted_however_they_ran() -> None:
    counted: list[tuple[int, int]] = []

    def condition(progress: sf.Progress) -> sf.Stop | None:
        counted.append((progress.calls_of("double"), progress.calls_of(double)))
        return None

    run_script([doubling(1, 2, 3), doubling(4), DONE], tools=[double], stop_when=condition)

    assert counted == [(3, 3), (4, 4)]


def test_05_a_limit_of_calls_holds_within_one_reply() -> None:
    ran: list[int] = []

    @sf.tool
    def note(number: int) -> str:
        """Note."""
        ran.append(number)
        return "noted"

    calls = [call(note, {"number": number}) for number in range(5)]
    run = run_script([reply(*calls), DONE], tools=[note], limits=sf.Limits(tool_calls=2))

    assert sorted(ran) == [0, 1]
    assert isinstance(run.end, sf.Stopped)
    assert run.end.stop.name == "limit-tool-calls"
    assert_paired(run.messages)


async def test_08_runs_of_one_agent_share_nothing() -> None:
    agent = sf.Agent(
        model=ScriptedModel([doubling(1), lambda request: reply(str(len(request.messages)))]),
        tools=[double],
    )
    texts: list[str] = []

    async def one() -> None:
        texts.append((await agent.generate("Hi")).text)

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(one)

    assert texts == ["3"] * 5


async def test_09_sync_tools_run_side_by_side_and_see_the_context_of_the_caller() -> None:
    who = contextvars.ContextVar("who", default="nobody")
    barrier = threading.Barrier(2, timeout=10)

    @sf.tool
    def meet() -> str:
        """Wait for the other."""
        barrier.wait()
        return who.get()

    who.set("me")
    model = ScriptedModel([reply(call(meet), call(meet)), DONE])
    run = await sf.Agent(model=model, tools=[meet]).generate("Hi")

    assert run.results_of(meet) == ("me", "me")


# --- cancellation and streaming ---------------------------------------------------------------


async def test_11_13_leaving_a_stream_stops_its_tools_and_is_written_down_first() -> None:
    was_stopped = anyio.Event()

    @sf.tool
    async def hang() -> AsyncIterator[str]:
        """Hang."""
        try:
            yield "begun"
            await anyio.sleep_forever()
        finally:
            was_stopped.set()

    journal = sf.MemoryJournal()
    agent = sf.Agent(model=ScriptedModel([reply(call(hang)), DONE]), tools=[hang])
    with anyio.fail_after(5):
        async with agent.stream("Hi", journal=journal) as stream:
            async for part in stream:
                if isinstance(part, sf.ToolProgressed):
                    break
        run = await stream.run()

    assert was_stopped.is_set()
    assert isinstance(run.end, sf.Cancelled)
    assert_paired(run.messages)
    assert sf.replay(agent.program, journal.header, journal.entries) == sf.Success(run.state)


async def test_12_a_run_ends_after_the_step_in_flight_and_keeps_it() -> None:
    agent = sf.Agent(model=ScriptedModel([doubling(4), doubling(5), DONE]), tools=[double])
    async with agent.stream("Hi") as stream:
        async for part in stream:
            if isinstance(part, sf.notes.CallRequested):
                stream.cancel("enough", after_step=True)
    run = await stream.run()

    assert run.end == sf.Cancelled("enough")
    assert run.results_of(double) == (8,)
    assert_paired(run.messages)


@pytest.mark.parametrize("chunk_size", [1, None])
async def test_14_text_before_a_call_ends_no_stream(chunk_size: int | None) -> None:
    script = [reply("Let me see.", *doubling(4).content), DONE]
    agent = sf.Agent(model=ScriptedModel(script, chunk_size=chunk_size), tools=[double])

    async with agent.stream("Hi") as stream:
        said = [part.delta async for part in stream if isinstance(part, sf.TextDelta)]
    run = await stream.run()

    assert "".join(said) == "Let me see.Done."
    assert run.results_of(double) == (8,)


# --- history ----------------------------------------------------------------------------------

BROKEN = (
    sf.UserMessage("Double 4."),
    sf.AssistantMessage((sf.ToolCall("a", "double", '{"number": 4}'),)),
    sf.ToolMessage((sf.ToolResult("gone", "double", sf.TextOutput("2")),)),
    sf.UserMessage("Well?"),
)


async def test_18_19_20_a_history_with_broken_pairs_can_be_gone_on_with() -> None:
    model = ScriptedModel([DONE, DONE])
    agent = sf.Agent(model=model, tools=[double])

    first = await agent.generate(BROKEN)
    await agent.generate([*first.messages, sf.UserMessage("Again.")])

    for request in model.requests:
        prompt = sf.convert_to_model_prompt(request.messages)
        assert calls_in(prompt) == ("a",)
        assert_paired(prompt)
        assert isinstance(told_of(prompt, "a"), sf.ErrorTextOutput)


@pytest.mark.parametrize("most", range(1, 10))
def test_21_trimming_cuts_no_call_from_its_result(most: int) -> None:
    talk = run_script([doubling(1, 2), doubling(3), DONE], tools=[double]).messages
    history = [*talk, sf.UserMessage("And 4?")]

    trimmed = sf.trim_messages(history, max_messages=most)

    assert_paired(trimmed)
    assert tuple(trimmed) == tuple(history[-len(trimmed) :])
    model = ScriptedModel([DONE])
    sf.Agent(model=model, tools=[double]).generate_sync(trimmed)
    assert model.requests[0].messages == trimmed


def test_22_reasoning_stays_before_its_call_with_what_the_provider_wants_back() -> None:
    signed = sf.JsonText('{"openai":{"item_id":"rs_1"}}')
    thought = sf.Reasoning("Hm.", provider_options=signed)

    run = run_script([reply(thought, *doubling(4).content), DONE], tools=[double])

    said = run.messages[1]
    assert isinstance(said, sf.AssistantMessage)
    assert said.content[0] == thought
    assert isinstance(said.content[1], sf.ToolCall)


# --- malformed, empty and truncated replies ---------------------------------------------------


def test_23_bad_arguments_are_kept_as_they_came_and_can_be_sent() -> None:
    run = run_script([reply(call(double, '{"number": ')), DONE], tools=[double])
    said = run.messages[1]
    assert isinstance(said, sf.AssistantMessage)
    (kept,) = said.content
    assert isinstance(kept, sf.ToolCall)
    assert kept.input == '{"number": '

    endpoint = Endpoint(model_id="m", base_url="http://x", dialect=MessagesDialect())
    wire = encode_request(sf.ModelRequest(messages=run.messages), endpoint).request
    turns = json.loads(wire.body)["messages"]

    assert turns[1]["content"][0]["input"] == {}


def test_25_a_truncated_reply_runs_no_tool() -> None:
    @sf.tool
    def wipe(path: str) -> str:
        """Wipe."""
        raise AssertionError(path)

    run = run_script([reply(call(wipe, {"path": "/"}), finish="length")], tools=[wipe])

    assert isinstance(run.end, sf.Stopped)
    assert run.end.stop.name == "length"
    assert_paired(run.messages)


@pytest.mark.parametrize("said", [reply(), reply(""), reply(sf.Reasoning("Hm."))])
async def test_26_an_empty_answer_ends_the_run_and_is_not_sent_back_as_empty_text(
    said: sf.ModelReply,
) -> None:
    model = ScriptedModel([said, DONE])
    agent = sf.Agent(model=model)

    run = await agent.generate("Hi")
    assert run.text == ""
    second = sf.Agent(model=ScriptedModel([DONE]))
    after = await second.generate([*run.messages, sf.UserMessage("Well?")])

    assert after.text == "Done."
    prompt = sf.convert_to_model_prompt(after.messages)
    texts = [
        part.text
        for message in prompt
        if isinstance(message, sf.AssistantMessage)
        for part in message.content
        if isinstance(part, sf.Text)
    ]
    assert texts == ["Done."]


def test_27_a_tool_that_does_not_exist_is_answered_with_those_that_do() -> None:
    run = run_script([reply(call("halve", {"number": 4})), DONE], tools=[double])

    (error,) = run.steps[0].tool_errors
    assert "double" in error.error
    assert run.text == "Done."


# --- limits and stopping ----------------------------------------------------------------------


def test_28_a_limit_gives_the_run_with_all_that_it_did() -> None:
    run = run_script([doubling(1), doubling(2), DONE], tools=[double], limits=sf.Limits(steps=2))

    assert isinstance(run.end, sf.Stopped)
    assert run.end.stop.name == "limit-steps"
    assert run.results_of(double) == (2, 4)


def test_30_conditions_are_composed() -> None:
    run = run_script(
        [doubling(1), doubling(2), doubling(3)],
        tools=[double],
        stop_when=sf.any_of(
            sf.all_of(sf.has_tool_call(double), sf.is_step_count(2)), sf.token_budget(1_000)
        ),
    )

    assert len(run.steps) == 2


def test_32_the_natural_end_is_a_condition_as_any_other() -> None:
    script = [doubling(number) for number in range(30)]

    run = run_script([*script, DONE], tools=[double], stop_when=sf.is_loop_finished())

    assert len(run.steps) == 31
    assert isinstance(run.end, sf.Completed)


def test_33_a_tool_can_have_a_limit_of_its_own() -> None:
    run = run_script(
        [doubling(1, 2, 3), DONE], tools=[double], limits=sf.Limits(calls_of={double: 2})
    )

    assert run.results_of(double) == (2, 4)
    assert len(run.steps[0].tool_errors) == 1
    assert run.text == "Done."


# --- usage, storage, approvals, event loops, types --------------------------------------------


def test_34_usage_that_grows_in_a_stream_is_not_added_up() -> None:
    decoder = chat_decoder("openai")
    chunks = [
        {"choices": [{"delta": {"content": "Hi"}}], "usage": {"completion_tokens": 1}},
        {"choices": [{"delta": {}, "finish_reason": "stop"}], "usage": {"completion_tokens": 2}},
    ]
    parts = [
        part
        for chunk in chunks
        for part in decoder.feed(b"data: " + json.dumps(chunk).encode() + b"\n\n")
    ]

    usage = sf.fold_parts([*parts, *decoder.end()]).usage

    assert usage.output_tokens == 2


def test_36_37_what_was_not_written_so_is_refused_with_its_place() -> None:
    document = json.loads(encode(sf.UserMessage("Hi")))

    for broken in ({**document, "colour": "red"}, {**document, "content": 7}):
        outcome = decode(json.dumps(broken).encode(), sf.UserMessage)
        assert isinstance(outcome, sf.Failure)
        assert outcome.failure().path


async def test_38_who_approves_sees_the_arguments_that_will_run() -> None:
    paid: list[int] = []

    @sf.tool(needs_approval=True)
    def pay(amount: int) -> str:
        """Pay."""
        paid.append(amount)
        return "paid"

    agent = sf.Agent(
        model=ScriptedModel([reply(call(pay, '{"amount": "ten"}')), DONE]),
        tools=[pay],
        repair_tool_call=lambda _: '{"amount": 10}',
    )
    run = await agent.generate("Hi")
    (request,) = run.open_approvals
    assert json.loads(request.call.input) == {"amount": 10}

    await agent.answer(run, [sf.approve(request)])

    assert paid == [10]


async def test_39_parallel_approvals_are_answered_one_by_one() -> None:
    paid: list[int] = []

    @sf.tool(needs_approval=True)
    def pay(amount: int) -> str:
        """Pay."""
        paid.append(amount)
        return f"paid {amount}"

    calls = [call(pay, {"amount": amount}) for amount in (1, 2, 3)]
    agent = sf.Agent(model=ScriptedModel([reply(*calls), DONE]), tools=[pay])
    run = await agent.generate("Hi")
    for wanted in (2, 3, 1):
        request = next(
            request
            for request in run.open_approvals
            if json.loads(request.call.input)["amount"] == wanted
        )
        run = await agent.answer(run, [sf.approve(request)])

    assert paid.count(1) == paid.count(2) == paid.count(3) == 1
    assert run.results_of(pay) == ("paid 1", "paid 2", "paid 3")


def test_40_sync_runs_can_follow_each_other() -> None:
    agent = sf.Agent(model=ScriptedModel([doubling(4), DONE]), tools=[double])

    runs = [agent.generate_sync("Hi") for _ in range(3)]

    assert [run.text for run in runs] == ["Done."] * 3


@frozen
class Cat:
    """Says miaow."""

    miaows: int


@frozen
class Dog:
    """Says woof."""

    woofs: int


def test_41_an_output_can_be_one_of_several_types() -> None:
    run = run_script([reply('{"result": {"woofs": 3}}')], output=sf.object_of(Cat | Dog))

    pet: Cat | Dog = run.unwrap()

    assert pet == Dog(3)


async def test_42_a_replay_gives_the_state_that_was_reached() -> None:
    journal = sf.MemoryJournal()
    agent = sf.Agent(model=ScriptedModel([doubling(1, 2), DONE]), tools=[double])

    run = await agent.generate("Hi", journal=journal, clock=VirtualClock())

    assert sf.replay(agent.program, journal.header, journal.entries) == sf.Success(run.state)


async def test_44_tools_are_sent_alike_each_time() -> None:
    def definitions() -> tuple[tuple[str, str], ...]:
        model = ScriptedModel([DONE])
        sf.Agent(model=model, tools=[double]).generate_sync("Hi")
        return tuple((tool.name, tool.input_schema.text) for tool in model.requests[0].tools)

    assert await anyio.to_thread.run_sync(definitions) == await anyio.to_thread.run_sync(
        definitions
    )


async def test_45_the_callers_list_stays_as_it_is() -> None:
    history: list[sf.Message] = [sf.UserMessage("Hi")]

    run = await sf.Agent(model=ScriptedModel([doubling(4), DONE]), tools=[double]).generate(history)

    assert history == [sf.UserMessage("Hi")]
    assert len(run.messages) == 4
