"""Scripted models, clocks and replies."""

from collections.abc import Callable

import pytest

from stepfold.loop import fold_parts, parts_of
from stepfold.ports import LanguageModel
from stepfold.testing import ScriptedModel, VirtualClock, call, reply
from stepfold.values import (
    Finish,
    FinishReason,
    ModelError,
    ModelErrorReason,
    ModelReply,
    ModelRequest,
    StreamPart,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolInputDelta,
    Usage,
    UsageError,
    UserMessage,
)

OVERLOADED = ModelErrorReason("overloaded", "come back later")


def request(key: str = "run/0/0") -> ModelRequest:
    return ModelRequest(messages=(UserMessage("Hello"),), key=key)


async def parts(model: LanguageModel, key: str = "run/0/0") -> list[StreamPart]:
    async with model.stream(request(key)) as stream:
        return [part async for part in stream]


def test_a_reply_ends_as_its_content_suggests() -> None:
    assert reply("hi").finish_reason == FinishReason("stop")
    assert reply(call("wipe")).finish_reason == FinishReason("tool-calls")
    assert reply(call("wipe"), finish="length").finish_reason == FinishReason("length")
    assert reply(ToolCall("c", "search", "{}", provider_executed=True)).finish_reason == (
        FinishReason("stop")
    )


def test_a_reply_is_made_of_texts_and_parts() -> None:
    made = reply("a", call("wipe", {"path": "/"}, id="c"), usage=(1, 2))

    assert made == ModelReply(
        (Text("a"), ToolCall("c", "wipe", '{"path":"/"}')), FinishReason("tool-calls"), Usage(1, 2)
    )


def test_a_tool_is_called_by_its_name() -> None:
    class Wipe:
        name = "wipe"

    assert call(Wipe(), '{"path": "/"}') == ToolCall("", "wipe", '{"path": "/"}')


async def test_replies_come_in_the_order_of_the_script() -> None:
    model = ScriptedModel([reply("a"), reply("b")])

    first = await model.generate(request("run/0/0"))
    second = await model.generate(request("run/1/0"))

    assert (first, second) == (reply("a"), reply("b"))
    assert [asked.key for asked in model.requests] == ["run/0/0", "run/1/0"]


async def test_the_same_request_gets_the_same_reply_again() -> None:
    model = ScriptedModel([reply("a"), reply("b")])
    await model.generate(request("run/0/0"))
    await model.generate(request("run/1/0"))

    assert await model.generate(request("run/0/0")) == reply("a")


async def test_each_run_starts_at_the_first_reply() -> None:
    model = ScriptedModel([reply("a"), reply("b")])
    await model.generate(request("run/0/0"))

    assert await model.generate(request("run/0/0/0/0")) == reply("a")
    assert await model.generate(request("run/1/0")) == reply("b")


@pytest.mark.parametrize("failure", [OVERLOADED, ModelError(OVERLOADED), [TextStart("0")]])
async def test_by_step_a_reply_is_found_from_the_key_alone(
    failure: ModelErrorReason | ModelError | list[StreamPart],
) -> None:
    model = ScriptedModel([reply("a"), failure, reply("b"), reply("c")], by_step=True)

    assert await model.generate(request("run/2/0")) == reply("c")
    assert await model.generate(request("run/1/1")) == reply("b")
    with pytest.raises(ModelError):
        await model.generate(request("run/1/0"))
    assert await model.generate(request("run/0/0")) == reply("a")


async def test_requests_without_a_key_are_counted() -> None:
    model = ScriptedModel([reply("a"), reply("b")])

    assert [await model.generate(request("")) for _ in range(2)] == [reply("a"), reply("b")]


async def test_failures_are_raised() -> None:
    for scripted in (OVERLOADED, ModelError(OVERLOADED)):
        model = ScriptedModel([scripted])
        with pytest.raises(ModelError, match="come back later"):
            await model.generate(request())
        with pytest.raises(ModelError, match="come back later"):
            await parts(model)


async def test_a_function_answers_what_it_is_asked() -> None:
    def echo(asked: ModelRequest) -> ModelReply:
        return reply(asked.key)

    async def later(asked: ModelRequest) -> ModelReply:
        return echo(asked)

    model = ScriptedModel([echo, later])

    assert await model.generate(request("run/0/0")) == reply("run/0/0")
    assert await model.generate(request("run/1/0")) == reply("run/1/0")


async def test_parts_are_sent_exactly() -> None:
    script: list[StreamPart] = [
        TextStart("7"),
        TextDelta("7", "a"),
        TextDelta("7", "b"),
        TextEnd("7"),
        Finish(FinishReason("stop"), Usage(10, 5)),
    ]
    model = ScriptedModel([script])

    assert await parts(model) == script
    assert await model.generate(request()) == reply("ab")


async def test_a_reply_is_streamed_whole_or_in_pieces() -> None:
    said = reply("abc", call("wipe", '{"path": "/"}', id="c"))

    whole = await parts(ScriptedModel([said]))
    pieces = await parts(ScriptedModel([said], chunk_size=2))

    assert tuple(whole) == parts_of(said)
    assert [part.delta for part in pieces if isinstance(part, TextDelta)] == ["ab", "c"]
    assert "".join(p.delta for p in pieces if isinstance(p, ToolInputDelta)) == '{"path": "/"}'
    assert fold_parts(pieces) == said


async def test_a_script_that_ran_out_says_what_was_asked() -> None:
    model = ScriptedModel([reply("a")])
    await model.generate(request("run/0/0"))

    with pytest.raises(UsageError, match=r"step 1, attempt 0 of run 'run'.*Hello"):
        await model.generate(request("run/1/0"))


async def test_what_was_not_asked_for_is_unused() -> None:
    model = ScriptedModel([reply("a"), reply("b")])
    await model.generate(request())

    assert model.unused == (reply("b"),)


def test_a_script_holds_only_what_can_be_answered() -> None:
    wrong: Callable[..., ScriptedModel] = ScriptedModel
    with pytest.raises(UsageError, match=r"replies\[0\]: expected a ModelReply"):
        wrong(["text"])
    with pytest.raises(UsageError, match="chunk_size"):
        wrong([], chunk_size=0)


async def test_a_function_gives_only_what_can_be_answered() -> None:
    wrong: Callable[[object], ScriptedModel] = lambda item: ScriptedModel([item])  # type: ignore[list-item] # noqa: E731
    with pytest.raises(UsageError, match=r"replies\[0\]: expected a ModelReply"):
        await wrong(lambda _: None).generate(request())


async def test_a_virtual_clock_never_waits() -> None:
    clock = VirtualClock(start=5)
    clock.advance(0.000_000_001)
    await clock.sleep_until(100)
    await clock.sleep_until(50)

    assert clock.now() == 100
    assert clock.slept == (100, 50)
    with pytest.raises(UsageError, match="not negative"):
        clock.advance(-1)
