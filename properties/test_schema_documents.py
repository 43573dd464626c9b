"""Documents and replies that are drawn from JSON Schemas."""

import json

import anyio
import jsonschema
from attrs import evolve, frozen
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from stepfold.agent import Agent, object_of
from stepfold.loop import is_step_count
from stepfold.schema import JsonSchemaForm
from stepfold.shell import MemoryJournal, tool
from stepfold.testing import SchemaModel, VirtualClock, laws, trace_of
from stepfold.testing.strategies import replies_to, schema_documents
from stepfold.values import (
    Completed,
    JsonFormat,
    JsonText,
    ModelRequest,
    NamedTool,
    Text,
    ToolCall,
    ToolChoice,
    ToolDefinition,
    UserMessage,
)

NAMES = st.sampled_from(["a", "b", "city"])
LEAVES = st.one_of(
    st.booleans(),
    st.fixed_dictionaries({"type": st.sampled_from(["null", "boolean", "integer", "number"])}),
    st.fixed_dictionaries({"enum": st.lists(st.integers(0, 3) | st.text(max_size=2), min_size=1)}),
    st.fixed_dictionaries({"const": st.none() | st.text(max_size=2) | st.just([1, {"a": None}])}),
    st.fixed_dictionaries(
        {"type": st.just("integer")},
        optional={
            "minimum": st.integers(-5, 0),
            "maximum": st.integers(1, 9),
            "multipleOf": st.sampled_from([1, 2, 3]),
        },
    ),
    st.fixed_dictionaries(
        {"type": st.just("number")},
        optional={"exclusiveMinimum": st.integers(-5, 0), "exclusiveMaximum": st.floats(1, 9)},
    ),
    st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={"minLength": st.integers(0, 2), "maxLength": st.integers(2, 4)},
    ),
    st.sampled_from(
        [
            {"type": "string", "pattern": "^[a-f]{2}$"},
            {"type": ["string", "null"], "minLength": 1},
            {"$ref": "#/$defs/Tree"},
        ]
    ),
)


def above(inner: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    members = st.dictionaries(NAMES, inner, max_size=2)
    several = st.lists(inner, min_size=1, max_size=2)
    return st.one_of(
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": members},
            optional={
                "required": st.lists(NAMES, max_size=2, unique=True),
                "additionalProperties": inner | st.booleans(),
                "minProperties": st.integers(0, 2),
                "patternProperties": st.dictionaries(st.just("^x"), inner, max_size=1),
                "propertyNames": st.just({"maxLength": 5}),
            },
        ),
        st.fixed_dictionaries(
            {"type": st.just("array")},
            optional={
                "items": inner,
                "prefixItems": several,
                "minItems": st.integers(0, 2),
                "maxItems": st.integers(2, 4),
                "uniqueItems": st.booleans(),
                "contains": inner,
            },
        ),
        st.fixed_dictionaries({"anyOf": several}),
        st.fixed_dictionaries({"oneOf": several}),
        st.fixed_dictionaries({"allOf": several}),
        st.fixed_dictionaries({"if": inner, "then": inner}, optional={"else": inner}),
    )


SCHEMAS = st.recursive(LEAVES, above, max_leaves=4)
TREE = {
    "type": "object",
    "properties": {
        "value": {"type": "integer"},
        "next": {"anyOf": [{"$ref": "#/$defs/Tree"}, {"type": "null"}]},
        "children": {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
    },
    "required": ["value", "next"],
    "additionalProperties": False,
}


@settings(suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(SCHEMAS, st.data())
def test_a_schema_accepts_what_is_drawn_from_it(schema: object, data: st.DataObject) -> None:
    whole = {"allOf": [schema], "$defs": {"Tree": TREE}}
    drawn = schema_documents(schema=JsonText.of(whole))
    assume(not drawn.is_empty)
    document = data.draw(drawn)

    assert jsonschema.Draft202012Validator(whole).is_valid(document)
    assert not JsonSchemaForm(JsonText.of(whole)).decoder.check(document)


TOOLS = (
    ToolDefinition(
        "walk", "", JsonText.of({"type": "object", "properties": {"n": {"minimum": 3}}})
    ),
    ToolDefinition("tree", "", JsonText.of({**TREE, "$defs": {"Tree": TREE}})),
)
FORMATS = st.sampled_from(
    [None, JsonFormat(), JsonFormat(JsonText.of(TREE | {"$defs": {"Tree": TREE}}))]
)
CHOICES: st.SearchStrategy[ToolChoice] = st.sampled_from(
    ["auto", "none", "required", NamedTool("tree")]
)


@given(CHOICES, FORMATS, st.integers(0, 2), st.booleans(), st.data())
def test_a_reply_keeps_to_its_request(
    choice: ToolChoice, wanted: JsonFormat | None, most: int, has_tools: bool, data: st.DataObject
) -> None:
    request = ModelRequest(
        messages=(UserMessage("Go."),),
        tools=TOOLS if has_tools else (),
        tool_choice=choice,
        response_format=wanted,
    )
    drawn = data.draw(replies_to(request=request, max_calls=most))
    calls = [part for part in drawn.content if isinstance(part, ToolCall)]
    texts = [part for part in drawn.content if isinstance(part, Text)]
    schemas = {tool.name: tool.input_schema for tool in TOOLS}

    for call in calls:
        assert not faults(schemas[call.tool_name], json.loads(call.input))
    assert len(calls) <= max(most, choice not in {"auto", "none"})
    assert drawn.finish_reason.unified == ("tool-calls" if calls else "stop")
    if has_tools and choice not in {"auto", "none"}:
        assert calls
    if choice == "none" or not has_tools:
        assert not calls
    if isinstance(choice, NamedTool):
        assert {call.tool_name for call in calls} <= {"tree"}
    if not calls and wanted is not None:
        document = json.loads(texts[0].text)
        assert wanted.schema is None or not faults(wanted.schema, document)


def faults(schema: JsonText, document: object) -> object:
    return JsonSchemaForm(schema).decoder.check(document)


@given(st.data())
def test_runs_on_drawn_answers_keep_every_law(data: st.DataObject) -> None:
    @frozen
    class Point:
        x: int
        label: str = "here"

    @tool
    async def move(to: Point, times: int = 1) -> int:
        """Move."""
        return to.x * times

    model = SchemaModel(data.draw)
    journal = MemoryJournal()
    agent = Agent(model=model, tools=[move], output=object_of(Point), stop_when=is_step_count(6))
    run = anyio.run(lambda: agent.generate("Go.", journal=journal, clock=VirtualClock()))

    laws.every_law_holds(trace_of(agent.program, journal.header, journal.entries))
    assert isinstance(run.end, Completed)
    assert isinstance(run.unwrap(), Point)
    assert not [error for step in run.steps for error in step.tool_errors]
    assert len(run.steps) <= 4


@settings(suppress_health_check=[HealthCheck.nested_given], max_examples=20)
@given(st.integers(), CHOICES, FORMATS)
async def test_a_seed_says_what_is_answered(
    seed: int, choice: ToolChoice, wanted: JsonFormat | None
) -> None:
    request = ModelRequest(
        messages=(UserMessage("Go."),), tools=TOOLS, tool_choice=choice, response_format=wanted
    )
    one, other = SchemaModel(seed=seed), SchemaModel(seed=seed)

    await laws.models_are_equal(one, other, request)
    await laws.generate_is_the_folded_stream(one, evolve(request, key="run/0/0"))
