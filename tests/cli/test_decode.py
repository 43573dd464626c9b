import io
import json
import sys
from pathlib import Path

import pytest

from stepfold.cli import main
from stepfold.transport import aws_message
from tests.cli._desk import Command, Done

DATA = Path(__file__).parents[1] / "data"
CHAT = (DATA / "openai_chat" / "text.sse").read_bytes()
MESSAGES = (DATA / "anthropic_messages" / "thinking_and_calls.sse").read_bytes()
WHOLE = (DATA / "anthropic_messages" / "thinking_and_calls.json").read_bytes()
BUSY = {"type": "overloaded_error", "message": "Busy"}


def lines_of(done: Done) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.out.splitlines()]


def kinds_of(done: Done) -> list[object]:
    return [line["type"] for line in lines_of(done)]


def events_of(stream: bytes) -> list[bytes]:
    return [line[6:] for line in stream.splitlines() if line.startswith(b"data: ")]


def decode(stepfold: Command, data: bytes, *options: str) -> Done:
    Path("sent").write_bytes(data)
    return stepfold("decode", *options, "sent")


def test_a_body_is_one_line(stepfold: Command) -> None:
    done = decode(stepfold, WHOLE, "-p", "anthropic-messages")

    (reply,) = lines_of(done)
    assert done.code == 0
    assert reply["type"] == "reply"
    assert reply["finish_reason"] == {"unified": "tool-calls", "raw": "tool_use"}
    assert reply["warnings"] == []
    content = reply["content"]
    assert isinstance(content, list)
    assert content[-1] == {
        "type": "tool-call",
        "tool_call_id": "toolu_2",
        "tool_name": "now",
        "input": "{}",
    }


def test_a_stream_is_its_parts_and_the_reply_that_they_make(stepfold: Command) -> None:
    whole = decode(stepfold, WHOLE, "-p", "anthropic-messages")
    done = decode(stepfold, MESSAGES, "-p", "anthropic-messages", "--stream")

    assert done.code == 0
    assert kinds_of(done)[0] == "stream-start"
    assert kinds_of(done)[-2:] == ["finish", "reply"]
    assert lines_of(done)[-1] == lines_of(whole)[0]


def test_the_forms_of_a_stream_say_the_same(stepfold: Command) -> None:
    options = "-p", "openai-chat", "--stream"
    framed = decode(stepfold, CHAT, *options)
    events = [event for event in events_of(CHAT) if event != b"[DONE]"]
    forms = (
        b"\n".join(events),
        b"\r\n".join(events) + b"\r\n",
        b"\n\n".join(events),
        b"\n".join(b"data: " + event for event in events),
        b"\xef\xbb\xbf" + CHAT,
        CHAT.replace(b"\n", b"\r\n"),
        CHAT.removesuffix(b"data: [DONE]\n\n"),
    )

    assert framed.code == 0
    for form in forms:
        assert decode(stepfold, form, *options) == framed


def test_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WHOLE)))

    assert main(["decode", "--protocol", "anthropic-messages", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["type"] == "reply"


def test_usage_that_is_not_known_is_not_zero(stepfold: Command) -> None:
    body = {"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}

    (reply,) = lines_of(decode(stepfold, json.dumps(body).encode(), "-p", "openai-chat"))

    assert reply["usage"] == {}


def test_a_call_stays_a_call_whatever_its_name(stepfold: Command) -> None:
    call = {"id": "c", "function": {"name": "json", "arguments": '{"a": 1}'}}
    body = {"choices": [{"message": {"tool_calls": [call]}, "finish_reason": "tool_calls"}]}

    (reply,) = lines_of(decode(stepfold, json.dumps(body).encode(), "-p", "openai-chat"))

    assert reply["content"] == [
        {"type": "tool-call", "tool_call_id": "c", "tool_name": "json", "input": '{"a": 1}'}
    ]


@pytest.mark.parametrize("options", [(), ("--stream",)])
def test_an_error_of_the_provider_is_a_line_before_the_reply(
    stepfold: Command, options: tuple[str, ...]
) -> None:
    data = json.dumps({"type": "error", "error": BUSY}).encode()

    done = decode(stepfold, data, "-p", "anthropic-messages", *options)

    error, reply = lines_of(done)[-2:]
    assert done.code == 0
    assert error == {
        "type": "error",
        "error": {
            "reason": "overloaded",
            "is_retryable": True,
            "message": "Busy",
            "code": "overloaded_error",
        },
    }
    assert reply["type"] == "reply"
    assert reply["finish_reason"] == {"unified": "error", "raw": None}


def test_what_came_before_an_error_is_in_the_reply(stepfold: Command) -> None:
    events = events_of(CHAT)[:2] + [json.dumps({"error": BUSY}).encode()]

    done = decode(stepfold, b"\n".join(events), "-p", "openai-chat", "--stream")

    assert kinds_of(done)[-2:] == ["error", "reply"]
    assert lines_of(done)[-1]["content"]


def test_a_stream_without_its_end_is_no_reply(stepfold: Command) -> None:
    cut = MESSAGES.partition(b"event: message_stop")[0]

    done = decode(stepfold, cut, "-p", "anthropic-messages", "--stream")

    assert done.code == 1
    assert "reply" not in kinds_of(done)
    assert "text-delta" in kinds_of(done)
    assert f"line {len(cut.splitlines())}: the stream ended without message_stop" in done.err


def test_bad_json_in_a_stream_is_told_with_its_line(stepfold: Command) -> None:
    events = events_of(CHAT)
    events.insert(2, b"{not json")

    done = decode(stepfold, b"\n".join(events), "-p", "openai-chat", "--stream")

    assert done.code == 1
    assert "line 3: " in done.err


def test_bad_json_in_a_body_is_told_with_its_byte(stepfold: Command) -> None:
    done = decode(stepfold, '{"é": }'.encode(), "-p", "openai-chat")

    assert (done.code, done.out) == (1, "")
    assert "byte 7: " in done.err


def test_a_body_of_another_form_is_no_reply(stepfold: Command) -> None:
    done = decode(stepfold, b'{"object":"list"}', "-p", "openai-responses")

    assert (done.code, done.out) == (1, "")
    assert "byte 0: the server's response holds no output" in done.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("-p", "openai", "sent"), "expected one of ai-gateway, anthropic-messages"),
        (("-p", "openai-chat", "absent"), "cannot read absent: No such file"),
        (("sent",), "--protocol"),
    ],
)
def test_wrong_usage(stepfold: Command, arguments: tuple[str, ...], told: str) -> None:
    Path("sent").write_bytes(WHOLE)

    done = stepfold("decode", *arguments)

    assert (done.code, done.out) == (2, "")
    assert told in done.err


def test_the_binary_event_stream_of_bedrock(stepfold: Command) -> None:
    events: list[tuple[str, dict[str, object]]] = [
        ("messageStart", {"role": "assistant"}),
        ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Hi"}}),
        ("contentBlockStop", {"contentBlockIndex": 0}),
        ("messageStop", {"stopReason": "end_turn"}),
        ("metadata", {"usage": {"inputTokens": 1, "outputTokens": 2}}),
    ]
    messages = [
        aws_message({":event-type": name, ":message-type": "event"}, json.dumps(value).encode())
        for name, value in events
    ]
    options = "-p", "bedrock-converse", "--stream"

    binary = decode(stepfold, b"".join(messages), *options)
    text = decode(stepfold, b"\n".join(json.dumps({n: v}).encode() for n, v in events), *options)
    damaged = decode(stepfold, b"".join(messages[:2]) + messages[2][:-1] + b"?", *options)
    early = decode(stepfold, b"".join(messages[:2]), *options)

    assert kinds_of(binary)[-2:] == ["finish", "reply"]
    assert binary == text
    place = len(messages[0] + messages[1])
    assert (damaged.code, kinds_of(damaged)[-1]) == (1, "text-delta")
    assert f"byte {place}: the event stream is damaged at byte {place}" in damaged.err
    assert (early.code, "without messageStop" in early.err) == (1, True)
