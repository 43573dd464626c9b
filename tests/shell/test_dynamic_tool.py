"""Tools known by their schema: checked by a decoder that is compiled from it."""

import functools
import re
from collections.abc import AsyncIterator, Mapping

import pytest

from stepfold.agent import Agent
from stepfold.shell import AnyTool, ToolContext, dynamic_tool
from stepfold.testing import ScriptedModel, call, reply
from stepfold.values import JsonOutput, JsonText, TextOutput, ToolOutput, ToolResult, UsageError

SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {"city": {"type": "string", "minLength": 2}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
DONE = reply("done")


async def forecast(context: ToolContext[object], given: Mapping[str, object]) -> list[str]:
    """Look up the weather."""
    return [f"{context.call_id}: {name}={value}" for name, value in given.items()]


def made(**options: object) -> AnyTool[object, object]:
    """A tool from options that no type checker looks at."""
    given: dict[str, object] = {
        "name": "weather",
        "description": "Look up the weather.",
        "input_schema": SCHEMA,
        "execute": forecast,
    }
    return dynamic_tool(**(given | options))  # type: ignore[arg-type]


weather = dynamic_tool(
    name="weather", description="Look up.", input_schema=SCHEMA, execute=forecast
)


def test_the_model_is_told_the_schema_as_it_was_given() -> None:
    """As text or as a mapping; the code's own words are not needed."""
    text = JsonText.of(SCHEMA)
    for given in (SCHEMA, text, text.text):
        tool = made(input_schema=given)
        assert tool.input_schema == text
        assert tool.spec.check({"city": "Oslo"}) == ()
        assert tool.spec.check({"city": "O"}) != ()
    assert made(description=None).description == "Look up the weather."
    assert weather.description == "Look up."
    assert weather.spec.dynamic


async def test_the_arguments_come_in_one_piece() -> None:
    """With the context before them; calls, results and errors are marked as dynamic."""
    model = ScriptedModel(
        [
            reply(
                call("weather", {"city": "Oslo", "days": 2}, id="a"),
                call("weather", {"town": "Oslo"}, id="b"),
            ),
            DONE,
        ]
    )
    run = await Agent(model=model, tools=[weather]).generate("Go.")

    assert run.results_of(weather) == (["a: city=Oslo", "a: days=2"],)
    [step, _] = run.steps
    assert [part.dynamic for part in step.tool_calls] == [True, True]
    assert [part.dynamic for part in step.tool_results] == [True]
    assert [(error.kind, error.dynamic) for error in step.tool_errors] == [("invalid", True)]


async def test_any_function_of_the_two_will_do() -> None:
    """Sync, a lambda, a partial, or a generator."""

    async def items(
        context: ToolContext[object], given: Mapping[str, object]
    ) -> AsyncIterator[int]:
        yield 1
        yield 2

    functions = [
        (lambda context, given: dict(given), {"city": "Oslo"}),
        (functools.partial(lambda prefix, context, given: prefix, "x"), "x"),
        (items, 2),
    ]
    for function, expected in functions:
        tool = made(execute=function)
        model = ScriptedModel([reply(call("weather", {"city": "Oslo"})), DONE])
        run = await Agent(model=model, tools=[tool]).generate("Go.")
        assert run.results_of(tool) == (expected,)


async def test_what_the_model_sees_may_be_something_else() -> None:
    """As for any tool."""

    def show(lines: list[str]) -> ToolOutput:
        return TextOutput("; ".join(lines))

    tool = made(to_model_output=show)
    model = ScriptedModel([reply(call("weather", {"city": "Oslo"}, id="a")), DONE])
    run = await Agent(model=model, tools=[tool]).generate("Go.")

    assert run.steps[0].tool_results[0].output == TextOutput("a: city=Oslo")
    assert run.results_of(tool) == (["a: city=Oslo"],)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"input_schema": "{"}, "dynamic_tool weather, input_schema: expected JSON, got "),
        ({"input_schema": 3}, "dynamic_tool weather, input_schema: expected a JSON Schema, got 3"),
        ({"input_schema": {"a": {1}}}, "input_schema: expected what has a JSON form, got "),
        ({"input_schema": {"type": "array"}}, 'expected the schema of an object, got type "array"'),
        (
            {"input_schema": {"type": "object", "unevaluatedProperties": False}},
            "dynamic_tool weather, input_schema: JSON Schema at '/unevaluatedProperties'",
        ),
        ({"execute": 3}, "dynamic_tool weather: expected a function to execute, got 3"),
        ({"name": "the weather"}, "expected a name of 1 to 64 letters"),
        ({"tiemout": 3}, "dynamic_tool: expected options among "),
        ({"metadata": 3}, "tool weather, metadata: expected a mapping, got 3"),
        ({"metadata": {"a": {1}}}, "tool weather, metadata: expected what has a JSON form"),
        ({"to_model_output": 3}, "tool weather, to_model_output: expected a plain function, got 3"),
        (
            {"to_model_output": forecast},
            "to_model_output: expected a plain function, got <function",
        ),
    ],
)
def test_what_cannot_be_made(options: dict[str, object], text: str) -> None:
    """Each error says which tool, what was expected and what came."""
    with pytest.raises(UsageError, match=re.escape(text)):
        made(**options)


def test_a_result_that_is_no_text_is_told_as_json() -> None:
    """Nothing is known of it but what it is."""
    model = ScriptedModel([reply(call("weather", {"city": "Oslo"}, id="a")), DONE])
    run = Agent(model=model, tools=[weather]).generate_sync("Go.")

    assert run.steps[0].tool_results == (
        ToolResult("a", "weather", JsonOutput(JsonText('["a: city=Oslo"]')), dynamic=True),
    )
