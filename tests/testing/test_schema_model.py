"""A model whose answers are drawn from schemas."""

import json
import subprocess
import sys

import anyio
import pytest
from attrs import frozen
from hypothesis import given, settings
from hypothesis import strategies as st
from typing_extensions import TypeIs

import stepfold as sf
from stepfold.testing import SchemaModel, laws
from stepfold.testing.strategies import schema_documents
from stepfold.values import ModelRequest, ToolDefinition, UserMessage

BOOK = {
    "type": "object",
    "properties": {"city": {"type": "string", "minLength": 1}, "seats": {"enum": [1, 2]}},
    "required": ["city", "seats"],
    "additionalProperties": False,
}


@frozen
class Trip:
    city: str
    seats: int


@sf.tool
def book(trip: Trip) -> str:
    """Book a trip."""
    return f"{trip.seats} to {trip.city}"


def asked() -> ModelRequest:
    tool = ToolDefinition("book", "Book.", sf.JsonText.of(BOOK))
    return ModelRequest(messages=(UserMessage("Go."),), tools=(tool,), tool_choice="required")


async def test_arguments_satisfy_the_schema_of_the_tool() -> None:
    seen = set()
    for seed in range(10):
        reply = await SchemaModel(seed=seed).generate(asked())
        for part in reply.content:
            assert isinstance(part, sf.ToolCall)
            arguments = json.loads(part.input)
            assert set(arguments) == {"city", "seats"}
            assert arguments["seats"] in {1, 2}
            assert arguments["city"]
            seen.add(part.input)

    assert len(seen) > 5


async def test_a_run_gets_an_output_of_its_type() -> None:
    for seed in range(5):
        agent = sf.Agent(model=SchemaModel(seed=seed), tools=[book], output=sf.object_of(Trip))
        run = await agent.generate("Go.")

        assert isinstance(run.unwrap(), Trip)
        assert all(isinstance(result, str) for result in run.results_of(book))


async def test_an_output_tool_is_called_as_well() -> None:
    output = sf.object_of(Trip, strategy="tool")
    run = await sf.Agent(model=SchemaModel(seed=2), output=output).generate("Go.")

    assert isinstance(run.unwrap(), Trip)


async def test_after_some_steps_it_comes_to_an_end() -> None:
    model = SchemaModel(seed=0, max_steps=2)
    for number in range(20):
        run = await sf.Agent(model=model, tools=[book]).generate(f"Go {number}.")

        assert isinstance(run.end, sf.Completed)
        assert len(run.steps) <= 3


async def test_without_calls_it_answers_at_once() -> None:
    run = await sf.Agent(model=SchemaModel(seed=1, max_calls=0), tools=[book]).generate("Go.")

    assert len(run.steps) == 1


def test_it_is_the_same_in_another_process() -> None:
    code = (
        "import anyio\n"
        "from stepfold import JsonText\n"
        "from stepfold.testing import SchemaModel\n"
        "from stepfold.values import ModelRequest, ToolDefinition, UserMessage\n"
        f"tool = ToolDefinition('book', 'Book.', JsonText.of({BOOK!r}))\n"
        "asked = ModelRequest(messages=(UserMessage('Go.'),), tools=(tool,),"
        " tool_choice='required')\n"
        "print(anyio.run(SchemaModel(seed=5).generate, asked))"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    }

    assert len(told) == 1


def test_hypothesis_makes_what_it_finds_small() -> None:
    found: list[object] = []
    request = ModelRequest(
        messages=(UserMessage("Go."),),
        tools=(ToolDefinition("book", "Book.", book.input_schema),),
        tool_choice="required",
    )

    @settings(database=None, derandomize=True, max_examples=200)
    @given(st.data())
    def no_trip_has_many_seats(data: st.DataObject) -> None:
        reply = anyio.run(SchemaModel(data.draw).generate, request)
        trips = [json.loads(part.input)["trip"] for part in reply.content if is_call(part)]
        found.extend(trip for trip in trips if trip["seats"] > 100)
        assert all(trip["seats"] <= 100 for trip in trips)

    with pytest.raises(AssertionError):
        no_trip_has_many_seats()

    assert found[-1] == {"city": "", "seats": 101}


@settings(database=None, derandomize=True, max_examples=20)
@given(st.data())
def test_what_was_drawn_is_said_again(data: st.DataObject) -> None:
    model = SchemaModel(data.draw)

    anyio.run(laws.generate_is_the_folded_stream, model, asked())


def is_call(part: object) -> TypeIs[sf.ToolCall]:
    return isinstance(part, sf.ToolCall)


async def test_what_cannot_be_satisfied_is_an_error() -> None:
    never = {"type": "object", "properties": {"n": False}, "required": ["n"]}
    tool = ToolDefinition("never", "", sf.JsonText.of(never))
    request = ModelRequest(messages=(), tools=(tool,), tool_choice="required")
    with pytest.raises(sf.UsageError, match="found nothing that satisfies a schema of the request"):
        await SchemaModel().generate(request)


async def test_a_schema_that_is_not_understood_is_an_error() -> None:
    odd = {"type": "object", "unevaluatedProperties": False}
    request = ModelRequest(messages=(), tools=(ToolDefinition("odd", "", sf.JsonText.of(odd)),))
    with pytest.raises(sf.UsageError, match="unevaluatedProperties"):
        await SchemaModel().generate(request)


@pytest.mark.parametrize("figure", ["max_calls", "max_steps"])
def test_figures_are_not_negative(figure: str) -> None:
    with pytest.raises(sf.UsageError, match=f"{figure}: expected a number from 0, got -1"):
        SchemaModel(**{figure: -1})  # type: ignore[arg-type]


def test_it_has_a_name() -> None:
    model = SchemaModel(provider="acme", model_id="one")

    assert (model.provider, model.model_id) == ("acme", "one")


def test_importing_it_does_not_import_hypothesis() -> None:
    code = "import sys, stepfold.testing as t; t.SchemaModel; print('hypothesis' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout == "False\n"


@settings(database=None, derandomize=True, max_examples=50)
@given(schema_documents(schema={"type": "object", "additionalProperties": {"type": "integer"}}))
def test_members_that_only_have_a_type_are_drawn_as_well(document: object) -> None:
    assert isinstance(document, dict)
    assert all(type(value) is int for value in document.values())
