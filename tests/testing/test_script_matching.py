"""Scripts whose items are tied to what is asked."""

import pytest
from attrs import evolve

import stepfold as sf
from stepfold.loop import parts_of
from stepfold.testing import Exchange, ScriptDiverged, ScriptedModel, call, reply, run_script
from stepfold.values import (
    AssistantMessage,
    CallSettings,
    JsonOutput,
    JsonText,
    ModelError,
    ModelErrorReason,
    ModelRequest,
    TextDelta,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UserMessage,
)

BUSY = ModelErrorReason("overloaded", "come back later")


def ask(text: str, key: str = "") -> ModelRequest:
    return ModelRequest(messages=(UserMessage(text),), key=key)


def after_call(degrees: str = '{"celsius":17.3}', key: str = "") -> ModelRequest:
    weather = ToolDefinition(
        "weather", "Ask.", JsonText('{"type":"object","properties":{"city":{"type":"string"}}}')
    )
    return ModelRequest(
        messages=(
            UserMessage("Is it warm in Oslo?"),
            AssistantMessage((ToolCall("c1", "weather", '{"city":"Oslo"}'),)),
            ToolMessage((ToolResult("c1", "weather", JsonOutput(JsonText(degrees))),)),
        ),
        tools=(weather,),
        key=key,
    )


async def test_an_exchange_answers_its_request_in_whatever_order() -> None:
    model = ScriptedModel([Exchange(ask("a"), reply("A")), Exchange(ask("b"), reply("B"))])

    assert await model.generate(ask("b", "run/0/0")) == reply("B")
    assert await model.generate(ask("a", "run/1/0")) == reply("A")


async def test_the_exchanges_of_one_request_come_in_their_order() -> None:
    model = ScriptedModel([Exchange(ask("a"), BUSY), Exchange(ask("a"), reply("A"))])
    with pytest.raises(ModelError, match="come back later"):
        await model.generate(ask("a", "run/0/0"))

    assert await model.generate(ask("a", "run/0/1")) == reply("A")
    assert await model.generate(ask("a", "run/0/1")) == reply("A")


async def test_by_step_the_attempt_says_which() -> None:
    script = [
        Exchange(ask("a"), BUSY),
        Exchange(ask("b"), reply("B")),
        Exchange(ask("a"), reply("A")),
    ]
    model = ScriptedModel(script, by_step=True)

    assert await model.generate(ask("a", "run/3/1")) == reply("A")
    assert await model.generate(ask("b", "run/1/0")) == reply("B")
    with pytest.raises(ModelError, match="come back later"):
        await model.generate(ask("a", "run/3/0"))
    with pytest.raises(ScriptDiverged):
        await model.generate(ask("a", "run/3/2"))


def test_by_step_needs_one_kind_of_items() -> None:
    with pytest.raises(sf.UsageError, match="by_step: expected exchanges alone or none"):
        ScriptedModel([Exchange(ask("a"), reply("A")), reply("B")], by_step=True)


async def test_other_items_take_what_no_exchange_answers() -> None:
    model = ScriptedModel([reply("first"), Exchange(ask("a"), reply("A")), reply("second")])

    said = [await model.generate(ask(text)) for text in ("b", "a", "c")]

    assert said == [reply("first"), reply("A"), reply("second")]


async def test_the_parts_of_a_stream_come_exactly_as_they_are() -> None:
    parts = [*parts_of(reply("Hello"))]
    at = next(index for index, part in enumerate(parts) if isinstance(part, TextDelta))
    parts[at : at + 1] = [TextDelta("0", "He"), TextDelta("0", ""), TextDelta("0", "llo")]
    model = ScriptedModel([Exchange(ask("a"), parts)], chunk_size=1)
    async with model.stream(ask("a")) as stream:
        assert [part async for part in stream] == parts

    assert (await ScriptedModel([Exchange(ask("a"), parts)]).generate(ask("a"))) == reply("Hello")


@pytest.mark.parametrize(
    ("got", "path", "expected", "came"),
    [
        (
            after_call('{"celsius":18.5}'),
            "messages[2].content[0].output.value.celsius",
            "17.3",
            "18.5",
        ),
        (
            evolve(after_call(), messages=(*after_call().messages, UserMessage("And?"))),
            "messages[3]",
            "nothing",
            '{"type": "user-message", "content": [{"type": "text", "text": "And?"}]}',
        ),
        (evolve(after_call(), instructions="Be brief."), "instructions", "nothing", '"Be brief."'),
        (
            evolve(
                after_call(),
                tools=(evolve(after_call().tools[0], input_schema=JsonText('{"type":"object"}')),),
            ),
            "tools[0].input_schema.properties",
            '{"city": {"type": "string"}}',
            "nothing",
        ),
        (
            evolve(after_call(), messages=(UserMessage("x" * 500), *after_call().messages[1:])),
            "messages[0].content[0].text",
            '"Is it warm in Oslo?"',
            '"' + "x" * 100 + '…"',
        ),
    ],
)
async def test_the_error_shows_the_first_difference(
    got: ModelRequest, path: str, expected: str, came: str
) -> None:
    script = [Exchange(ask("else"), reply("")), Exchange(after_call(), reply("Yes."))]
    with pytest.raises(ScriptDiverged) as caught:
        await ScriptedModel(script).generate(evolve(got, key="run/1/0"))

    assert str(caught.value) == (
        "scripted/model: no exchange of the script answers the request (step 1, attempt 0 of run "
        f"'run'); the closest script diverges here: replies[1], {path}: expected {expected}, got "
        f"{came}. Ask what was recorded, or record the script anew"
    )
    assert caught.value.place == 1


async def test_a_long_text_is_shown_around_the_difference() -> None:
    text = "word " * 100
    with pytest.raises(ScriptDiverged) as caught:
        await ScriptedModel([Exchange(ask(text + "Oslo" + text), reply(""))]).generate(
            ask(text + "Rome" + text)
        )

    assert caught.value.divergence is not None
    assert caught.value.divergence.expected.startswith('"…word word word word Oslo')
    assert caught.value.divergence.got.startswith('"…word word word word Rome')
    assert len(str(caught.value)) < 500


async def test_the_closest_is_the_one_with_most_messages_in_common() -> None:
    said = (UserMessage("a"), AssistantMessage("b"))
    got = evolve(ask("x"), messages=(*said, UserMessage("c")))
    parts_early = evolve(got, messages=(*said, UserMessage("d")))
    differs_often = evolve(
        got, tool_choice="none", settings=CallSettings(temperature=0.0, top_p=0.5, top_k=2)
    )
    with pytest.raises(ScriptDiverged) as caught:
        await ScriptedModel(
            [Exchange(parts_early, reply("")), Exchange(differs_often, reply(""))]
        ).generate(got)

    assert caught.value.place == 1
    assert caught.value.divergence is not None
    assert caught.value.divergence.path == "tool_choice"


async def test_a_run_of_the_same_name_is_not_answered_for_another_request() -> None:
    model = ScriptedModel([Exchange(ask("a"), reply("A")), Exchange(ask("b"), reply("B"))])

    assert await model.generate(ask("a", "run/0/0")) == reply("A")
    assert await model.generate(ask("b", "run/0/0")) == reply("B")
    assert await model.generate(ask("a", "run/0/0")) == reply("A")


async def test_no_secret_is_in_the_error() -> None:
    secret = "sk-abcdef123456"
    asked = evolve(
        ask(f"Use {secret} please"),
        provider_options=JsonText(f'{{"acme":{{"api_key":"{secret}x"}}}}'),
        headers=(("authorization", f"Bearer {secret}"),),
    )
    for model in (
        ScriptedModel([Exchange(ask("Use it"), reply(""))]),
        ScriptedModel([]),
    ):
        with pytest.raises(sf.UsageError) as caught:
            await model.generate(asked)

        assert "[hidden]" in str(caught.value)
        assert secret not in str(caught.value)


async def test_one_time_too_often_is_told_as_such() -> None:
    model = ScriptedModel([Exchange(ask("a"), reply("A")), Exchange(ask("a"), reply("B"))])
    await model.generate(ask("a"))
    await model.generate(ask("a"))
    with pytest.raises(ScriptDiverged, match="asked once more than that in this run") as caught:
        await model.generate(ask("a"))

    assert "replies[0], replies[1] did so" in str(caught.value)
    assert caught.value.divergence is None


async def test_the_next_run_begins_anew() -> None:
    model = ScriptedModel([Exchange(ask("a"), reply("A"))])

    assert await model.generate(ask("a", "one/0/0")) == reply("A")
    assert await model.generate(ask("a", "two/0/0")) == reply("A")


async def test_what_nobody_asked_for_is_named() -> None:
    model = ScriptedModel([Exchange(ask("a"), reply("A")), reply("B"), BUSY, reply("C")])
    await model.generate(ask("b"))
    with pytest.raises(AssertionError) as caught:
        model.assert_exhausted()

    head, *lines = str(caught.value).splitlines()

    assert head == (
        "scripted/model: expected every item of the script to be asked for, got 1 requests that "
        "left 3 of 4:"
    )
    assert len(lines) == 3
    assert lines[0].startswith('  replies[0]: the answer to {"type":"user-message"')
    assert lines[1] == (
        '  replies[2]: {"type":"model-error","kind":"overloaded","message":"come back later"}'
    )
    assert lines[2].startswith(
        '  replies[3]: {"type":"reply","content":[{"type":"text","text":"C"}]'
    )
    assert len(model.unused) == 3


def test_a_long_rest_is_cut_short() -> None:
    with pytest.raises(AssertionError, match=r"and 90 more$"):
        ScriptedModel([reply(str(number)) for number in range(100)]).assert_exhausted()


async def test_a_block_ends_with_an_exhausted_script() -> None:
    with ScriptedModel([reply("A")]) as model:
        await model.generate(ask("a"))
    with (
        pytest.raises(AssertionError, match=r"replies\[1\]"),
        ScriptedModel([reply("A")] * 2) as model,
    ):
        await model.generate(ask("a"))


def test_an_error_that_leaves_the_block_is_not_covered_up() -> None:
    with pytest.raises(ZeroDivisionError), ScriptedModel([reply("A")]):
        raise ZeroDivisionError


def test_a_script_in_one_line_shows_where_it_parts_as_well() -> None:
    with pytest.raises(ScriptDiverged, match=r"messages\[0\]\.content\[0\]\.text: expected"):
        run_script([Exchange(ask("Hello there"), reply("Hi."))], prompt="Hello")


def test_an_exchange_needs_an_answer() -> None:
    with pytest.raises(sf.UsageError, match="Exchange: expected as answer a ModelReply"):
        Exchange(ask("a"), "Hello")  # type: ignore[arg-type]


async def test_a_run_that_asks_otherwise_fails_with_the_difference() -> None:
    @sf.tool
    def weather(city: str) -> float:
        """Ask for the weather."""
        return 18.5

    first = ask("Is it warm?")
    asked = ScriptedModel([reply(call(weather, {"city": "Oslo"})), reply("Yes.")])
    await sf.Agent(model=asked, tools=[weather]).generate("Is it warm?")
    script = [Exchange(one, reply("Yes.")) for one in asked.requests[1:]]
    outcome = await sf.Agent(model=ScriptedModel(script), tools=[weather]).try_generate(
        first.messages
    )

    assert "the closest script diverges here: replies[0], messages[1]" in str(outcome.failure())
