"""Transforms change what a stream shows, and nothing that is recorded."""

import re
from collections.abc import Iterable, Sequence

import pytest

from stepfold.agent import (
    Agent,
    PartTransform,
    Pause,
    StreamControl,
    StreamTransform,
    array_of,
    smooth_stream,
    stream_text,
)
from stepfold.agent._smooth import Chunking
from stepfold.loop.notes import RunEnded, StepStarted
from stepfold.shell import CancelHandle, RunPart
from stepfold.testing import ScriptedModel, VirtualClock, reply
from stepfold.values import (
    Cancelled,
    Completed,
    JsonText,
    Ping,
    ReasoningDelta,
    TextDelta,
    TextEnd,
    UsageError,
)


def unmoved(_: StreamControl) -> PartTransform:
    """Show everything as it is."""
    return lambda part: (part,)


def loud(_: StreamControl) -> PartTransform:
    """Show text in capitals."""

    def take(part: RunPart) -> Iterable[RunPart]:
        if isinstance(part, TextDelta):
            return (TextDelta(part.id, part.delta.upper()),)
        return (part,)

    return take


def twice(_: StreamControl) -> PartTransform:
    """Show text twice."""
    return lambda part: (part, part) if isinstance(part, TextDelta) else (part,)


def until(word: str) -> StreamTransform:
    """End the run at a word."""

    def made(control: StreamControl) -> PartTransform:
        def take(part: RunPart) -> Iterable[RunPart]:
            if isinstance(part, TextDelta) and word in part.delta:
                control.stop_stream("enough")
                return ()
            return (part,)

        return take

    return made


def agent_of(text: str, chunk_size: int = 4) -> Agent[object, str]:
    return Agent(model=ScriptedModel([reply(text)], chunk_size=chunk_size))


async def test_what_is_shown_is_transformed_and_what_is_recorded_is_not() -> None:
    """The first transform is the first to see a part."""
    async with agent_of("It is warm.").stream("Go.", transform=[loud, twice]) as stream:
        shown = [piece async for piece in stream.text()]
        run = await stream.run()

    assert shown[:2] == ["IT I", "IT I"]
    assert run.text == "It is warm."
    assert run.end == Completed("It is warm.")


async def test_a_transform_that_changes_nothing_is_none() -> None:
    async with agent_of("It is warm.").stream("Go.", run_id="r", seed=1) as stream:
        plain = [part async for part in stream]
    agent = agent_of("It is warm.")
    async with agent.stream("Go.", transform=unmoved, run_id="r", seed=1) as stream:
        moved = [part async for part in stream]

    assert [type(part) for part in moved] == [type(part) for part in plain]


async def test_each_stream_has_transforms_of_its_own() -> None:
    """So that one may keep what it has seen."""
    made: list[StreamControl] = []

    def kept(control: StreamControl) -> PartTransform:
        made.append(control)
        return lambda part: (part,)

    agent = agent_of("Hello.")
    for _ in range(2):
        async with agent.stream("Go.", transform=kept) as stream:
            await stream.run()

    assert len(made) == 2


async def test_a_transform_may_end_the_run() -> None:
    """What was shown until then stays, and the end is told."""
    async with agent_of("one two three four").stream("Go.", transform=until("thr")) as stream:
        parts = [part async for part in stream]
        run = await stream.run()

    assert run.end == Cancelled("enough")
    assert run.text.startswith("one two")
    assert isinstance(parts[-1], RunEnded)
    assert "".join(part.delta for part in parts if isinstance(part, TextDelta)) == "one two "


async def test_a_stream_with_transforms_may_be_left_early() -> None:
    """Nothing is left open; what was taken is kept."""
    async with agent_of("one two three").stream("Go.", transform=smooth_stream()) as stream:
        async for piece in stream.text():
            assert piece == "one "
            break
    run = await stream.run()

    assert run.end == Cancelled("the stream was left")


async def test_elements_come_through_transforms_too() -> None:
    model = ScriptedModel([reply('{"elements": [1, 22, 333]}')], chunk_size=3)
    stream = stream_text(
        "Go.", model=model, output=array_of(int), transform=smooth_stream(delay=None)
    )
    async with stream:
        assert [element async for element in stream.elements()] == [1, 22, 333]


def test_a_transform_has_to_be_a_function() -> None:
    with pytest.raises(UsageError, match="transform: expected a function, got 3"):
        agent_of("Hello.").stream("Go.", transform=[3])  # type: ignore[list-item]


async def test_generating_has_nothing_to_transform() -> None:
    with pytest.raises(UsageError, match="got 'transform'"):
        await agent_of("Hello.").generate("Go.", transform=loud)  # type: ignore[call-overload]


# --- smooth_stream ----------------------------------------------------------------------------


def smoothed(parts: Sequence[RunPart], chunking: Chunking = "word") -> list[RunPart]:
    take = smooth_stream(delay=None, chunking=chunking)(StreamControl(CancelHandle()))
    return [shown for part in parts for shown in take(part) if not isinstance(shown, Pause)]


def words(*deltas: str, chunking: Chunking = "word") -> list[str]:
    parts: list[RunPart] = [*(TextDelta("1", delta) for delta in deltas), TextEnd("1")]
    return [part.delta for part in smoothed(parts, chunking) if isinstance(part, TextDelta)]


def test_text_is_shown_word_by_word() -> None:
    assert words("Hel", "lo the", "re, you", " two") == ["Hello ", "there, ", "you ", "two"]
    assert words("one two three ", "four") == ["one ", "two ", "three ", "four"]
    assert words("  a", "", "  b") == ["  a  ", "b"]


def test_text_is_shown_in_other_chunks_too() -> None:
    assert words("a\nb c", "\n\nd", chunking="line") == ["a\n", "b c\n\n", "d"]
    assert words("a_b__c", chunking=re.compile("_")) == ["a_", "b_", "_", "c"]
    assert words("abcde", chunking=lambda text: text[:2] if len(text) > 1 else None) == [
        *("ab", "cd", "e"),
    ]


def test_whatever_else_comes_lets_go_of_what_is_held() -> None:
    """But a ping; the order stays what it was."""
    note = StepStarted(0, "a/b")
    parts: list[RunPart] = [
        TextDelta("1", "ab"),
        Ping(),
        TextDelta("1", "cd"),
        note,
        TextDelta("1", "ef"),
        TextDelta("2", "gh"),
        ReasoningDelta("2", "ij"),
        TextEnd("1"),
    ]

    assert smoothed(parts) == [
        Ping(),
        TextDelta("1", "abcd"),
        note,
        TextDelta("1", "ef"),
        TextDelta("2", "gh"),
        ReasoningDelta("2", "ij"),
        TextEnd("1"),
    ]


def test_a_delta_with_options_is_joined_with_none() -> None:
    """They say something about this one; an empty one passes at once."""
    signed = ReasoningDelta("1", "", provider_options=JsonText('{"acme":{}}'))
    parts: list[RunPart] = [ReasoningDelta("1", "ab"), signed, ReasoningDelta("1", "cd ")]

    assert smoothed(parts) == [
        ReasoningDelta("1", "ab"),
        signed,
        ReasoningDelta("1", "cd "),
    ]


async def test_there_is_a_pause_after_each_chunk() -> None:
    """On the clock of the run: what is let go of has none."""
    clock = VirtualClock()
    agent = Agent(model=ScriptedModel([reply("one two three")]))
    async with agent.stream("Go.", transform=smooth_stream(delay=0.5), clock=clock) as stream:
        times = [(piece, clock.now()) async for piece in stream.text()]

    began = times[0][1]
    assert [(piece, at - began) for piece, at in times] == [
        ("one ", 0),
        ("two ", 500_000_000),
        ("three", 1_000_000_000),
    ]


def test_mistakes_are_told() -> None:
    with pytest.raises(UsageError, match="expected a delay in seconds or None, got -1"):
        smooth_stream(delay=-1)
    with pytest.raises(UsageError, match="expected chunking to be 'word', 'line'"):
        smooth_stream(chunking="letter")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a beginning of the text that is not empty"):
        words("abc", chunking=lambda text: "b")
    with pytest.raises(UsageError, match="a beginning of the text that is not empty"):
        words("abc", chunking=lambda text: "")
