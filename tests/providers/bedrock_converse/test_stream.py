"""Streams of Converse: binary messages or their text, in order, to a reply or a reason why not."""

import json

import pytest

from stepfold.loop import fold_parts
from stepfold.providers.bedrock_converse import converse_decoder, decode_reply
from stepfold.transport import aws_message
from stepfold.values import (
    File,
    FileBytes,
    Finish,
    FinishReason,
    ModelErrorKind,
    ModelErrorReason,
    ModelReply,
    StreamError,
    StreamPart,
    Success,
    Text,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    ToolResult,
    Usage,
)

Event = dict[str, object]

START: Event = {"messageStart": {"role": "assistant"}}
STOP: Event = {"messageStop": {"stopReason": "end_turn"}}
METADATA: Event = {"metadata": {"usage": {"inputTokens": 1, "outputTokens": 2}}}


def delta(index: object, **members: object) -> Event:
    return {"contentBlockDelta": {"contentBlockIndex": index, "delta": members, "p": "abc"}}


def begin(index: int, **members: object) -> Event:
    return {"contentBlockStart": {"contentBlockIndex": index, "start": members}}


def stop(index: int) -> Event:
    return {"contentBlockStop": {"contentBlockIndex": index}}


def binary(*events: Event) -> bytes:
    """Events as Bedrock sends them."""
    return b"".join(
        aws_message(
            {
                ":exception-type" if name.endswith("Exception") else ":event-type": name,
                ":content-type": "application/json",
                ":message-type": "exception" if name.endswith("Exception") else "event",
            },
            json.dumps(value).encode(),
        )
        for event in events
        for name, value in event.items()
    )


def parts(*chunks: bytes, secrets: tuple[str, ...] = ()) -> list[StreamPart]:
    decoder = converse_decoder("bedrock", headers=(("x-a", "1"),), secrets=secrets)
    return [*(part for chunk in chunks for part in decoder.feed(chunk)), *decoder.end()]


def reply_of(*events: Event) -> ModelReply:
    found = parts(binary(*events))
    assert isinstance(found[-1], Finish), found[-1]
    text = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)
    assert parts(text) == found
    return fold_parts(found)


def fault_of(stream: bytes) -> ModelErrorReason:
    last = parts(stream)[-1]
    assert isinstance(last, StreamError), last
    return last.reason


TURN: tuple[Event, ...] = (
    START,
    delta(0, reasoningContent={"text": "Hm"}),
    delta(0, reasoningContent={"text": "."}),
    delta(0, reasoningContent={"signature": "s"}),
    stop(0),
    delta(1, text="So"),
    delta(1, citation={"title": "T", "location": {"web": {"url": "https://a"}}}),
    stop(1),
    begin(2, toolUse={"toolUseId": "t", "name": "look"}),
    delta(2, toolUse={"input": '{"n"'}),
    delta(2, toolUse={"input": ":1}"}),
    stop(2),
    begin(3, toolUse={"toolUseId": "u", "name": "now"}),
    stop(3),
    {"messageStop": {"stopReason": "tool_use"}},
    METADATA,
)
WHOLE: Event = {
    "output": {
        "message": {
            "content": [
                {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "s"}}},
                {
                    "citationsContent": {
                        "content": [{"text": "So"}],
                        "citations": [{"title": "T", "location": {"web": {"url": "https://a"}}}],
                    }
                },
                {"toolUse": {"toolUseId": "t", "name": "look", "input": {"n": 1}}},
                {"toolUse": {"toolUseId": "u", "name": "now", "input": {}}},
            ]
        }
    },
    "stopReason": "tool_use",
    "usage": {"inputTokens": 1, "outputTokens": 2},
}


def test_a_turn_is_the_reply_in_one_piece() -> None:
    whole = decode_reply(json.dumps(WHOLE).encode(), "bedrock", headers=(("x-a", "1"),))

    assert Success(reply_of(*TURN)) == whole


def test_a_call_is_complete_when_its_block_is() -> None:
    found = parts(binary(*TURN))

    at = found.index(ToolInputStart("t", "look"))
    assert found[at + 1 : at + 5] == [
        ToolInputDelta("t", '{"n"'),
        ToolInputDelta("t", ":1}"),
        ToolInputEnd("t"),
        ToolCall("t", "look", '{"n":1}'),
    ]


def test_start_ends_of_blocks_and_figures_may_be_missing() -> None:
    reply = reply_of(
        delta(0, text="Hi"),
        begin(1, toolUse={"toolUseId": "t", "name": "look"}),
        delta(1, toolUse={"input": "{}"}),
        STOP,
    )

    assert reply.content == (Text("Hi"), ToolCall("t", "look", "{}"))
    assert reply.usage == Usage()


def test_the_same_start_twice_and_what_is_unknown_say_nothing() -> None:
    odd: tuple[Event, ...] = delta(0, hologram={}), begin(9, hologram={}), {"news": {}}, stop(5)
    reply = reply_of(START, START, *odd, delta(0, text="Hi"), METADATA, STOP)

    assert reply.content == (Text("Hi"),)
    assert reply.usage.output_tokens == 2


def test_results_and_files_come_in_pieces() -> None:
    reply = reply_of(
        begin(0, toolUse={"toolUseId": "s", "name": "search", "type": "server_tool_use"}),
        stop(0),
        begin(1, toolResult={"toolUseId": "s", "status": "success"}),
        delta(1, toolResult=[{"text": "a"}]),
        delta(1, toolResult=[{"json": {"b": 1}}]),
        stop(1),
        begin(2, image={"format": "png"}),
        delta(2, image={"source": {"bytes": "aGk="}}),
        delta(2, image={"source": {"bytes": "IQ=="}}),
        stop(2),
        begin(3, image={"format": "png"}),
        stop(3),
        delta(4, reasoningContent={"redactedContent": "cg=="}),
        delta(4, reasoningContent={"redactedContent": "cw=="}),
        stop(4),
        STOP,
    )

    call, result, image, sealed = reply.content
    assert isinstance(call, ToolCall)
    assert call.provider_executed
    assert isinstance(result, ToolResult)
    assert json.loads(getattr(result.output, "value").text) == [{"text": "a"}, {"json": {"b": 1}}]  # noqa: B009
    assert image == File(FileBytes(b"hi!"), "image/png")
    assert json.loads(getattr(sealed, "provider_options").text) == {  # noqa: B009
        "bedrock": {"redacted_data": "cnM="}
    }


def test_nothing_is_read_after_the_figures() -> None:
    found = parts(binary(delta(0, text="Hi"), STOP, METADATA) + b"\0garbage")

    assert isinstance(found[-1], Finish)
    assert found[-1].finish_reason == FinishReason("stop", "end_turn")


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ((START, delta(0, text="Hi"), stop(0)), "without messageStop"),
        ((), "without messageStop"),
        ((START, {"messageStart": {"role": "user"}}), "another reply"),
        ((STOP, delta(0, text="Hi")), "contentBlockDelta came after messageStop"),
        ((STOP, STOP), "messageStop came after messageStop"),
        (({"messageStop": {}},), "without a reason"),
        ((delta(None, text="Hi"),), "without the index"),
        ((delta(0, text="Hi"), stop(0), delta(0, text="!")), "after its end"),
        ((stop(0), stop(0)), "ended twice"),
        ((begin(0, toolUse={"name": "a"}), begin(0, toolUse={"name": "b"})), "started twice"),
        ((begin(0, toolUse={"toolUseId": "a"}),), "without a name"),
        ((delta(0, toolUse={"input": "{}"}),), "before its start"),
        ((delta(0, toolResult=[]),), "before its start"),
        ((delta(0, image={"source": {"bytes": "aGk="}}),), "before its start"),
        ((delta(0, text="Hi"), delta(0, toolUse={"input": "{}"})), "which is 'text'"),
        (
            (begin(0, image={}), delta(0, image={"source": {"bytes": "!"}}), stop(0)),
            "not in base64",
        ),
    ],
)
def test_what_makes_no_sense_is_a_violation(events: tuple[Event, ...], message: str) -> None:
    fault = fault_of(binary(*events))

    assert fault.kind == "protocol"
    assert message in fault.message


@pytest.mark.parametrize(
    ("name", "value", "kind"),
    [
        ("throttlingException", {"message": "Too many tokens, please wait"}, "rate-limit"),
        (
            "validationException",
            {"message": "Input is too long for requested model."},
            "context-length",
        ),
        ("validationException", {"message": "Bad"}, "bad-request"),
        ("modelStreamErrorException", {"message": "x", "originalStatusCode": 400}, "server"),
        ("internalServerException", {"message": "x"}, "server"),
        ("serviceUnavailableException", {"message": "x"}, "overloaded"),
        ("newsException", {"message": "x"}, "unknown"),
    ],
)
def test_exceptions_are_reasons(name: str, value: Event, kind: ModelErrorKind) -> None:
    events: tuple[Event, ...] = START, delta(0, text="Hi"), {name: value}
    text = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)

    fault = fault_of(binary(*events))

    assert (fault.kind, fault.message) == (kind, value["message"])
    assert fault.code == name[0].upper() + name[1:]
    assert fault_of(text) == fault


def test_errors_of_the_transport_are_reasons() -> None:
    said = {":message-type": "error", ":error-code": "InternalFailure", ":error-message": "Oops"}

    fault = fault_of(aws_message(said))

    assert (fault.message, fault.code) == ("Oops", "InternalFailure")


def test_damage_is_told_with_its_place() -> None:
    good = binary(START)

    assert f"at byte {len(good)}" in fault_of(good + good[:-1] + b"?").message
    assert f"at byte {len(good)}" in fault_of(good + good[:-1]).message
    assert "at byte 0 does not say its type" in fault_of(aws_message({})).message
    odd = aws_message({":event-type": "x", ":message-type": "event"}, b"{my-secret")
    last = parts(odd, secrets=("my-secret",))[-1]
    assert isinstance(last, StreamError)
    assert "not JSON" in last.reason.message
    assert "my-secret" not in last.reason.message
