"""Tools by schema: however a reply comes, it is read the same, and nothing of it is lost."""

import json
from collections.abc import AsyncGenerator, Sequence
from itertools import pairwise

import anyio
import jsonschema
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st

from stepfold.loop import fold_parts, parts_of
from stepfold.ports import streamed
from stepfold.shell._emulate_tools import emulate_tools
from stepfold.values import (
    AssistantMessage,
    Finish,
    FinishReason,
    JsonFormat,
    JsonText,
    Message,
    ModelReply,
    ModelRequest,
    Reasoning,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ReplyPart,
    StreamPart,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolDefinition,
    ToolMessage,
    ToolResult,
    UnifiedFinishReason,
    UserMessage,
    dump_json,
)
from stepfold.values import JsonOutput as Json

NODE = JsonText.of(
    {
        "type": "object",
        "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/Node"}},
        "required": ["value"],
        "additionalProperties": False,
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {"next": {"$ref": "#/$defs/Node"}, "whole": {"$ref": "#"}},
                "additionalProperties": False,
            }
        },
    }
)
TOOLS = (
    ToolDefinition("a", "First.", NODE),
    ToolDefinition("b", "Second.", JsonText('{"type":"object"}')),
)


class Scripted:
    """A model that says what it is told to."""

    provider = "test"
    model_id = "scripted"

    def __init__(self, parts: Sequence[StreamPart]) -> None:
        self.parts = parts
        self.open = 0
        self.asked: list[ModelRequest] = []

    async def generate(self, request: ModelRequest, /) -> ModelReply:
        self.asked.append(request)
        return fold_parts(self.parts)

    @streamed
    async def stream(self, request: ModelRequest, /) -> AsyncGenerator[StreamPart]:
        self.open += 1
        try:
            for part in self.parts:
                yield part
        finally:
            self.open -= 1


def asking(output: JsonFormat | None = None, *messages: Message) -> ModelRequest:
    return ModelRequest(
        messages=messages or (UserMessage("Hi"),), tools=TOOLS, response_format=output, key="r/0/0"
    )


# --- what models say --------------------------------------------------------------------------

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def encoded(draw: st.DrawFn, value: object) -> str:
    """One of the ways to write a document."""
    return json.dumps(value, ensure_ascii=draw(st.booleans()), indent=draw(st.none() | st.just(1)))


documents = st.one_of(
    st.text(max_size=20).map(lambda text: {"answer": text}),
    st.builds(
        lambda name, arguments: {"tool": name, "arguments": arguments},
        st.sampled_from(["a", "b", "c"]),
        json_values,
    ),
    json_values.map(lambda value: {"output": value}),
    json_values,
).flatmap(encoded)
_pieces = st.sampled_from(
    [
        *('{"answer":"', '{"tool":"a","arguments":', '{"output":', '"a"', "\ud83d", "\ude00"),
        *(
            '"',
            "\\",
            "\\u",
            "d83d",
            "\\ude00",
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            " ",
            "\n",
            "1",
            "é",
            "😀",
        ),
    ]
)
fragments = st.lists(_pieces, max_size=12).map("".join)
cut_documents = st.builds(lambda text, end: text[:end], documents, st.integers(0, 60))
said = documents | cut_documents | fragments

reasons: list[UnifiedFinishReason] = ["stop", "length", "content-filter", "other"]
contents = st.one_of(
    said.map(Text),
    st.text(max_size=5).map(Reasoning),
    st.just(ToolCall("x", "native", "{}")),
)
replies = st.builds(
    ModelReply,
    st.lists(contents, max_size=4).map(tuple),
    st.sampled_from(reasons).map(FinishReason),
)
outputs = st.sampled_from([None, JsonFormat()])


@st.composite
def streams(draw: st.DrawFn) -> list[StreamPart]:
    """A reply with its blocks in small pieces and interleaved."""
    reply = draw(replies)
    lanes: list[list[StreamPart]] = []
    for index, part in enumerate(reply.content):
        lane: list[StreamPart] = []
        for piece in parts_of(ModelReply((part,), reply.finish_reason))[1:-1]:
            if isinstance(piece, TextDelta):
                text = piece.delta
                ends = draw(st.lists(st.integers(0, len(text)), max_size=8).map(sorted))
                lane += [
                    TextDelta(str(index), text[a:b]) for a, b in pairwise([0, *ends, len(text)])
                ]
            elif isinstance(piece, _BLOCK_PARTS):
                lane.append(evolve(piece, id=str(index)))
            elif isinstance(piece, ToolCall):  # ids are unique within one reply
                lane.append(evolve(piece, tool_call_id=f"x{index}"))
        lanes.append(lane)
    parts: list[StreamPart] = []
    while any(lanes):
        lane = lanes[draw(st.integers(0, len(lanes) - 1))]
        if lane:
            parts.append(lane.pop(0))
    return [*parts, Finish(reply.finish_reason)]


_BLOCK_PARTS = (TextStart, TextEnd, ReasoningStart, ReasoningDelta, ReasoningEnd)


# --- properties -------------------------------------------------------------------------------


def run(parts: Sequence[StreamPart], request: ModelRequest) -> tuple[ModelReply, ModelReply]:
    """What generating gives, and what the stream folds to."""

    async def both() -> tuple[ModelReply, ModelReply]:
        model = emulate_tools()(Scripted(parts))
        async with model.stream(request) as stream:
            seen = [part async for part in stream]
        return await model.generate(request), fold_parts(seen)

    return anyio.run(both)


@given(streams(), outputs)
def test_generating_is_the_fold_of_streaming(
    parts: list[StreamPart], output: JsonFormat | None
) -> None:
    generated, folded = run(parts, asking(output))

    assert generated == folded


@given(streams())
async def test_leaving_at_any_part_closes_the_stream(parts: list[StreamPart]) -> None:
    model = Scripted(parts)
    shown: list[StreamPart] = []
    async with emulate_tools()(model).stream(asking()) as stream:
        shown.extend([part async for part in stream])
    for count in range(len(shown)):
        async with emulate_tools()(model).stream(asking()) as stream:
            for _ in range(count):
                await anext(stream)

        assert model.open == 0


@given(
    st.text(max_size=30).flatmap(lambda text: st.tuples(st.just(text), encoded({"answer": text})))
)
@example(("😀", '{"answer":"\\ud83d\\ude00"}'))
def test_an_answer_comes_back_as_it_was_meant(written: tuple[str, str]) -> None:
    text, document = written
    parts: list[StreamPart] = []
    parts += [TextStart("0"), *(TextDelta("0", c) for c in document), Finish(FinishReason("stop"))]

    expected: tuple[ReplyPart, ...] = (Text(text),) if text else ()
    assert run(parts, asking())[1].content == expected


@given(said, st.sampled_from(reasons))
def test_a_call_is_made_of_a_complete_document_only(text: str, reason: UnifiedFinishReason) -> None:
    reply = ModelReply((Text(text),), FinishReason(reason))
    read = run(parts_of(reply), asking())[0]

    for part in read.content:
        if isinstance(part, ToolCall):
            document = json.loads(text)
            assert document == {"tool": part.tool_name, "arguments": json.loads(part.input)}
            assert part.tool_name in {"a", "b"}
    called = any(isinstance(part, ToolCall) for part in read.content)
    assert read.finish_reason.unified == ("tool-calls" if called and reason == "stop" else reason)


@given(st.sampled_from(["a", "b"]), json_values)
def test_the_history_tells_a_call_as_the_model_would_write_it(name: str, arguments: object) -> None:
    call = ToolCall("1", name, dump_json(arguments))
    result = ToolResult("1", name, Json(JsonText("1")))
    model = Scripted([Finish(FinishReason("stop"))])
    request = asking(None, AssistantMessage((call,)), ToolMessage((result,)))
    anyio.run(emulate_tools()(model).generate, request)
    told = model.asked[0].messages[0]

    assert isinstance(told, AssistantMessage)
    said_again = told.content[0]
    assert isinstance(said_again, Text)
    again = run(parts_of(ModelReply((said_again,), FinishReason("stop"))), asking())[0]
    assert again.content == (ToolCall("r/0/0/0", name, call.input),)


_node_arguments = st.recursive(
    st.builds(dict[str, object]),
    lambda inner: st.dictionaries(st.sampled_from(["next", "whole", "value"]), inner, max_size=2),
    max_leaves=4,
).flatmap(lambda node: st.sampled_from([node, {"value": 1, **({"next": node} if node else {})}]))


@given(_node_arguments, st.booleans())
def test_the_form_accepts_a_call_when_the_tool_does(arguments: object, is_alone: bool) -> None:
    model = Scripted([Finish(FinishReason("stop"))])
    request = evolve(asking(), tools=TOOLS[:1], tool_choice="required") if is_alone else asking()
    anyio.run(emulate_tools()(model).generate, request)
    form = model.asked[0].response_format
    assert form is not None
    assert form.schema is not None

    def accepts(schema: JsonText, value: object) -> bool:
        validator = jsonschema.Draft202012Validator(json.loads(schema.text))
        return validator.is_valid(value)

    call = {"tool": "a", "arguments": arguments}
    assert accepts(form.schema, call) == accepts(NODE, arguments)
