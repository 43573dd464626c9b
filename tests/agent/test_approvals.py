"""Approvals: by whom they are given, and in a history that was somewhere else meanwhile."""

from collections.abc import Callable
from typing import cast

import anyio
import anyio.lowlevel
import pytest
from attrs import evolve

import stepfold as sf
from stepfold.shell import NeedsApproval
from stepfold.testing import ScriptedModel, call, reply

SECRET = "s3cret"


@sf.tool(needs_approval=True)
def pay(cents: int) -> str:
    """Pay."""
    return f"paid {cents}"


def agent_with(secret: str | bytes | None, *replies: sf.ModelReply) -> sf.Agent[object, str]:
    return sf.Agent(model=ScriptedModel(replies), tools=[pay], tool_approval_secret=secret)


async def approved_history(secret: str | bytes | None) -> list[sf.Message]:
    """Let an agent ask, and answer as a client does: in the history."""
    asking = agent_with(secret, reply(call(pay, {"cents": 5}, id="c1")))
    run = await asking.generate("Pay five cents.")
    [request] = run.open_approvals
    return [
        *run.messages,
        sf.ToolMessage([sf.ApprovalResponse(request.approval_id, approved=True)]),
    ]


@pytest.mark.parametrize("secret", [SECRET, SECRET.encode()], ids=["text", "bytes"])
async def test_a_signed_history_runs_what_it_approves(secret: str | bytes) -> None:
    """In another process, which has the same secret."""
    run = await agent_with(SECRET, reply("Done.")).generate(await approved_history(secret))

    assert run.results_of(pay) == ("paid 5",)


@pytest.mark.parametrize("secret", [None, "another"])
async def test_a_history_that_is_not_signed_by_this_secret_runs_nothing(secret: str | None) -> None:
    """The run goes on, and the model may ask for the call again."""
    again = reply(call(pay, {"cents": 5}, id="c2"))
    run = await agent_with(SECRET, again).generate(await approved_history(secret))

    assert run.results_of(pay) == ()
    assert [request.call.tool_call_id for request in run.open_approvals] == ["c2"]


async def test_changed_arguments_are_refused_whatever_digest_stands_beside_them() -> None:
    """Who forges arguments can forge their digest, and cannot sign."""
    text = '{"cents":500}'
    forged: list[sf.Message] = []
    for message in await approved_history(SECRET):
        if isinstance(message, sf.AssistantMessage):
            message = sf.AssistantMessage(  # noqa: PLW2901
                evolve(part, input=text)
                if isinstance(part, sf.ToolCall)
                else evolve(part, digest=sf.JsonText(text).digest())
                if isinstance(part, sf.ApprovalRequest)
                else part
                for part in message.content
            )
        forged.append(message)

    run = await agent_with(SECRET, reply("I could not.")).generate(forged)

    assert run.results_of(pay) == ()


@pytest.mark.parametrize("secret", ["", 12345678])
def test_a_secret_that_is_none_is_refused_at_once(secret: str) -> None:
    """The text names the argument, and does not show what came."""
    with pytest.raises(sf.UsageError, match="tool_approval_secret: expected") as caught:
        agent_with(secret)

    assert "12345678" not in str(caught.value)


def test_no_agent_shows_its_secret() -> None:
    """A program is shown in tracebacks."""
    agent = agent_with(SECRET)

    assert SECRET not in repr(agent)
    assert SECRET not in repr(agent.program)
    assert SECRET not in repr(vars(agent))


# --- a rule of the tool's own -----------------------------------------------------------------


def is_much(context: sf.ApprovalContext[object]) -> bool:
    match context.input:
        case {"cents": int(cents)}:
            return cents > 100
        case _:
            return True


async def is_much_later(context: sf.ApprovalContext[object]) -> bool:
    await anyio.lowlevel.checkpoint()
    return is_much(context)


def broken(context: sf.ApprovalContext[object]) -> bool:
    raise RuntimeError(context.call.tool_name)


def careful(rule: NeedsApproval) -> sf.AnyTool[object, str]:
    """Pay, after a person has agreed where the rule wants it."""

    @sf.tool(name="pay", needs_approval=rule)
    def careful_pay(cents: int) -> str:
        return f"paid {cents}"

    return careful_pay


def paying(*cents: int) -> sf.ModelReply:
    return reply(*(call("pay", {"cents": each}, id=f"c{each}") for each in cents))


@pytest.mark.parametrize("rule", [is_much, is_much_later])
async def test_a_tool_may_say_which_calls_need_a_person(rule: NeedsApproval) -> None:
    """The others run; the answers go the same way as always."""
    model = ScriptedModel([paying(5, 500), reply("Done.")])
    agent = sf.Agent(model=model, tools=[careful(rule)])
    run = await agent.generate("Pay.")

    assert [request.call.tool_call_id for request in run.open_approvals] == ["c500"]

    answered = await agent.answer(run, [sf.approve(run.open_approvals[0])])
    assert [part.output for part in answered.steps[0].tool_results] == [sf.TextOutput("paid 5")]
    assert answered.unwrap() == "Done."


async def test_a_rule_that_fails_denies() -> None:
    """The model is told the kind of the exception, and not its text."""
    model = ScriptedModel([paying(5), reply("So not.")])
    run = await sf.Agent(model=model, tools=[careful(broken)]).generate("Pay.")

    assert [part.output for part in run.steps[0].tool_results] == [
        sf.DeniedOutput("the policy failed: RuntimeError")
    ]


@pytest.mark.parametrize("decides", ["policy", "rule"])
async def test_the_agent_decides_before_the_tool_does(decides: str) -> None:
    """The first that is there decides alone: the policy, the rule for the tool, the tool's own."""
    asked: list[str] = []

    def never(context: sf.ApprovalContext[object]) -> bool:
        asked.append(context.call.tool_call_id)
        return True

    def lenient(_: sf.ApprovalContext[object]) -> sf.Verdict:
        return sf.Verdict("approved")

    agent = sf.Agent(
        model=ScriptedModel([paying(5), reply("Done.")]),
        tools=[careful(never)],
        tool_approval=lenient if decides == "policy" else {"pay": lenient},
    )

    assert (await agent.generate("Pay.")).unwrap() == "Done."
    assert asked == []


async def test_a_rule_is_asked_again_about_a_history() -> None:
    """It cannot take back what a person has agreed to; one that fails now denies."""
    asking = sf.Agent(model=ScriptedModel([paying(500)]), tools=[careful(is_much)])
    run = await asking.generate("Pay.")
    answer = sf.ApprovalResponse(run.open_approvals[0].approval_id, approved=True)
    history = [*run.messages, sf.ToolMessage([answer])]
    steps: list[int] = []

    def noted(context: sf.ApprovalContext[object]) -> bool:
        steps.append(context.step)
        return True

    agreed = sf.Agent(model=ScriptedModel([reply("Done.")]), tools=[careful(noted)])
    refused = sf.Agent(model=ScriptedModel([reply("So not.")]), tools=[careful(broken)])

    assert results(await agreed.generate(history)) == [sf.TextOutput("paid 500")]
    assert steps == [-1]
    assert results(await refused.generate(history)) == [
        sf.DeniedOutput("the policy failed: RuntimeError")
    ]


def results(run: sf.Run[str]) -> list[sf.ToolOutput]:
    """List what the model was told of each call."""
    return [
        part.output
        for message in run.messages
        if isinstance(message, sf.ToolMessage)
        for part in message.content
        if isinstance(part, sf.ToolResult)
    ]


def test_what_is_no_rule_is_refused_where_the_tool_is_made() -> None:
    """The text names the tool."""
    untyped = cast("Callable[..., Callable[[Callable[[], str]], object]]", sf.tool)

    with pytest.raises(sf.UsageError, match="tool idle: expected needs_approval to be True, False"):

        @untyped(needs_approval="always")
        def idle() -> str:
            return ""


@pytest.mark.parametrize(
    ("decision", "reason", "told"),
    [("perhaps", None, "expected one of 'not-applicable'"), ("denied", 5, "expected a text as")],
)
def test_a_verdict_is_one_of_four(decision: str, reason: object, told: str) -> None:
    """It goes into the journal as it is."""
    verdict = cast("Callable[..., sf.Verdict]", sf.Verdict)

    with pytest.raises(sf.UsageError, match=told):
        verdict(decision, reason=reason)


# --- a decision that comes from elsewhere -----------------------------------------------------


async def test_a_policy_may_wait_for_somebody_and_other_calls_of_the_step_wait_with_it() -> None:
    """Nothing runs before all calls of a step are decided; each is asked about at once."""
    decided, ran = anyio.Event(), list[int]()
    waiting: list[str] = []

    async def elsewhere(context: sf.ApprovalContext[object]) -> sf.Verdict:
        waiting.append(context.call.tool_call_id)
        if len(waiting) == 2:
            assert ran == []
            decided.set()
        await decided.wait()
        return sf.Verdict("approved", reason="by the desk")

    @sf.tool
    async def note(cents: int) -> str:
        ran.append(cents)
        return "noted"

    model = ScriptedModel(
        [reply(*(call(note, {"cents": each}) for each in (1, 2))), reply("Done.")]
    )
    run = await sf.Agent(model=model, tools=[note], tool_approval=elsewhere).generate("Pay.")

    assert run.unwrap() == "Done."
    assert sorted(ran) == [1, 2]
    answers = [part for part in run.steps[0].content if isinstance(part, sf.ApprovalResponse)]
    assert [answer.reason for answer in answers] == ["by the desk"] * 2


async def never_decides(_: sf.ApprovalContext[object]) -> sf.Verdict:
    await anyio.sleep_forever()
    raise AssertionError


@pytest.mark.parametrize("how", ["generate", "stream"])
async def test_a_run_can_be_cancelled_while_a_policy_decides(how: str) -> None:
    """The call is closed, so that the history can be sent again."""
    handle = sf.CancelHandle()

    async def deciding(context: sf.ApprovalContext[object]) -> sf.Verdict:
        handle("enough")
        return await never_decides(context)

    agent = sf.Agent(
        model=ScriptedModel([reply(call(pay, {"cents": 5}))]), tools=[pay], tool_approval=deciding
    )
    if how == "generate":
        run = await agent.generate("Pay.", cancel=handle)
    else:
        async with agent.stream("Pay.", cancel=handle) as stream:
            run = await stream.run()

    assert run.end == sf.Cancelled("enough")
    assert [error.kind for error in run.steps[0].tool_errors] == ["interrupted"]
    assert sf.inspect_history(run.messages) == ()


@pytest.mark.parametrize("limits", [sf.Timeouts(total=0.05), sf.Timeouts(step=0.05)])
async def test_the_time_of_a_run_is_over_while_a_policy_decides(limits: sf.Timeouts) -> None:
    """A policy has no time limit of its own: it counts towards those of the step and the run."""
    agent = sf.Agent(
        model=ScriptedModel([reply(call(pay, {"cents": 5}))]),
        tools=[pay],
        tool_approval=never_decides,
        timeout=limits,
    )
    run = await agent.generate("Pay.")

    assert isinstance(run.end, sf.Stopped)
    assert run.end.stop.name.startswith("timeout-")
    assert [error.kind for error in run.steps[0].tool_errors] == ["interrupted"]


async def test_a_cancellation_from_outside_ends_a_policy_and_goes_through() -> None:
    """The caller of an outer scope gets no run, as for any other wait."""
    agent = sf.Agent(
        model=ScriptedModel([reply(call(pay, {"cents": 5}))]),
        tools=[pay],
        tool_approval=never_decides,
    )
    journal = sf.MemoryJournal()
    with anyio.move_on_after(0.05) as scope:
        await agent.generate("Pay.", journal=journal)

    assert scope.cancelled_caught
    assert isinstance(journal.entries[-1].event, sf.events.Cancelled)


def test_a_policy_that_waits_needs_an_event_loop() -> None:
    """Without one it must not look as if it had denied."""
    agent = sf.Agent(
        model=ScriptedModel([reply(call(pay, {"cents": 5}))]),
        tools=[pay],
        tool_approval=never_decides,
    )
    first = sf.begin(agent.program, "Pay.", run="r", seed=0, at=0)

    with pytest.raises(sf.UsageError, match="event loop"):
        sf.drive_sync(agent.program, first, agent.runtime())


# --- the provider's own requests --------------------------------------------------------------

MAIL = sf.ToolCall("mcpr_1", "mail", '{"to":"Ann"}', provider_executed=True)
MAY_IT = reply("May I?", MAIL, sf.ApprovalRequest("mcpr_1", "mcpr_1"))


@pytest.mark.parametrize("approved", [True, False])
async def test_a_provider_that_asks_is_answered_by_a_person(approved: bool) -> None:
    """The run rests, and the model hears the answer; no tool of that name runs here."""

    @sf.tool
    def mail(to: str) -> str:
        raise AssertionError(to)

    model = ScriptedModel([MAY_IT, reply("So be it.")])
    agent = sf.Agent(model=model, tools=[mail])
    blocked = await agent.generate("Write to Ann.")
    [request] = blocked.open_approvals
    assert isinstance(blocked.end, sf.Blocked)

    answer = sf.approve(request) if approved else sf.deny(request)
    run = await agent.answer(blocked, [answer])

    told = sf.ApprovalResponse("mcpr_1", approved=approved, provider_executed=True)
    assert sf.ToolMessage((told,)) == model.requests[-1].messages[-1]
    assert run.output.unwrap() == "So be it."


async def test_a_run_rests_for_the_provider_however_it_is_driven() -> None:
    """The sync and async drivers and the stream make one run; the stream shows the question."""

    def asking() -> sf.Agent[object, str]:
        return sf.Agent(model=ScriptedModel([MAY_IT]), tools=[pay])

    plain = await asking().generate("Write to Ann.")
    in_thread = await anyio.to_thread.run_sync(asking().generate_sync, "Write to Ann.")
    async with asking().stream("Write to Ann.") as stream:
        shown = [part async for part in stream]
        streamed = await stream.run()

    assert plain.messages == in_thread.messages == streamed.messages
    assert plain.open_approvals == in_thread.open_approvals == streamed.open_approvals
    asked = [part.request for part in shown if isinstance(part, sf.notes.ApprovalRequested)]
    assert asked == list(streamed.open_approvals)
