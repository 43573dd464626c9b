"""Arrays, choices, any JSON: how they are asked for, read, and asked for again."""

from enum import Enum
from typing import Literal

import pytest
from attrs import field, frozen

from stepfold.agent import (
    Agent,
    Output,
    Strategy,
    array_of,
    choice_of,
    generate_text,
    json,
    object_of,
    text,
)
from stepfold.agent._output_wire import FenceReader, unfenced
from stepfold.shell import tool
from stepfold.testing import ScriptedModel, call, reply
from stepfold.values import (
    Completed,
    Failed,
    Failure,
    JsonObject,
    JsonText,
    NoOutput,
    Stopped,
    Success,
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


class Size(Enum):
    SMALL = 1
    LARGE = 2


# --- what is promised -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "answer", "value"),
    [
        (
            array_of(City),
            '{"elements":[{"name":"Oslo"},{"name":"Rome"}]}',
            (City("Oslo"), City("Rome")),
        ),
        (array_of(int), '{"elements":[]}', ()),
        (array_of(int | None), '{"elements":[null,1]}', (None, 1)),
        (choice_of("yes", "no"), '{"result":"no"}', "no"),
        (choice_of(Literal["yes", 1]), '{"result":1}', 1),
        (choice_of(Size), '{"result":2}', Size.LARGE),
        (json(), '{"a":[1]}', JsonObject({"a": (1,)})),
        (json(), "null", None),
        (json(strategy="prompt"), "Here:\n```json\n[1]\n```\nThere.", (1,)),
        (array_of(int, strategy="prompt"), '```\n{"elements":[1]}\n```', (1,)),
        (object_of(City, strategy="prompt"), '{"name":"Oslo"}', City("Oslo")),
    ],
)
async def test_an_answer_becomes_a_value(
    output: Output[object], answer: str, value: object
) -> None:
    """A `null` document is a value too."""
    run = await Agent(model=ScriptedModel([reply(answer)]), output=output).generate("Go.")

    assert run.end == Completed(value)
    assert run.output == Success(value)


@pytest.mark.parametrize(
    ("output", "answer", "told", "cause"),
    [
        (array_of(City), '[{"name":"Oslo"}]', "does not fit: (all of it)", "schema-mismatch"),
        (array_of(int), '{"elements":[1,"2"]}', "does not fit: /elements/1", "schema-mismatch"),
        (
            array_of(int, min_items=2),
            '{"elements":[1]}',
            "does not fit: /elements",
            "schema-mismatch",
        ),
        (
            array_of(int, max_items=0),
            '{"elements":[1]}',
            "does not fit: /elements",
            "schema-mismatch",
        ),
        (
            array_of(Sum),
            '{"elements":[{"amount":1},{"amount":0}]}',
            "refused by Sum_array: /1: Value",
            "refused",
        ),
        (choice_of("yes", "no"), '{"result":"maybe"}', "does not fit: /result", "schema-mismatch"),
        (json(), "Hello.", "not JSON", "invalid-json"),
        (object_of(City), '```json\n{"name":"Oslo"}\n```', "not JSON", "invalid-json"),
        (object_of(City, strategy="prompt"), "It is Oslo.", "not JSON", "invalid-json"),
    ],
)
async def test_an_answer_that_is_no_output_fails_the_run(
    output: Output[object], answer: str, told: str, cause: str
) -> None:
    """As data: what was wrong, at what it failed, and how the reply ended."""
    outcome = await Agent(model=ScriptedModel([reply(answer)]), output=output).try_generate("Go.")

    assert isinstance(outcome, Failure)
    run = outcome.failure().run
    assert isinstance(run.end, Failed)
    error = run.end.error
    assert isinstance(error, NoOutput)
    assert told in error.message
    assert (error.cause, error.finish_reason, run.output) == (cause, "stop", Failure(error))


async def test_a_run_that_was_stopped_says_so_of_its_output() -> None:
    cut = reply("{", finish="length")
    run = await Agent(model=ScriptedModel([cut]), output=json()).generate("Go.")

    assert isinstance(run.end, Stopped)
    assert run.output == Failure(
        NoOutput("the run has no output: it was stopped by length", "{", finish_reason="length")
    )


async def test_validators_are_asked_once_and_the_journal_knows() -> None:
    """What they made is the output, even where they would make another the next time."""
    seen: list[int] = []

    def once(_: object, __: object, value: int) -> None:
        seen.append(value)
        if len(seen) > 1:
            raise ValueError("asked twice")

    @frozen
    class Once:
        n: int = field(validator=once)

    agent = Agent(model=ScriptedModel([reply('{"n":1}')]), output=object_of(Once))
    run = await agent.generate("Go.")

    assert run.unwrap().n == 1
    assert isinstance(run.end, Completed)
    assert seen == [1]
    with pytest.raises(UsageError, match="run_of: expected an output that fits object_of"):
        agent.run_of(run.state)


# --- how it is asked for ----------------------------------------------------------------------


async def test_what_is_no_object_travels_in_one() -> None:
    """Providers demand an object at the root; definitions stay at the root too."""
    model = ScriptedModel([reply('{"elements":[]}')])
    await generate_text("Go.", model=model, output=array_of(City | Sum, max_items=3))
    first = model.requests[0].response_format
    model = ScriptedModel([reply('{"result":"a"}')])
    await generate_text("Go.", model=model, output=choice_of("a", "b", name="pick"))
    second = model.requests[0].response_format

    assert first is not None
    assert first.schema is not None
    document = first.schema.value
    assert isinstance(document, JsonObject)
    assert document["required"] == ("elements",)
    assert document["type"] == "object"
    assert second is not None
    assert second.name == "pick"
    assert second.schema == JsonText(
        '{"type":"object","properties":{"result":{"type":"string","enum":["a","b"]}},"required":["result"],'
        '"additionalProperties":false}'
    )


async def test_the_prompt_may_tell_the_schema() -> None:
    model = ScriptedModel([reply('{"name":"Oslo"}')])
    output = object_of(City, strategy="prompt", description="A capital.")
    await generate_text("Go.", model=model, output=output, instructions="Be brief.")
    (request,) = model.requests

    assert request.response_format is None
    assert request.instructions.startswith("Be brief.\n\nAnswer with one JSON document")
    assert '{"type":"object","properties":{"name"' in request.instructions
    assert request.instructions.endswith("It is: A capital.")


@tool
def look(place: str) -> str:
    """Look somewhere."""
    return "fog"


async def test_a_tool_may_take_the_output() -> None:
    """The others still work."""
    model = ScriptedModel(
        [
            reply(call(look, {"place": "Oslo"})),
            reply(call("final_output", {"elements": [{"name": "Oslo"}]})),
        ]
    )
    agent = Agent(model=model, tools=[look], output=array_of(City, strategy="tool"))
    run = await agent.generate("Go.")

    assert run.unwrap() == (City("Oslo"),)
    assert run.results_of(look) == ("fog",)
    request = model.requests[0]
    assert request.response_format is None
    assert request.tool_choice == "required"
    assert [definition.name for definition in request.tools] == ["look", "final_output"]


async def test_a_tool_may_take_any_json() -> None:
    model = ScriptedModel([reply(call("final_output", {"result": None}))])
    run = await Agent(model=model, output=json(strategy="tool")).generate("Go.")

    assert run.end == Completed(None)


async def test_validators_see_the_arguments_of_the_output_tool() -> None:
    model = ScriptedModel(
        [
            reply(call("final_output", {"amount": 0})),
            reply(call("final_output", {"amount": 2})),
        ]
    )
    agent = Agent(model=model, output=object_of(Sum, strategy="tool", retries=1))
    run = await agent.generate("Go.")

    assert run.unwrap() == Sum(2)
    assert "expected more than 0, got 0" in run.steps[0].tool_errors[0].error


def test_the_name_of_the_output_tool_is_taken() -> None:
    @tool
    def final_output() -> str:
        """Be in the way."""
        return ""

    with pytest.raises(UsageError, match="no tool named 'final_output'"):
        Agent(model=ScriptedModel([]), tools=[final_output], output=json(strategy="tool"))


# --- asking again -----------------------------------------------------------------------------


@pytest.mark.parametrize("strategy", ["native", "prompt"])
async def test_what_is_refused_is_asked_for_again(strategy: Strategy) -> None:
    """In a single call too, which has room for the retries that were allowed."""
    model = ScriptedModel([reply("Two."), reply('{"amount":0}'), reply('{"amount":2}')])
    run = await generate_text(
        "Go.", model=model, output=object_of(Sum, strategy=strategy, retries=2)
    )

    assert run.unwrap() == Sum(2)
    assert len(run.steps) == 3
    assert "is not JSON" in str(run.messages[2])
    assert "expected more than 0, got 0" in str(run.messages[4])


# --- mistakes ---------------------------------------------------------------------------------


def test_mistakes_are_told_when_the_output_is_made() -> None:
    with pytest.raises(UsageError, match="strategy: expected one of 'auto', 'native'"):
        json(strategy="magic")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="retries: expected a whole number from 0, got -1"):
        array_of(int, retries=-1)
    with pytest.raises(UsageError, match="array_of: expected min_items from 0, got -1"):
        array_of(int, min_items=-1)
    with pytest.raises(UsageError, match="choice_of: expected texts"):
        choice_of("a", 1)  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="choice_of: expected a type, got the string 'a'"):
        choice_of("a")  # type: ignore[call-overload]
    with pytest.raises(UsageError, match="choice_of: expected a Literal, an enum, or at least two"):
        choice_of(int)


# --- fences -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "document"),
    [
        ('{"a":1}', '{"a":1}'),
        (' ["```\\n```"]', ' ["```\\n```"]'),
        ("```json\n1\n```", "\n1"),
        ("Well:\r\n```  \r\n1\r\n```\nand\n```\n2\n```", "\n1\r"),
        ("```\n```", ""),
        ("```json\n[1", "\n[1"),
        ("no `fence` and ``` none here", "no `fence` and ``` none here"),
        ("", ""),
    ],
)
def test_a_fence_is_taken_off(text: str, document: str) -> None:
    """However the text was cut; of text without a fence nothing is certain."""
    assert unfenced(text) == document
    for size in (1, 2, 5, 100):
        reader = FenceReader()
        read = "".join(
            reader.feed(text[place : place + size]) for place in range(0, len(text), size)
        )
        if document == text and not text.lstrip().startswith(("{", "[")):
            assert read == ""
        else:
            assert read.strip() == document.strip()


def test_text_is_the_default() -> None:
    assert text().tool is None
    assert text() is text()
