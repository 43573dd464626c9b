from collections.abc import AsyncGenerator, Sequence

import pytest
from attrs import evolve, frozen

from stepfold.loop import fold_parts, parts_of
from stepfold.ports import LanguageModel, compose, streamed
from stepfold.shell._emulate_tools import emulate_tools
from stepfold.values import (
    ApprovalRequest,
    ApprovalResponse,
    AssistantMessage,
    ContentOutput,
    Custom,
    DeniedOutput,
    ErrorJsonOutput,
    ErrorTextOutput,
    File,
    FileText,
    Finish,
    FinishReason,
    JsonFormat,
    JsonObject,
    JsonOutput,
    JsonText,
    JsonValue,
    ModelError,
    ModelReply,
    ModelRequest,
    NamedTool,
    Ping,
    Reasoning,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    StreamPart,
    SystemMessage,
    Text,
    TextDelta,
    TextEnd,
    TextOutput,
    TextStart,
    ToolCall,
    ToolChoice,
    ToolDefinition,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    ToolMessage,
    ToolOutput,
    ToolResult,
    Usage,
    UsageError,
    UserMessage,
)

STOP = FinishReason("stop", "eos")


class Scripted:
    """A model that says what it is told to, and keeps what it was asked."""

    provider = "test"
    model_id = "scripted"

    def __init__(self, parts: Sequence[StreamPart]) -> None:
        self.parts = parts
        self.asked: list[ModelRequest] = []
        self.is_open = False

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        self.asked.append(request)
        return fold_parts(self.parts)

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        self.asked.append(request)
        self.is_open = True
        try:
            for part in self.parts:
                yield part
        finally:
            self.is_open = False


def saying(*texts: str, reason: FinishReason = STOP) -> Scripted:
    content = tuple(Text(text) for text in texts)
    return Scripted(parts_of(ModelReply(content, reason, Usage(3, 4))))


def in_pieces(text: str, reason: FinishReason = STOP) -> Scripted:
    deltas = [TextDelta("0", character) for character in text]
    return Scripted([TextStart("0"), *deltas, TextEnd("0"), Finish(reason)])


def schema(**properties: object) -> JsonText:
    return JsonText.of({"type": "object", "properties": properties, "required": list(properties)})


WEATHER = ToolDefinition("weather", "Look up the weather.", schema(city={"type": "string"}))
CLOCK = ToolDefinition("clock", "Tell the time.", schema())
REQUEST = ModelRequest(
    messages=(UserMessage("Is it warm in Oslo?"),),
    instructions="Be brief.",
    tools=(WEATHER, CLOCK),
    key="r/0/0",
)


async def generated(model: Scripted, request: ModelRequest = REQUEST) -> ModelReply:
    """What generating gives, after a look at whether streaming gives the same."""
    emulated = emulate_tools()(model)
    reply = await emulated.generate(request)
    assert fold_parts(await streamed_parts(emulated, request)) == reply
    assert model.asked[-1] == model.asked[-2]
    return reply


async def streamed_parts(model: LanguageModel, request: ModelRequest = REQUEST) -> list[StreamPart]:
    async with model.stream(request) as parts:
        return [part async for part in parts]


async def asked(request: ModelRequest, max_string_length: int | None = 2_000) -> ModelRequest:
    model = saying("")
    await emulate_tools(max_string_length=max_string_length)(model).generate(request)
    return model.asked[0]


def form_of(request: ModelRequest) -> JsonObject:
    assert request.response_format is not None
    assert request.response_format.schema is not None
    value = request.response_format.schema.value
    assert isinstance(value, JsonObject)
    return value


def branch_names(request: ModelRequest) -> list[object]:
    form = form_of(request)
    branches = form.get("anyOf", (form,))
    assert isinstance(branches, tuple)
    names: list[object] = []
    for branch in branches:
        assert isinstance(branch, JsonObject)
        properties = branch["properties"]
        assert isinstance(properties, JsonObject)
        tool = properties.get("tool")
        names.append(tool["const"] if isinstance(tool, JsonObject) else next(iter(properties)))
    return names


# --- what is asked ----------------------------------------------------------------------------


async def test_tools_become_branches_beside_an_answer() -> None:
    request = await asked(REQUEST)

    assert request.tools == ()
    assert (
        form_of(request)
        == JsonText.of(
            {
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {
                            "tool": {"const": "weather"},
                            "arguments": {
                                "type": "object",
                                "properties": {"city": {"type": "string", "maxLength": 2000}},
                                "required": ["city"],
                            },
                        },
                        "required": ["tool", "arguments"],
                        "additionalProperties": False,
                    },
                    {
                        "type": "object",
                        "properties": {
                            "tool": {"const": "clock"},
                            "arguments": {"type": "object", "properties": {}, "required": []},
                        },
                        "required": ["tool", "arguments"],
                        "additionalProperties": False,
                    },
                    {
                        "type": "object",
                        "properties": {"answer": {"type": "string", "maxLength": 2000}},
                        "required": ["answer"],
                        "additionalProperties": False,
                    },
                ]
            }
        ).value
    )


@pytest.mark.parametrize(
    ("choice", "output", "names"),
    [
        ("auto", None, ["weather", "clock", "answer"]),
        ("auto", JsonFormat(schema(ok={"type": "boolean"})), ["weather", "clock", "output"]),
        ("auto", JsonFormat(), ["weather", "clock", "output"]),
        ("required", None, ["weather", "clock"]),
        ("required", JsonFormat(), ["weather", "clock"]),
        (NamedTool("clock"), None, ["clock"]),
        (NamedTool("clock"), JsonFormat(), ["clock"]),
    ],
)
async def test_the_tool_choice_decides_which_branches_there_are(
    choice: ToolChoice, output: JsonFormat | None, names: list[str]
) -> None:
    request = evolve(REQUEST, tool_choice=choice, response_format=output)

    assert branch_names(await asked(request)) == names


async def test_without_a_choice_of_tools_the_request_is_plain() -> None:
    output = JsonFormat(schema(ok={"type": "boolean"}))
    request = evolve(REQUEST, tool_choice="none", response_format=output)

    plain = evolve(request, tools=(), tool_choice="auto")
    assert await asked(request) == plain


async def test_a_named_tool_that_is_not_offered_is_a_bad_request() -> None:
    with pytest.raises(ModelError, match="'calendar', which is not one of the tools: weather"):
        await asked(evolve(REQUEST, tool_choice=NamedTool("calendar")))


async def test_a_request_without_tools_is_passed_on_as_it_is() -> None:
    request = ModelRequest(messages=(UserMessage("Hi"), AssistantMessage('{"answer":"Hi"}')))
    model = saying('{"answer":"Hello"}')
    emulated = emulate_tools()(model)

    assert (await emulated.generate(request)).content == (Text('{"answer":"Hello"}'),)
    assert await streamed_parts(emulated, request) == list(model.parts)
    assert all(seen is request for seen in model.asked)


async def test_the_instructions_tell_the_tools_and_the_form() -> None:
    lines = (await asked(REQUEST)).instructions.splitlines()

    assert lines[:5] == [
        "Be brief.",
        "",
        "Tools:",
        '- weather: Look up the weather. Arguments: {"city":{"type":"string"}}',
        "- clock: Tell the time. Arguments: {}",
    ]
    assert '{"answer":"<text>"}' in lines[-1]


async def test_optional_arguments_and_examples_are_told_in_full() -> None:
    optional = JsonText.of({"type": "object", "properties": {"a": {"type": "integer"}}})
    tool = ToolDefinition("x", "Do\n  it.", optional, input_examples=(JsonText('{"a":1}'),))
    text = (await asked(evolve(REQUEST, tools=(tool,), instructions=""))).instructions

    assert f'- x: Do it. Arguments: {optional.text} For example: {{"a":1}}' in text


async def test_the_schema_of_an_output_is_told() -> None:
    output = schema(ok={"type": "boolean"})
    text = (await asked(evolve(REQUEST, response_format=JsonFormat(output)))).instructions

    assert text.endswith(f"The value has this schema: {output.text}")


async def test_examples_are_shown_where_they_are_wanted() -> None:
    model = saying("")
    await emulate_tools(with_examples=True)(model).generate(REQUEST)

    assert "\nExamples:\nuser: " in model.asked[0].instructions
    assert "\nExamples:" not in (await asked(REQUEST)).instructions


# --- the history ------------------------------------------------------------------------------


async def test_calls_and_results_are_told_as_text() -> None:
    history = (
        SystemMessage("Speak English."),
        UserMessage("Oslo?"),
        AssistantMessage(
            (
                Reasoning("hm"),
                Text("Let me see."),
                ToolCall("a", "weather", '{ "city" : "Oslo" }', provider_options=JsonText("{}")),
                ToolCall("b", "clock", "{"),
                ApprovalRequest("r/0/0", "a"),
            )
        ),
        ToolMessage((ApprovalResponse("r/0/0", approved=True),)),
        ToolMessage(
            (
                ToolResult("b", "clock", ErrorTextOutput("not JSON")),
                ToolResult("a", "weather", JsonOutput(JsonText('{"celsius": 17.3}'))),
            )
        ),
        AssistantMessage("It is 17.3."),
    )
    request = await asked(evolve(REQUEST, messages=history))

    assert request.messages == (
        history[0],
        history[1],
        AssistantMessage(
            (
                Reasoning("hm"),
                Text('{"answer":"Let me see."}'),
                Text(
                    '{"tool":"weather","arguments":{"city":"Oslo"}}',
                    provider_options=JsonText("{}"),
                ),
                Text('{"tool":"clock","arguments":"{"}'),
            )
        ),
        UserMessage(
            (
                Text('Result of weather: {"celsius":17.3}'),
                Text("Error of clock: not JSON"),
            )
        ),
        AssistantMessage('{"answer":"It is 17.3."}'),
    )
    plain = await asked(evolve(REQUEST, messages=history, tools=()))
    assert plain.messages[-1] == AssistantMessage("It is 17.3.")
    assert plain.messages[3] == request.messages[3]


async def test_every_kind_of_result_is_told() -> None:
    picture = File(FileText("<svg/>"), "image/svg+xml")
    outputs: tuple[ToolOutput, ...] = (
        TextOutput("warm"),
        ErrorJsonOutput(JsonText('{"code": 1}')),
        DeniedOutput(),
        DeniedOutput("too late"),
        ContentOutput((Text("one"), picture, Custom("x.y"), Text("two"))),
    )
    results = tuple(ToolResult(str(i), "t", output) for i, output in enumerate(outputs))
    own = AssistantMessage((ToolResult("s", "search", TextOutput("found")),))
    request = await asked(ModelRequest(messages=(own, ToolMessage(results))))

    assert request.messages == (
        AssistantMessage("Result of search: found"),
        UserMessage(
            (
                Text("Result of t: warm"),
                Text('Error of t: {"code":1}'),
                Text("The use of t was denied."),
                Text("The use of t was denied: too late."),
                Text("Result of t: one\ntwo"),
                picture,
            )
        ),
    )


async def test_earlier_outputs_are_told_as_such() -> None:
    messages = (AssistantMessage('{"ok":true}'), AssistantMessage("no JSON"))
    request = evolve(REQUEST, messages=messages, response_format=JsonFormat())

    assert (await asked(request)).messages == (
        AssistantMessage('{"output":{"ok":true}}'),
        AssistantMessage('{"answer":"no JSON"}'),
    )


async def test_a_message_of_approvals_only_is_not_told() -> None:
    response = ApprovalResponse("x", approved=True, provider_executed=True)
    request = evolve(REQUEST, messages=(UserMessage("Hi"), ToolMessage((response,))))

    assert (await asked(request)).messages == (UserMessage("Hi"),)


# --- schemas ----------------------------------------------------------------------------------


async def arguments_form(
    input_schema: object, max_string_length: int | None = None
) -> tuple[JsonValue, JsonValue]:
    """The arguments in a form of one branch, and the definitions at its root."""
    tool = ToolDefinition("t/1", "", JsonText.of(input_schema))
    request = evolve(REQUEST, tools=(tool,), tool_choice="required")
    form = form_of(await asked(request, max_string_length))
    properties = form["properties"]
    assert isinstance(properties, JsonObject)
    return properties["arguments"], form.get("$defs")


async def test_references_stay_right() -> None:
    arguments, definitions = await arguments_form(
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "https://example.org/x",
            "type": "object",
            "properties": {
                "a": {"$ref": "#/$defs/My%20Node"},
                "b": {"$ref": "#/$defs/My Node/properties/next"},
                "c": {"$ref": "#"},
                "d": {"$ref": "#/properties/a"},
                "e": {"$ref": "https://example.org/y#/$defs/Z"},
                "f": {"$ref": "#anchor"},
                "$ref": {"type": "integer"},
                "g": {"const": {"$ref": "#/$defs/My Node"}},
                "h": {"$ref": "#/definitions/Old"},
                "i": {"anyOf": [{"$ref": "#/$defs/My_Node"}, True]},
            },
            "$defs": {
                "My Node": {"properties": {"next": {"$ref": "#/$defs/My%20Node"}}},
                "My_Node": {"type": "null"},
            },
            "definitions": {"Old": {"type": "integer"}},
        }
    )

    assert (
        arguments
        == JsonText.of(
            {
                "type": "object",
                "properties": {
                    "a": {"$ref": "#/$defs/t_1_My_Node"},
                    "b": {"$ref": "#/$defs/t_1_My_Node/properties/next"},
                    "c": {"$ref": "#/properties/arguments"},
                    "d": {"$ref": "#/properties/arguments/properties/a"},
                    "e": {"$ref": "https://example.org/y#/$defs/Z"},
                    "f": {"$ref": "#anchor"},
                    "$ref": {"type": "integer"},
                    "g": {"const": {"$ref": "#/$defs/My Node"}},
                    "h": {"$ref": "#/$defs/t_1_Old"},
                    "i": {"anyOf": [{"$ref": "#/$defs/t_1_My_Node_"}, True]},
                },
            }
        ).value
    )
    assert (
        definitions
        == JsonText.of(
            {
                "t_1_My_Node": {"properties": {"next": {"$ref": "#/$defs/t_1_My_Node"}}},
                "t_1_My_Node_": {"type": "null"},
                "t_1_Old": {"type": "integer"},
            }
        ).value
    )


async def test_references_know_their_branch() -> None:
    input_schema = JsonText.of({"properties": {"a": {"$ref": "#"}}})
    tools = (
        CLOCK,
        ToolDefinition("t", "", input_schema),
        ToolDefinition("u", "", JsonText("true")),
    )
    output = JsonFormat(JsonText.of({"items": {"$ref": "#"}}))
    request = await asked(evolve(REQUEST, tools=tools, response_format=output))

    text = request.response_format and request.response_format.schema
    assert text is not None
    assert '{"$ref":"#/anyOf/1/properties/arguments"}' in text.text
    assert '"arguments":true' in text.text
    assert '{"$ref":"#/anyOf/3/properties/output"}' in text.text


async def test_open_strings_are_bounded() -> None:
    arguments, _ = await arguments_form(
        {
            "properties": {
                "open": {"type": "string"},
                "null": {"type": ["string", "null"]},
                "long": {"type": "string", "minLength": 50},
                "bounded": {"type": "string", "maxLength": 5},
                "enum": {"type": "string", "enum": ["a"]},
                "const": {"type": "string", "const": "a"},
                "date": {"type": "string", "format": "date"},
                "number": {"type": "number"},
                "list": {"type": "array", "items": {"type": "string"}},
            }
        },
        20,
    )

    assert (
        arguments
        == JsonText.of(
            {
                "properties": {
                    "open": {"type": "string", "maxLength": 20},
                    "null": {"type": ["string", "null"], "maxLength": 20},
                    "long": {"type": "string", "minLength": 50, "maxLength": 50},
                    "bounded": {"type": "string", "maxLength": 5},
                    "enum": {"type": "string", "enum": ["a"]},
                    "const": {"type": "string", "const": "a"},
                    "date": {"type": "string", "format": "date"},
                    "number": {"type": "number"},
                    "list": {"type": "array", "items": {"type": "string", "maxLength": 20}},
                }
            }
        ).value
    )


def test_a_bound_below_one_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 1, or None, got 0"):
        emulate_tools(max_string_length=0)


# --- the reply --------------------------------------------------------------------------------

CALL = '{ "tool" : "weather",\n "arguments" : {"city": "\\u004fslo }]", "n": [1, {}]} }'


async def test_a_call_is_read() -> None:
    reply = await generated(in_pieces(CALL))

    arguments = '{"city": "\\u004fslo }]", "n": [1, {}]}'
    assert reply.content == (ToolCall("r/0/0/0", "weather", arguments),)
    assert reply.finish_reason == FinishReason("tool-calls", "eos")


async def test_calls_are_numbered_through_the_blocks() -> None:
    reply = await generated(saying(CALL, '{"answer":"and"}', '{"tool":"clock","arguments":{}}'))

    assert [type(part) for part in reply.content] == [ToolCall, Text, ToolCall]
    assert reply.content[2] == ToolCall("r/0/0/1", "clock", "{}")
    assert reply.usage == Usage(3, 4)


async def test_without_a_key_calls_are_numbered_through_the_history() -> None:
    earlier = AssistantMessage((ToolCall("call/0", "clock", "{}"),))
    request = evolve(REQUEST, key="", messages=(UserMessage("Hi"), earlier))
    reply = await generated(saying('{"tool":"clock","arguments":{}}'), request)

    assert reply.content == (ToolCall("call/1", "clock", "{}"),)


async def test_the_input_of_a_call_is_streamed() -> None:
    parts = await streamed_parts(
        emulate_tools()(in_pieces('{"tool":"weather","arguments":{"a":1}}'))
    )

    call_id = "r/0/0/0"
    assert parts == [
        ToolInputStart(call_id, "weather"),
        *(ToolInputDelta(call_id, character) for character in '{"a":1}'),
        ToolInputEnd(call_id),
        ToolCall(call_id, "weather", '{"a":1}'),
        Finish(FinishReason("tool-calls", "eos")),
    ]


async def test_an_answer_is_streamed_as_it_comes() -> None:
    parts = await streamed_parts(emulate_tools()(in_pieces('{"answer":"a\\n\\ud83d\\ude00é"}')))

    assert parts == [
        TextStart("0"),
        *(TextDelta("0", character) for character in ("a", "\n", "😀", "é")),
        TextEnd("0"),
        Finish(STOP),
    ]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ('{"answer":"plain"}', "plain"),
        (' {\n"answer" : "spaced" }\n', "spaced"),
        ('{"\\u0061nswer":"escaped key"}', "escaped key"),
        (r'{"answer":"\" \\ \/ \b\f\r\t"}', '" \\ / \b\f\r\t'),
        (r'{"answer":"\ud83d"}', "\ufffd"),
        (r'{"answer":"\ude00x"}', "\ufffdx"),
        (r'{"answer":"\ud83d\ud83d\ude00"}', "\ufffd😀"),
        (r'{"answer":"\ud83dx\n"}', "\ufffdx\n"),
        (r'{"answer":"\q \u12x"}', r"\q \u12x"),
        ('{"answer":"raw\nline"}', "raw\nline"),
        ('{"answer":"more"} and more', "more and more"),
        ('{"answer":"more", "x":1}', 'more, "x":1}'),
        ('{"answer":"cut', "cut"),
        ('{"answer":"cut\\', "cut"),
        ('{"answer":"cut\\u12', "cut"),
        ('{"answer":"cut\\ud83d', "cut\ufffd"),
        ('{"answer":"cut"', "cut"),
        ('{"answer":"cut" ', "cut"),
        ("no JSON at all", "no JSON at all"),
        ("  spaced", "  spaced"),
        ("[1]", "[1]"),
        ("{", "{"),
        ('{"answer', '{"answer'),
        ('{"ans\\', '{"ans\\'),
        ('{"\\q":1}', '{"\\q":1}'),
        ('{"answer":1}', '{"answer":1}'),
        ('{"output":1}', '{"output":1}'),
        ('{"tool":"weather"}', '{"tool":"weather"}'),
        ('{"tool":1,"arguments":{}}', '{"tool":1,"arguments":{}}'),
        ('{"tool":"no such","arguments":{}}', '{"tool":"no such","arguments":{}}'),
        ('{"arguments":{},"tool":"no such"}', '{"arguments":{},"tool":"no such"}'),
        ('{"arguments":{},"tool":2}', '{"arguments":{},"tool":2}'),
        ('{"tool":"clock","input":{}}', '{"tool":"clock","input":{}}'),
        ('{"tool":"clock","arguments":{}} ok', '{"tool":"clock","arguments":{}} ok'),
        ('{"tool":"clock","arguments":{},"x":1}', '{"tool":"clock","arguments":{},"x":1}'),
        ('{"tool":"clock","arguments":{"a":1,"a":2}}',) * 2,
        ('{"tool":"clock","arguments":{"a":"\\', '{"tool":"clock","arguments":{"a":"\\'),
        ("\ud83d", "\ufffd"),
    ],
)  # fmt: skip
async def test_everything_else_is_text(said: str, text: str) -> None:
    reply = await generated(saying(said))

    assert reply.content == (Text(text),)
    assert reply.finish_reason == STOP
    assert await generated(in_pieces(said)) == evolve(reply, usage=Usage())


async def test_members_in_another_order_make_a_call() -> None:
    reply = await generated(in_pieces('{"arguments": {"city": "Oslo"}, "tool": "weather"}'))

    assert reply.content == (ToolCall("r/0/0/0", "weather", '{"city":"Oslo"}'),)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ('{"output": {"ok" : [true, "}\\"", 1]} }', '{"ok" : [true, "}\\"", 1]}'),
        ('{"output":17.3}', "17.3"),
        ('{"output":null }', "null"),
        ('{"output":"x"}', '"x"'),
        ('{"output":[]}', "[]"),
        ('{"output":{"a":"cut', '{"a":"cut'),
        ('{"output":', '{"output":'),
        ('{"output":1} more', "1 more"),
        ('{"answer":"no"}', "no"),
    ],
)
async def test_an_output_is_read(said: str, text: str) -> None:
    request = evolve(REQUEST, response_format=JsonFormat())

    assert (await generated(saying(said), request)).content == (Text(text),)


async def test_a_cut_reply_keeps_its_reason_and_makes_no_call() -> None:
    cut = '{"tool":"weather","arguments":{"city":"Os'
    reply = await generated(in_pieces(cut, FinishReason("length")))

    assert reply.content == (Text(cut),)
    assert reply.finish_reason == FinishReason("length")


async def test_a_complete_call_keeps_the_reason_of_a_cut_reply() -> None:
    reply = await generated(saying(CALL, reason=FinishReason("length")))

    assert isinstance(reply.content[0], ToolCall)
    assert reply.finish_reason == FinishReason("length")


async def test_a_tool_that_was_not_chosen_is_not_called() -> None:
    request = evolve(REQUEST, tool_choice=NamedTool("clock"))

    assert (await generated(saying(CALL), request)).content == (Text(CALL),)


async def test_what_the_provider_attached_stays() -> None:
    options = JsonText('{"test":{"id":1}}')
    call, answer = Text(CALL, provider_options=options), Text("Hi", provider_options=options)
    reply = await generated(Scripted(parts_of(ModelReply((call, answer), STOP))))

    assert [getattr(part, "provider_options", None) for part in reply.content] == [options] * 2


async def test_blocks_keep_their_places_when_they_interleave() -> None:
    options = JsonText('{"test":{}}')
    model = Scripted(
        [
            TextStart("a"),
            TextDelta("a", '{"tool":"clock",'),
            ReasoningStart("b"),
            ReasoningDelta("b", "hm"),
            Ping(),
            TextStart("c", provider_options=options),
            TextDelta("c", "and "),
            ReasoningEnd("b"),
            TextDelta("a", '"arguments":{}}'),
            TextDelta("c", "more"),
            Finish(STOP),
        ]
    )
    reply = await generated(model)

    assert reply.content == (
        ToolCall("r/0/0/0", "clock", "{}"),
        Reasoning("hm"),
        Text("and more", provider_options=options),
    )


async def test_a_part_of_a_block_that_is_not_open_is_told_by_the_fold() -> None:
    model = Scripted([TextDelta("a", "x"), Finish(STOP)])

    with pytest.raises(ModelError, match="not open"):
        fold_parts(await streamed_parts(emulate_tools()(model)))


# --- the laws of middleware -------------------------------------------------------------------


async def test_it_has_the_names_of_the_model_and_composes() -> None:
    model = saying(CALL)
    composed = compose(emulate_tools(), emulate_tools(max_string_length=5))(model)

    assert (composed.provider, composed.model_id) == ("test", "scripted")
    assert await composed.generate(REQUEST) == await emulate_tools()(model).generate(REQUEST)
    assert model.asked[0] == model.asked[1]


async def test_leaving_early_closes_the_stream() -> None:
    model = in_pieces(CALL)
    async with emulate_tools()(model).stream(REQUEST) as parts:
        async for _ in parts:
            assert model.is_open
            break

    assert not model.is_open


@frozen
class Failing:
    provider: str = "test"
    model_id: str = "failing"

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        raise ValueError("no")

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        yield Ping()
        raise ValueError("no")


async def test_errors_of_the_model_pass() -> None:
    model = emulate_tools()(Failing())

    with pytest.raises(ValueError, match="no"):
        await model.generate(REQUEST)
    with pytest.raises(ValueError, match="no"):
        await streamed_parts(model)
