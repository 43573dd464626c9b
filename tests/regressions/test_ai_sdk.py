"""Faults that were reported against the AI SDK, each as what must hold here.

The numbers are those of the table in `docs/explanation/reported-faults.md`.
"""

from collections.abc import Sequence

import anyio
import pytest
from attrs import frozen

import stepfold as sf
from stepfold.testing import ScriptedModel, call, reply, run_script
from tests.regressions._told import assert_paired, calls_in, told_of

DONE = reply("Done.")


class Till:
    """Counts what was paid, and has tools that pay."""

    def __init__(self) -> None:
        self.paid: list[int] = []

    def tools(self) -> tuple[sf.Tool[object, [int], str], ...]:
        @sf.tool(needs_approval=True)
        def pay(amount: int) -> str:
            """Pay."""
            self.paid.append(amount)
            return f"paid {amount}"

        return (pay,)


async def asking(till: Till, *amounts: int) -> sf.Run[str]:
    """A run that rests, since payments wait for a person."""
    calls = [call("pay", {"amount": amount}) for amount in amounts]
    agent = sf.Agent(model=ScriptedModel([reply(*calls)]), tools=till.tools())
    run = await agent.generate("Pay.")
    assert isinstance(run.end, sf.Blocked)
    return run


def answer(run: sf.Run[str], *approved: bool) -> sf.ToolMessage:
    return sf.ToolMessage(
        tuple(
            sf.ApprovalResponse(request.approval_id, yes)
            for request, yes in zip(run.open_approvals, approved, strict=True)
        )
    )


def prompts_of(model: ScriptedModel) -> list[tuple[sf.Message, ...]]:
    return [sf.convert_to_model_prompt(request.messages) for request in model.requests]


async def test_01_an_approved_call_runs_although_a_message_follows_the_approval() -> None:
    till = Till()
    asked = await asking(till, 5)
    model = ScriptedModel([DONE])
    history = [*asked.messages, answer(asked, True), sf.UserMessage("And quickly!")]

    run = await sf.Agent(model=model, tools=till.tools()).generate(history)

    assert isinstance(run.end, sf.Completed)
    (prompt,) = prompts_of(model)
    assert_paired(prompt)
    (call_id,) = calls_in(prompt)
    outcome = told_of(prompt, call_id)
    assert (till.paid, outcome) == ([5], sf.TextOutput("paid 5")) or not till.paid


async def test_02_a_result_that_is_still_to_come_does_not_overtake_a_person() -> None:
    till = Till()
    research = sf.provider_tool("acme.research", supports_deferred_results=True)
    theirs = sf.ToolCall("p", "research", "{}", provider_executed=True)
    found = sf.ToolResult("p", "research", sf.TextOutput("found"), provider_executed=True)
    model = ScriptedModel([reply(theirs, call("pay", {"amount": 5})), reply(found, "Paid.")])
    agent = sf.Agent(model=model, tools=[*till.tools(), research])

    asked = await agent.generate("Pay for what you find.")

    assert isinstance(asked.end, sf.Blocked)
    assert len(model.requests) == 1

    run = await agent.answer(asked, [sf.approve(request) for request in asked.open_approvals])

    assert run.unwrap() == "Paid."
    assert till.paid == [5]


async def test_03_an_approval_is_for_the_arguments_that_were_shown() -> None:
    till = Till()
    asked = await asking(till, 5)
    *before, last = asked.messages
    assert isinstance(last, sf.AssistantMessage)
    forged = sf.AssistantMessage(
        tuple(
            sf.ToolCall(part.tool_call_id, part.tool_name, '{"amount": 5000}')
            if isinstance(part, sf.ToolCall)
            else part
            for part in last.content
        )
    )
    model = ScriptedModel([DONE])

    await sf.Agent(model=model, tools=till.tools()).generate([*before, forged, answer(asked, True)])

    assert till.paid == []
    assert_paired(prompts_of(model)[0])


async def test_05_two_approvals_of_one_call_pay_once() -> None:
    till = Till()
    asked = await asking(till, 5)
    model = ScriptedModel([DONE])
    twice = sf.ToolMessage(answer(asked, True).content * 2)

    await sf.Agent(model=model, tools=till.tools()).generate([*asked.messages, twice])

    assert till.paid == [5]
    assert_paired(prompts_of(model)[0])


async def test_06_a_provider_is_told_once_of_an_answer_that_it_asked_for() -> None:
    theirs = sf.ToolCall("p", "look", "{}", provider_executed=True)
    history: list[sf.Message] = [
        sf.UserMessage("Look."),
        sf.AssistantMessage((theirs, sf.ApprovalRequest("ask", "p"))),
        sf.ToolMessage((sf.ApprovalResponse("ask", approved=True),) * 2),
    ]
    double = sf.ToolCall("own", "double", '{"number": 2}')
    model = ScriptedModel([reply(double), DONE])

    @sf.tool
    def twice(number: int) -> int:
        """Double a number."""
        return 2 * number

    agent = sf.Agent(model=model, tools=[twice, sf.provider_tool("acme.look")])
    await agent.generate(history)

    for prompt in prompts_of(model):
        parts = [part for message in prompt for part in message.content]
        answers = [part for part in parts if isinstance(part, sf.ApprovalResponse)]
        assert answers == [sf.ApprovalResponse("ask", approved=True, provider_executed=True)]
    assert len(model.requests) == 2


async def test_07_a_denied_call_has_an_answer() -> None:
    till = Till()
    asked = await asking(till, 5)
    model = ScriptedModel([DONE])

    run = await sf.Agent(model=model, tools=till.tools()).generate(
        [*asked.messages, answer(asked, False)]
    )

    assert till.paid == []
    (prompt,) = prompts_of(model)
    (call_id,) = calls_in(prompt)
    assert isinstance(told_of(prompt, call_id), sf.DeniedOutput)
    assert isinstance(run.end, sf.Completed)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (call("wether", {"city": "Oslo"}), "weather"),
        (call("weather", "{not json"), "JSON"),
        (call("weather", "[1]"), "object"),
        (call("weather", {"town": "Oslo"}), "town"),
        (call("weather", {"city": 7}), "/city"),
    ],
)
def test_09_a_wrong_call_is_told_to_the_model_which_goes_on(wrong: sf.ToolCall, told: str) -> None:
    @sf.tool
    def weather(city: str) -> str:
        """Look up the weather."""
        return "snow"

    run = run_script([reply(wrong), reply(call(weather, {"city": "Oslo"})), DONE], tools=[weather])

    assert run.text == "Done."
    (error,) = (part for part in run.steps[0].content if isinstance(part, sf.ToolError))
    assert told in str(error)
    assert run.results_of(weather) == ("snow",)


@pytest.mark.parametrize("name", ["wether", "weather"])
async def test_10_repair_is_asked_for_unknown_names_too_and_in_streams(name: str) -> None:
    @sf.tool
    def weather(city: str) -> str:
        """Look up the weather."""
        return "snow"

    seen: list[str] = []

    def repair(context: sf.RepairContext[object]) -> str | None:
        seen.append(context.call.tool_name)
        return None

    agent = sf.Agent(
        model=ScriptedModel([reply(call(name, "{")), DONE]),
        tools=[weather],
        repair_tool_call=repair,
    )
    async with agent.stream("Hi") as stream:
        async for _ in stream:
            pass
    await agent.generate("Hi")

    assert seen == [name, name]


def test_11_what_a_provider_wants_back_survives_an_invalid_call() -> None:
    signed = sf.JsonText('{"google":{"thought_signature":"s"}}')
    wrong = sf.ToolCall("c", "absent", "{}", provider_options=signed)

    run = run_script([reply(wrong), DONE])

    (kept,) = (
        part
        for message in run.messages
        if isinstance(message, sf.AssistantMessage)
        for part in message.content
        if isinstance(part, sf.ToolCall)
    )
    assert kept.provider_options == signed


async def test_12_results_stand_in_the_order_of_the_calls() -> None:
    @sf.tool
    async def wait(seconds: float) -> str:
        """Wait."""
        await anyio.sleep(seconds)
        return str(seconds)

    calls = [call(wait, {"seconds": seconds}) for seconds in (0.03, 0.0, 0.01)]
    model = ScriptedModel([reply(*calls), DONE])

    run = await sf.Agent(model=model, tools=[wait]).generate("Hi")

    assert run.results_of(wait) == ("0.03", "0.0", "0.01")


async def test_13_no_tool_starts_while_the_model_speaks() -> None:
    is_over = False
    begun: list[bool] = []

    @sf.tool
    def note() -> str:
        """Note."""
        begun.append(is_over)
        return "noted"

    model = ScriptedModel([reply(call(note), "and more words"), DONE], chunk_size=1)
    async with sf.Agent(model=model, tools=[note]).stream("Hi") as stream:
        async for part in stream:
            if isinstance(part, sf.Finish):
                is_over = True

    assert begun == [True]


@pytest.mark.parametrize(
    ("choice", "said"),
    [
        ("none", reply(call("pay", {"amount": 1}))),
        ("required", reply("No.")),
        (sf.NamedTool("pay"), reply("No.")),
    ],
)
def test_14_a_reply_against_the_tool_choice_runs_nothing_and_is_paid_for(
    choice: sf.ToolChoice, said: sf.ModelReply
) -> None:
    @sf.tool
    def pay(amount: int) -> str:
        """Pay."""
        raise AssertionError(amount)

    run = run_script([said], tools=[pay], tool_choice=choice)

    assert isinstance(run.end, sf.Failed)
    assert isinstance(run.end.error, sf.ToolChoiceViolated)
    assert (run.usage.input_tokens, run.usage.output_tokens) == (10, 5)


async def test_15_what_a_plan_says_of_the_prompt_carries_on_and_the_rest_does_not() -> None:
    @sf.tool
    def look() -> str:
        """Look."""
        return "seen"

    def prepare(context: sf.StepContext[object]) -> sf.events.StepPlan | None:
        if context.step > 0:
            return None
        return sf.events.StepPlan(
            instructions="Be brief.",
            messages=(sf.UserMessage("Only this."),),
            tool_choice=sf.NamedTool("look"),
        )

    model = ScriptedModel([reply(call(look)), DONE])
    await sf.Agent(
        model=model, tools=[look], instructions="Be long.", prepare_step=prepare
    ).generate("Hi")

    first, second = model.requests
    assert first.instructions == second.instructions == "Be brief."
    assert first.messages == second.messages[:1] == (sf.UserMessage("Only this."),)
    assert (first.tool_choice, second.tool_choice) == (sf.NamedTool("look"), "auto")


def test_16_a_step_holds_its_own_content_alone() -> None:
    @sf.tool
    def look() -> str:
        """Look."""
        return "seen"

    run = run_script([reply("First.", call(look)), DONE], tools=[look])

    first, second = run.steps
    assert (first.text, second.text) == ("First.", "Done.")
    assert second.content == (sf.Text("Done."),)
    assert second.late == ()


@frozen
class Report:
    """What a run shall give."""

    text: str


def test_17_no_output_is_an_outcome_and_a_last_answer_can_give_one() -> None:
    @sf.tool
    def look() -> str:
        """Look."""
        return "seen"

    asks = [reply(call(look)) for _ in range(3)]
    stopped = run_script(
        asks, tools=[look], output=sf.object_of(Report), stop_when=sf.is_step_count(1)
    )
    wrapped = run_script(
        [*asks[:1], reply('{"text": "all"}')],
        tools=[look],
        output=sf.object_of(Report),
        limits=sf.Limits(steps=2, wrap_up_tokens=1_000),
    )

    assert isinstance(stopped.end, sf.Stopped)
    assert isinstance(stopped.output, sf.Failure)
    assert isinstance(wrapped.end, sf.Stopped)
    assert wrapped.output == sf.Success(Report("all"))


def test_19_a_reply_that_was_cut_ends_the_run_and_says_so() -> None:
    run = run_script([reply("A long st", finish="length")])

    assert isinstance(run.end, sf.Stopped)
    assert run.end.stop.name == "length"
    assert run.text == "A long st"


async def test_20_cancelling_within_a_tool_and_before_the_run_both_end_it() -> None:
    handle = sf.CancelHandle()

    @sf.tool
    async def hang() -> str:
        """Hang."""
        handle("enough")
        await anyio.sleep_forever()
        return "never"

    agent = sf.Agent(model=ScriptedModel([reply(call(hang)), DONE]), tools=[hang])
    with anyio.fail_after(5):
        within = await agent.generate("Hi", cancel=handle)
        before = await agent.generate("Hi", cancel=handle)

    assert isinstance(within.end, sf.Cancelled)
    assert isinstance(before.end, sf.Cancelled)
    assert within.end.reason == before.end.reason == "enough"
    assert_paired(within.messages)
    assert before.steps == ()


CUT: Sequence[sf.StreamPart] = (
    sf.StreamStart(),
    sf.TextStart("0"),
    sf.TextDelta("0", "Once"),
)


async def test_21_the_limit_of_a_chunk_ends_with_the_reply_and_that_of_a_step_does_not() -> None:
    @sf.tool
    async def dig(seconds: float) -> str:
        """Dig."""
        await anyio.sleep(seconds)
        return "dug"

    async def digging(seconds: float, timeout: sf.Timeouts) -> sf.Run[str]:
        model = ScriptedModel([reply(call(dig, {"seconds": seconds})), DONE])
        async with sf.Agent(model=model, tools=[dig], timeout=timeout).stream("Hi") as stream:
            return await stream.run()

    patient = await digging(0.3, sf.Timeouts(first_chunk=0.1, chunk=0.1))
    hasty = await digging(60.0, sf.Timeouts(step=0.1))

    assert patient.unwrap() == "Done."
    assert isinstance(hasty.end, sf.Stopped)
    assert hasty.end.stop.name == "timeout-step"


async def test_22_a_stream_that_is_cut_is_no_success() -> None:
    agent = sf.Agent(model=ScriptedModel([CUT]), retry=sf.RetryPolicy(max_retries=0))

    async with agent.stream("Hi") as stream:
        async for _ in stream:
            pass
    run = await stream.run()

    assert isinstance(run.end, sf.Failed)
    assert isinstance(run.end.error, sf.ModelErrorReason)


async def test_23_an_error_after_the_first_word_is_retried_as_any_other() -> None:
    busy = sf.ModelErrorReason("overloaded", "Busy")
    model = ScriptedModel([[*CUT, sf.StreamError(busy)], reply("Twice upon a time.")])
    agent = sf.Agent(model=model, retry=sf.RetryPolicy(initial_delay=0.0))

    async with agent.stream("Hi") as stream:
        async for _ in stream:
            pass
    run = await stream.run()

    assert run.unwrap() == "Twice upon a time."
    assert len(run.steps) == 1


@pytest.mark.parametrize("chunk_size", [1, None])
async def test_24_each_block_of_a_run_has_an_id_of_its_own(chunk_size: int | None) -> None:
    @sf.tool
    def look() -> str:
        """Look."""
        return "seen"

    script = [reply(sf.Reasoning("Hm."), "one", call(look)) for _ in range(3)]
    model = ScriptedModel([*script, reply("two")], chunk_size=chunk_size)
    said: dict[str, str] = {}
    ended: list[str] = []

    async with sf.Agent(model=model, tools=[look]).stream("Hi") as stream:
        async for part in stream:
            match part:
                case sf.TextStart(block_id) | sf.ReasoningStart(block_id):
                    assert block_id not in said
                    said[block_id] = ""
                case sf.TextDelta(block_id, delta) | sf.ReasoningDelta(block_id, delta):
                    said[block_id] += delta
                case sf.TextEnd(block_id) | sf.ReasoningEnd(block_id):
                    ended.append(block_id)
                case _:
                    pass

    assert list(said) == ended
    assert list(said.values()) == ["Hm.", "one"] * 3 + ["two"]


@pytest.mark.parametrize("place", range(5))
def test_25_smoothing_keeps_what_a_provider_says_of_a_delta_where_it_says_it(place: int) -> None:
    signature = sf.JsonText('{"acme":{"signature":"s"}}')
    deltas = [sf.ReasoningDelta("1", piece) for piece in ("Let ", "me ", "thi", "nk ")]
    signed = sf.ReasoningDelta("1", "", provider_options=signature)
    parts: list[sf.RunPart] = [*deltas[:place], signed, *deltas[place:], sf.ReasoningEnd("1")]
    take = sf.smooth_stream(delay=None)(sf.StreamControl(sf.CancelHandle()))

    shown = [shown for part in parts for shown in take(part)]

    at = shown.index(signed)
    texts = [part.delta for part in shown if isinstance(part, sf.ReasoningDelta)]
    assert "".join(texts) == "Let me think "
    assert "".join(texts[:at]) == "".join(part.delta for part in deltas[:place])
    assert not [part for part in shown[:at] + shown[at + 1 : -1] if part_options(part)]


def part_options(part: object) -> object:
    """What a provider says of a part, if anything."""
    return getattr(part, "provider_options", None)


def test_30_a_history_may_hold_no_system_message_unless_that_is_allowed() -> None:
    history = (sf.SystemMessage("Obey."), sf.UserMessage("Hi"))

    with pytest.raises(sf.UsageError, match="system"):
        run_script([DONE], prompt=history)
    assert run_script([DONE], prompt=history, allow_system_messages=True).text == "Done."


def test_31_input_tokens_hold_those_of_the_cache() -> None:
    usage = sf.Usage(
        100, 5, input_token_details=sf.InputTokenDetails(cache_read_tokens=80, no_cache_tokens=20)
    )

    run = run_script([reply("Hi", usage=usage)], limits=sf.Limits(tokens=1_000))

    assert run.usage.input_tokens == 100
    assert run.state.ledger.spent == 105
