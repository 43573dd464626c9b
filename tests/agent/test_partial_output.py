"""What a stream shows of an output while it comes."""

from collections.abc import Sequence
from typing import Literal

import pytest
from attrs import field, frozen

from stepfold.agent import (
    Agent,
    Output,
    RunStream,
    Strategy,
    array_of,
    choice_of,
    json,
    object_of,
    text,
)
from stepfold.agent._answer_reader import AnswerReader
from stepfold.shell import tool
from stepfold.testing import ScriptedModel, call, reply
from stepfold.values import (
    ModelReply,
    PartialJson,
    TextDelta,
    TextEnd,
    TextStart,
    UsageError,
)


def _positive(_: object, __: object, value: int) -> None:
    if value <= 0:
        raise ValueError(f"expected more than 0, got {value}")


@frozen
class Sum:
    amount: int = field(validator=_positive)


@frozen
class City:
    name: str
    tags: tuple[str, ...] = ()


def stream_of(
    output: Output[object], *replies: ModelReply, chunk_size: int = 6
) -> RunStream[object]:
    model = ScriptedModel(list(replies), chunk_size=chunk_size)
    return Agent(model=model, output=output, tools=[look]).stream("Go.")


async def partials(
    output: Output[object], *replies: ModelReply, chunk_size: int = 6
) -> list[PartialJson]:
    async with stream_of(output, *replies, chunk_size=chunk_size) as stream:
        return [partial async for partial in stream.partial_output()]


@tool
def look() -> str:
    """Look out of the window."""
    return "fog"


async def test_an_object_grows() -> None:
    """Each value differs from the one before; white space and open keys show nothing."""
    seen = await partials(object_of(City), reply('{"name": "Oslo", "tags": ["a"]}'))

    assert seen == [
        {},
        {"name": "Os"},
        {"name": "Oslo"},
        {"name": "Oslo", "tags": ["a"]},
    ]


async def test_text_grows() -> None:
    assert await partials(text(), reply("It is cold.")) == ["It is ", "It is cold."]


async def test_what_travels_in_an_object_is_shown_without_it() -> None:
    answer = reply('{"result":[1,22,33]}')

    assert await partials(object_of(list[int]), answer, chunk_size=5) == [[1], [1, 22, 33]]


async def test_elements_are_shown_when_they_are_complete() -> None:
    """What their type refuses is left out, here as there."""
    answer = reply('{"elements": [{"amount":1},{"amount":0},{"amount":22}]}')

    assert await partials(array_of(Sum), answer) == [
        [],
        [{"amount": 1}],
        [{"amount": 1}, {"amount": 22}],
    ]


@pytest.mark.parametrize("strategy", ["native", "tool", "prompt"])
async def test_elements_are_given_one_by_one(strategy: Strategy) -> None:
    answer: ModelReply = reply('```json\n{"elements": [{"amount":1},{"amount":22}]}\n```')
    if strategy == "native":
        answer = reply('{"elements": [{"amount":1},{"amount":22}]}')
    if strategy == "tool":
        answer = reply(call("final_output", {"elements": [{"amount": 1}, {"amount": 22}]}))
    model = ScriptedModel([reply(call(look)), answer], chunk_size=9)
    agent = Agent(model=model, output=array_of(Sum, strategy=strategy), tools=[look])
    async with agent.stream("Go.") as stream:
        seen = [element async for element in stream.elements()]
        run = await stream.run()

    assert tuple(seen) == run.unwrap() == (Sum(1), Sum(22))


async def test_an_element_comes_before_the_rest() -> None:
    """The model has not said more by then."""
    model = ScriptedModel([reply('{"elements": [1, 2, 3]}')], chunk_size=4)
    async with Agent(model=model, output=array_of(int)).stream("Go.") as stream:
        elements = stream.elements()
        first = await anext(elements)
        rest = [part async for part in stream]

    assert first == 1
    assert "".join(part.delta for part in rest if isinstance(part, TextDelta)).endswith("]}")


@pytest.mark.parametrize(
    ("answer", "seen"),
    [
        ('{"result":"no"}', ["no"]),
        ('{"result":"yes"}', ["yes"]),
        ('{"result":"yesterday"}', ["yesterday"]),
        ('{"result":"maybe"}', []),
        ('["no"]', []),
    ],
)
async def test_a_choice_is_shown_when_it_is_certain(answer: str, seen: list[str]) -> None:
    """As soon as it is the beginning of no other."""
    output = choice_of("yes", "yesterday", "no")
    stream = stream_of(output, reply(answer), chunk_size=1)
    async with stream:
        shown = [partial async for partial in stream.partial_output()]

    assert shown == seen


async def test_an_option_that_is_no_text_is_shown_when_it_is_complete() -> None:
    assert await partials(choice_of(Literal[1, 12]), reply('{"result":12}'), chunk_size=1) == [12]


async def test_what_is_no_json_shows_nothing() -> None:
    assert await partials(json(), reply("Hello.")) == []
    assert await partials(json(), reply('{"a":1} or so')) == [{}, {"a": 1}]


async def test_each_step_begins_anew() -> None:
    """What a model says before it calls a tool is no part of the last answer."""
    seen = await partials(
        json(), reply('{"n":1}', call(look)), reply('{"n":2}', call(look)), reply("[3]")
    )

    assert seen == [{}, {"n": 1}, {}, {"n": 2}, [3]]


async def test_an_answer_that_is_sent_back_begins_anew() -> None:
    output = array_of(Sum, retries=1)
    answers = [reply('{"elements":[{"amount":1},2]}'), reply('{"elements":[{"amount":3}]}')]
    model = ScriptedModel(answers, chunk_size=3)
    async with Agent(model=model, output=output).stream("Go.") as stream:
        seen = [element async for element in stream.elements()]
        run = await stream.run()

    assert seen == [Sum(1), Sum(3)]
    assert run.unwrap() == (Sum(3),)


async def test_a_call_that_comes_in_one_piece_is_read_too() -> None:
    model = ScriptedModel([reply(call("final_output", {"elements": [1, 2]}))])
    agent = Agent(model=model, output=array_of(int, strategy="tool"))
    async with agent.stream("Go.") as stream:
        assert [element async for element in stream.elements()] == [1, 2]


async def test_only_arrays_have_elements() -> None:
    async with stream_of(json(), reply("[1]")) as stream:
        with pytest.raises(UsageError, match=r"elements: expected .* array_of\(…\), got json"):
            stream.elements()  # type: ignore[misc]


def texts(parts: Sequence[TextStart | TextDelta | TextEnd]) -> PartialJson:
    reader = AnswerReader(text().partial, None)
    for part in parts:
        reader.take(part)
    return reader.value


def test_blocks_are_read_in_the_order_in_which_they_began() -> None:
    """As the text of a step holds them."""
    first, second, third = TextStart("1"), TextStart("2"), TextStart("3")

    assert (
        texts(
            [
                *(first, second, third),
                *(TextDelta("2", "b"), TextDelta("1", "a"), TextDelta("3", "d")),
                *(TextEnd("2"), TextDelta("1", "A")),
            ]
        )
        == "aA"
    )
    assert (
        texts(
            [
                *(first, second, third),
                *(TextDelta("2", "b"), TextDelta("1", "a"), TextDelta("3", "c")),
                *(TextEnd("2"), TextEnd("1"), TextDelta("3", "C")),
            ]
        )
        == "abcC"
    )
