import json
from pathlib import Path

import pytest

from stepfold.loop import fold_parts
from stepfold.providers.anthropic_messages import decode_reply, messages_decoder
from stepfold.values import (
    Finish,
    FinishReason,
    JsonText,
    ModelErrorKind,
    ModelErrorReason,
    ModelWarning,
    Ping,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseMetadata,
    StreamError,
    StreamPart,
    StreamStart,
    Success,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
)

SAMPLES = Path(__file__).parents[2] / "data" / "anthropic_messages"


def event(kind: str, **members: object) -> bytes:
    data = json.dumps({"type": kind, **members})
    return f"event: {kind}\ndata: {data}\n\n".encode()


def block(index: int, **members: object) -> bytes:
    return event("content_block_start", index=index, content_block=members)


def delta(index: int, **members: object) -> bytes:
    return event("content_block_delta", index=index, delta=members)


def close(index: int) -> bytes:
    return event("content_block_stop", index=index)


def opening(**members: object) -> bytes:
    return event("message_start", message={"id": "i", "content": [], **members})


def ending(reason: str | None = "end_turn") -> bytes:
    return event("message_delta", delta={"stop_reason": reason}) + event("message_stop")


def parts(*chunks: bytes, secrets: tuple[str, ...] = ()) -> tuple[StreamPart, ...]:
    decoder = messages_decoder("anthropic", secrets=secrets)
    return (*(part for chunk in chunks for part in decoder.feed(chunk)), *decoder.end())


def shown(*chunks: bytes) -> tuple[StreamPart, ...]:
    """The parts of a reply between its start and its finish."""
    return parts(opening(), *chunks, ending())[2:-1]


def reason(*chunks: bytes) -> ModelErrorReason:
    last = parts(*chunks)[-1]
    assert isinstance(last, StreamError), last
    return last.reason


def kind(*chunks: bytes) -> ModelErrorKind:
    return reason(*chunks).kind


TEXT = block(0, type="text", text="") + delta(0, type="text_delta", text="Hi") + close(0)


@pytest.mark.parametrize("name", ["thinking_and_calls", "web_search"])
def test_a_streamed_reply_is_the_one_in_one_piece(name: str) -> None:
    stream = (SAMPLES / f"{name}.sse").read_bytes()

    whole = decode_reply((SAMPLES / f"{name}.json").read_bytes(), "anthropic")

    assert Success(fold_parts(parts(stream))) == whole


def test_a_whole_stream() -> None:
    warning = ModelWarning("unsupported", "seed")
    decoder = messages_decoder("p", headers=(("x-a", "1"), ("date", "d")), warnings=(warning,))

    assert decoder.feed(opening(model="m")) == (
        StreamStart((warning,)),
        ResponseMetadata(id="i", model_id="m", headers=(("x-a", "1"),)),
    )
    assert decoder.feed(event("ping")) == (Ping(),)
    assert decoder.feed(TEXT) == (TextStart("0"), TextDelta("0", "Hi"), TextEnd("0"))
    assert decoder.feed(ending()) == (Finish(FinishReason("stop", "end_turn")),)
    assert decoder.is_done
    assert decoder.feed(TEXT) == decoder.end() == ()


def test_thinking_ends_with_its_signature() -> None:
    signed = JsonText.of({"anthropic": {"signature": "s"}})

    assert shown(
        block(0, type="thinking", thinking="", signature=""),
        delta(0, type="thinking_delta", thinking="Hm"),
        delta(0, type="signature_delta", signature="s"),
        delta(0, type="signature_delta", signature=""),
        close(0),
        block(1, type="redacted_thinking", data="d"),
        close(1),
    ) == (
        ReasoningStart("0"),
        ReasoningDelta("0", "Hm"),
        ReasoningEnd("0", provider_options=signed),
        ReasoningStart("1"),
        ReasoningEnd("1", provider_options=JsonText.of({"anthropic": {"redacted_data": "d"}})),
    )


def test_a_call_is_complete_at_the_end_of_its_block_only() -> None:
    decoder = messages_decoder("anthropic")
    decoder.feed(opening())

    assert decoder.feed(block(0, type="tool_use", id="a", name="t", input={})) == (
        ToolInputStart("a", "t"),
    )
    assert decoder.feed(delta(0, type="input_json_delta", partial_json="{}")) == (
        ToolInputDelta("a", "{}"),
    )
    assert decoder.feed(delta(0, type="input_json_delta", partial_json=" ")) == (
        ToolInputDelta("a", " "),
    )
    assert decoder.feed(close(0)) == (ToolInputEnd("a"), ToolCall("a", "t", "{} "))


def test_arguments_may_come_with_the_start_of_a_call() -> None:
    called = {"type": "code_execution_20250825", "tool_id": "s"}

    assert shown(
        block(0, type="tool_use", id="a", name="t", input={"x": 1}, caller=called), close(0)
    ) == (
        ToolInputStart("a", "t"),
        ToolInputDelta("a", '{"x":1}'),
        ToolInputEnd("a"),
        ToolCall(
            "a",
            "t",
            '{"x":1}',
            provider_options=JsonText.of({"anthropic": {"caller": called}}),
        ),
    )


def test_content_and_reason_may_come_with_the_start_of_the_message() -> None:
    call = {"type": "tool_use", "id": "a", "name": "t", "input": {}}

    found = parts(opening(content=[call], stop_reason="tool_use"), event("message_stop"))

    assert found[-2] == ToolCall("a", "t", "{}")
    assert found[-1] == Finish(FinishReason("tool-calls", "tool_use"))


def test_two_calls_of_one_id_stay_apart() -> None:
    call = {"type": "tool_use", "id": "a", "name": "t", "input": {}}
    found = shown(block(0, **call), close(0), block(1, **call), close(1))

    assert [part.tool_call_id for part in found if isinstance(part, ToolCall)] == ["a", "call-1"]


def test_the_same_start_again_is_ignored() -> None:
    assert parts(opening(), opening(), TEXT, ending()) == parts(opening(), TEXT, ending())


def test_what_is_unknown_is_ignored() -> None:
    assert shown(
        event("news", index=7),
        block(0, type="text", text="H"),
        delta(0, type="news_delta", text="x"),
        delta(0, type="citations_delta", citation=None),
        delta(0, type="text_delta", text="i"),
        close(0),
    ) == (TextStart("0"), TextDelta("0", "H"), TextDelta("0", "i"), TextEnd("0"))


@pytest.mark.parametrize(
    "chunks",
    [
        (),
        (opening(), TEXT),
        (opening(), TEXT, event("message_delta", delta={"stop_reason": "end_turn"})),
        (opening(), TEXT, ending(None)),
        (opening(), block(0, type="text", text=""), ending()),
        (TEXT,),
        (ending(),),
        (opening(), opening(id="j")),
        (opening(), TEXT, TEXT),
        (opening(), close(0)),
        (opening(), delta(0, type="text_delta", text="x")),
        (opening(), block(0, type="text"), delta(0, type="input_json_delta", partial_json="{")),
        (opening(), block(0, type="tool_use", id="a", name="")),
        (opening(), block(0)),
        (opening(), b"data: {\n\n"),
        (opening(), b"data: []\n\n"),
    ],
)
def test_what_is_cut_or_in_an_impossible_order_is_no_reply(chunks: tuple[bytes, ...]) -> None:
    assert kind(*chunks) == "protocol"


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("overloaded_error", "overloaded"),
        ("api_error", "server"),
        ("rate_limit_error", "rate-limit"),
        ("authentication_error", "authentication"),
        ("invalid_request_error", "bad-request"),
        ("news_error", "unknown"),
    ],
)
def test_an_error_in_the_middle(error: str, expected: ModelErrorKind) -> None:
    said = event("error", error={"type": error, "message": "No"})

    assert reason(opening(), TEXT, said, ending()) == ModelErrorReason(expected, "No", code=error)


def test_no_secret_is_shown() -> None:
    last = parts(opening(), b"data: no key-very-secret\n\n", secrets=("key-very-secret",))[-1]

    assert isinstance(last, StreamError)
    assert "very-secret" not in last.reason.message


@pytest.mark.parametrize("size", [1, 2, 3, 50])
@pytest.mark.parametrize("name", ["thinking_and_calls", "web_search"])
def test_any_chunking_gives_the_same_parts(name: str, size: int) -> None:
    stream = (SAMPLES / f"{name}.sse").read_bytes()
    chunks = [stream[at : at + size] for at in range(0, len(stream), size)]

    assert parts(*chunks) == parts(stream)
    assert parts(stream.replace(b"\n", b"\r\n")) == parts(stream)
