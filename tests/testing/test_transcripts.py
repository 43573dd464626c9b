"""Golden transcripts of the main behaviours: read as text, reviewed as diffs.

`pytest tests/testing/test_transcripts.py --rewrite-transcripts` writes them anew; keep a change
only if you can say why it is right.
"""

from pathlib import Path

import anyio
import pytest
from attrs import frozen

import stepfold as sf
from stepfold.loop.commands import CallKey
from stepfold.loop.notes import ToolFinished
from stepfold.testing import ScriptedModel, Transcript, VirtualClock, call, reply
from stepfold.testing import transcript as text_of
from stepfold.values import ModelErrorReason, ToolCall, ToolResult

pytestmark = pytest.mark.no_network

LATER = ModelErrorReason("rate-limit", "slow down", retry_after=2_000_000_000)


@frozen
class City:
    """A city."""

    name: str
    people: int


@sf.tool
def weather(city: str) -> str:
    """Look up the weather."""
    return f"sunny in {city}"


@sf.tool
def broken(city: str) -> str:
    """Look up what is not there."""
    raise ValueError(city)


@sf.tool(needs_approval=True)
def pay(cents: int) -> str:
    """Pay somebody."""
    return f"paid {cents}"


@sf.client_tool
def confirm(question: str) -> bool:
    """Ask the person in front of the screen."""
    raise NotImplementedError


def agent(*script: object, **options: object) -> sf.Agent:
    model = ScriptedModel(list(script))  # type: ignore[arg-type]
    tools = [weather, broken, pay, confirm]
    return sf.Agent(model=model, tools=tools, **options)  # type: ignore[arg-type]


def ran(seen: Transcript, *script: object, **options: object) -> sf.Run[str]:
    clock = VirtualClock()
    return agent(*script, **options).generate_sync("Hello", observers=[seen], clock=clock)


def test_text_alone(transcript: Transcript) -> None:
    transcript.check(ran(transcript, reply("Hi.\nHow are you?")))


def test_one_tool(transcript: Transcript) -> None:
    asked = reply("Let me see.", call(weather, {"city": "Oslo"}))
    transcript.check(ran(transcript, asked, reply("It is sunny.")))


def test_parallel_tools_one_of_which_fails(transcript: Transcript) -> None:
    cities = [call(weather, {"city": city}) for city in ("Oslo", "Rome")]
    asked = reply(cities[0], call(broken, {"city": "Ys"}), cities[1])
    transcript.check(ran(transcript, asked, reply("Sunny in both.")))


def test_arguments_that_are_wrong(transcript: Transcript) -> None:
    asked = reply(call(weather, '{"city":'), call(weather, {"town": "Oslo"}), call("wether"))
    transcript.check(ran(transcript, asked, reply("Sorry.")))


def test_an_approval_that_is_waited_for(transcript: Transcript) -> None:
    transcript.check(ran(transcript, reply(call(pay, {"cents": 5}))))


@pytest.mark.parametrize("agreed", [True, False], ids=["given", "denied"])
async def test_an_approval(transcript: Transcript, agreed: bool) -> None:
    buyer = agent(reply(call(pay, {"cents": 5}, id="c1")), reply("So be it."))
    blocked = await buyer.generate("Buy.", observers=[transcript], clock=VirtualClock())
    [request] = blocked.open_approvals
    answer = sf.approve(request) if agreed else sf.deny(request, reason="too much")
    run = await buyer.answer(blocked, [answer], observers=[transcript], clock=VirtualClock())

    transcript.check(run)


async def test_a_tool_of_the_client(transcript: Transcript) -> None:
    asker = agent(reply(call(confirm, {"question": "Shall I?"}, id="c1")), reply("Done."))
    blocked = await asker.generate("Ask me.", observers=[transcript], clock=VirtualClock())
    assert isinstance(blocked.end, sf.Blocked)
    [request] = blocked.end.open
    answer = sf.tool_output(request, True)  # type: ignore[arg-type]
    run = await asker.answer(blocked, [answer], observers=[transcript], clock=VirtualClock())

    transcript.check(run)


def test_retries(transcript: Transcript) -> None:
    transcript.check(ran(transcript, LATER, reply("At last.")))


def test_retries_that_are_used_up(transcript: Transcript) -> None:
    with pytest.raises(sf.RunFailed) as failed:
        ran(transcript, LATER, LATER, retry=sf.RetryPolicy(max_retries=1))

    transcript.check(failed.value.run)


def test_a_reply_that_is_cut_runs_nothing(transcript: Transcript) -> None:
    cut = reply("I will", call(weather, {"city": "Oslo"}), finish="length")
    transcript.check(ran(transcript, cut))


def test_a_stop_condition(transcript: Transcript) -> None:
    asked = [reply(call(weather, {"city": "Oslo"})) for _ in range(2)]
    transcript.check(ran(transcript, *asked, stop_when=sf.is_step_count(2)))


def test_a_limit_with_a_last_answer(transcript: Transcript) -> None:
    asked = reply(call(weather, {"city": "Oslo"}))
    limits = sf.Limits(steps=2, wrap_up_tokens=200)
    last = reply("That is all I know.")
    transcript.check(ran(transcript, asked, last, limits=limits))


def test_a_limit_of_tool_calls(transcript: Transcript) -> None:
    asked = reply(*(call(weather, {"city": city}) for city in ("Oslo", "Rome", "Bonn")))
    limits = sf.Limits(tool_calls=2)
    transcript.check(ran(transcript, asked, limits=limits))


def test_structured_output_that_is_asked_for_again(transcript: Transcript) -> None:
    wrong, right = '{"name":"Oslo","people":"many"}', '{"name":"Oslo","people":717710}'
    model = ScriptedModel([reply(wrong), reply(right)])
    asker = sf.Agent(model=model, output=sf.object_of(City, retries=1))
    run = asker.generate_sync("Oslo?", observers=[transcript], clock=VirtualClock())

    transcript.check(run)


def test_a_tool_of_the_provider(transcript: Transcript) -> None:
    search = sf.provider_tool("scripted.search")
    asked = ToolCall("s1", "search", '{"query":"tides"}', provider_executed=True)
    found = ToolResult("s1", "search", sf.TextOutput("12 papers"), provider_executed=True)
    model = ScriptedModel([reply(asked, found, "There are twelve.")])
    run = sf.Agent(model=model, tools=[search]).generate_sync("Find.", observers=[transcript])

    transcript.check(run)


def test_steering(transcript: Transcript) -> None:
    steering = sf.Steering()

    @sf.tool
    def listen(topic: str) -> str:
        """Hear what people say meanwhile."""
        steering.steer("Be brief, please.")
        return topic

    model = ScriptedModel([reply(call(listen, {"topic": "tides"})), reply("High."), reply("Low.")])
    steering.queue("And now?")
    speaker = sf.Agent(model=model, tools=[listen])
    run = speaker.generate_sync("Tides?", steering=steering, observers=[transcript])

    transcript.check(run)


async def test_cancel(transcript: Transcript) -> None:
    cancel = sf.CancelHandle()

    @sf.tool
    async def wait(hours: int) -> str:
        """Wait for long."""
        if hours:
            cancel("nobody waits any more")
            await anyio.sleep(3_600)
        return "waited"

    asked = reply(call(wait, {"hours": 0}), call(wait, {"hours": 9}))
    waiter = sf.Agent(model=ScriptedModel([asked]), tools=[wait])
    run = await waiter.generate("Wait.", cancel=cancel, observers=[transcript])

    transcript.check(run)


def test_an_agent_within_a_tool(transcript: Transcript) -> None:
    inner = sf.Agent(model=ScriptedModel([reply("Cats purr.", usage=(700, 40))]))

    @sf.tool(grant=sf.Limits(tokens=2_000))
    async def research(context: sf.ToolContext[object], topic: str) -> str:
        """Look into a topic."""
        return (await inner.generate(topic, parent=context)).unwrap()

    model = ScriptedModel([reply(call(research, {"topic": "cats"})), reply("They purr.")])
    outer = sf.Agent(model=model, tools=[research], limits=sf.Limits(tokens=9_000))

    transcript.check(outer.generate_sync("Cats?", observers=[transcript]))


# --- the transcript itself --------------------------------------------------------------------


def test_equal_runs_have_equal_transcripts_whatever_they_are_called() -> None:
    def told(name: str) -> str:
        script = [reply(call(pay, {"cents": 5}))]
        return text_of(agent(*script).generate_sync("Hello", run_id=name))

    assert told("one") == told("two-of-them") == told("i")


def test_tools_side_by_side_may_end_in_any_order() -> None:
    asked = reply(*(call(weather, {"city": city}) for city in ("Oslo", "Rome")))
    run = agent(asked, reply("Sunny.")).generate_sync("Hello", run_id="r")
    one, two = (
        ToolFinished(CallKey(0, index, 0), ToolResult(f"c{index}", "weather", sf.TextOutput("")))
        for index in (0, 1)
    )

    assert text_of(run, notes=[one, two]) == text_of(run, notes=[two, one])
    assert text_of(run, notes=[one, one]) != text_of(run, notes=[two, one])


def test_a_difference_is_shown_line_by_line(tmp_path: Path) -> None:
    kept = tmp_path / "a" / "it.txt"
    run, other = (ran(Transcript(kept), reply(text)) for text in ("Hi", "Bye"))
    with pytest.raises(AssertionError, match="no transcript is kept at"):
        Transcript(kept).check(run)
    Transcript(kept, rewrites=True).check(run)
    Transcript(kept).check(run)

    with pytest.raises(AssertionError, match=r"(?s)--rewrite-transcripts.*\n-  assistant: Hi\n\+"):
        Transcript(kept).check(other)
