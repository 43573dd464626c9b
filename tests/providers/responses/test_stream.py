import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from stepfold.loop import fold_parts
from stepfold.providers.responses import decode_reply, responses_decoder
from stepfold.values import (
    Finish,
    FinishReason,
    ModelErrorReason,
    Reasoning,
    ReasoningDelta,
    ResponseMetadata,
    StreamError,
    StreamPart,
    StreamStart,
    Success,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    ToolResult,
    UrlSource,
)

SAMPLES = Path(__file__).parents[2] / "data" / "openai_responses"
TURN = (SAMPLES / "turn.sse").read_bytes()
Event = dict[str, object]


def decoded(chunks: Sequence[bytes], *, secrets: tuple[str, ...] = ()) -> list[StreamPart]:
    decoder = responses_decoder("openai", secrets=secrets)
    parts = [part for chunk in chunks for part in decoder.feed(chunk)]
    return [*parts, *decoder.end()]


def sse(*events: Event) -> bytes:
    return b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events)


def parts_of(*events: Event) -> list[StreamPart]:
    return decoded([sse(*events)])


def error_of(*events: Event) -> ModelErrorReason:
    last = parts_of(*events)[-1]
    assert isinstance(last, StreamError)
    return last.reason


def added(index: int, item: Event) -> Event:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: int, item: Event) -> Event:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def completed(*output: Event, **more: object) -> Event:
    response = {"id": "r", "status": "completed", "output": list(output), **more}
    return {"type": "response.completed", "response": response}


def message(text: str, item_id: str = "m") -> Event:
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": item_id, "role": "assistant", "content": content}


def said(index: int, delta: str, item_id: str = "m") -> Event:
    kind = "response.output_text.delta"
    return {
        "type": kind,
        "output_index": index,
        "content_index": 0,
        "item_id": item_id,
        "delta": delta,
    }


def call(name: str = "f", arguments: str = "{}") -> Event:
    own: Event = {"name": name, "arguments": arguments}
    return {"type": "function_call", "id": "fc", "call_id": "c", **own}


def searched(item_id: str) -> Event:
    return {"type": "web_search_call", "id": item_id, "status": "completed", "action": {}}


def test_a_whole_turn() -> None:
    parts = decoded([TURN])

    assert parts[0] == StreamStart()
    assert isinstance(parts[1], ResponseMetadata)
    assert "".join(p.delta for p in parts if isinstance(p, TextDelta)) == "Oslo is cold ❄."
    assert [p.delta for p in parts if isinstance(p, ReasoningDelta)] == [
        "Look",
        " it up.",
        "Both",
        " cities.",
    ]
    inputs = [part for part in parts if isinstance(part, ToolInputStart | ToolInputEnd)]
    assert [part.id for part in inputs] == ["call_1", "call_1", "call_2", "call_2"]
    last = parts[-1]
    assert isinstance(last, Finish)
    assert last.finish_reason == FinishReason("tool-calls", "completed")
    terminal = json.loads(TURN.decode().strip().rpartition("data: ")[2])["response"]
    assert Success(fold_parts(parts)) == decode_reply(json.dumps(terminal).encode(), "openai")
    assert [type(part) for part in fold_parts(parts).content] == [
        *(Reasoning, Reasoning, ToolCall, ToolResult, Text, UrlSource, ToolCall, ToolCall),
    ]


def test_byte_by_byte_it_is_the_same() -> None:
    assert decoded([bytes([byte]) for byte in TURN]) == decoded([TURN])


def test_an_item_that_the_stream_left_out_comes_from_the_whole_response() -> None:
    parts = parts_of(completed(message("Hi"), call()))

    assert [type(part) for part in parts[1:-2]] == [TextStart, TextDelta, TextEnd, ToolCall]


def test_indexes_may_have_gaps() -> None:
    parts = parts_of(
        done(0, message("a", "m0")),
        done(2, message("b", "m2")),
        completed(message("a", "m0"), message("b", "m2")),
    )

    assert [getattr(part, "text", "") for part in fold_parts(parts).content] == ["a", "b"]


def test_ids_may_change_at_every_event() -> None:
    parts = parts_of(
        added(0, message("", "a")),
        said(0, "H", "b"),
        said(0, "i", "c"),
        done(0, message("Hi", "d")),
        completed(message("Hi", "e")),
    )

    assert [getattr(part, "text", "") for part in fold_parts(parts).content] == ["Hi"]


def test_indexes_may_be_absent() -> None:
    events: list[Event] = [
        added(0, message("", "a")),
        said(0, "H", "a"),
        done(0, message("Hi", "a")),
        added(1, call()),
        {"type": "response.function_call_arguments.delta", "item_id": "fc", "delta": "{}"},
        done(1, call()),
        completed(message("Hi", "a"), call()),
    ]
    for event in events:
        event.pop("output_index", None)

    content = fold_parts(parts_of(*events)).content

    assert [type(part) for part in content] == [Text, ToolCall]
    orphan: Event = {"type": "response.output_text.delta", "delta": "Hi"}
    assert parts_of(orphan, completed())[1:3] == [
        TextStart("0-part-0"),
        TextDelta("0-part-0", "Hi"),
    ]


def test_tools_that_end_in_any_order_keep_their_order() -> None:
    events = [
        added(0, searched("a")),
        added(1, searched("b")),
        done(1, searched("b")),
        done(0, searched("a")),
        completed(searched("a"), searched("b")),
    ]

    content = fold_parts(parts_of(*events)).content

    assert [getattr(part, "tool_call_id", "") for part in content] == ["a", "a", "b", "b"]


def test_no_tool_holds_back_a_text() -> None:
    decoder = responses_decoder("openai")
    events = [added(0, searched("a")), added(1, searched("b")), done(1, searched("b"))]

    assert decoder.feed(sse(*events)) == (StreamStart(),)
    shown = decoder.feed(sse(said(2, "Hi")))

    assert [type(part) for part in shown] == [ToolCall, ToolResult, TextStart, TextDelta]


def test_a_call_ends_with_its_item_and_not_when_its_text_parses() -> None:
    delta = {"type": "response.function_call_arguments.delta", "output_index": 0, "delta": "{}"}
    decoder = responses_decoder("openai")

    begun = decoder.feed(sse(added(0, call(arguments="")), delta))
    assert begun[1:] == (ToolInputStart("c", "f"), ToolInputDelta("c", "{}"))
    ended = decoder.feed(sse(done(0, call(arguments=""))))

    assert ended[0] == ToolInputEnd("c")
    assert isinstance(ended[1], ToolCall)
    assert ended[1].input == "{}"


def test_a_call_that_never_ended_is_no_call() -> None:
    reason = error_of(added(0, call()), completed())
    cut: Event = {"type": "response.incomplete", "response": {"output": []}}
    reply = fold_parts(parts_of(said(0, "Hi"), added(1, call()), cut))

    assert reason.kind == "protocol"
    assert [type(part) for part in reply.content] == [Text]
    assert reply.finish_reason == FinishReason("other", "incomplete")


def test_sources_may_come_in_events_only() -> None:
    note = {"type": "url_citation", "url": "https://a"}
    event = {"type": "response.output_text.annotation.added", "output_index": 0}
    parts = parts_of(said(0, "Hi"), {**event, "annotation": note}, done(0, message("Hi")))

    assert any(isinstance(part, UrlSource) for part in parts)


def test_what_was_said_stands_where_the_item_says_otherwise() -> None:
    parts = parts_of(said(0, "Hi"), done(0, message("Hello")), completed(message("Hello")))

    assert [getattr(part, "text", "") for part in fold_parts(parts).content] == ["Hi"]


def test_what_comes_after_the_end_of_an_item_is_not_read() -> None:
    late = {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "x"}
    events = [done(0, message("Hi")), said(0, "!"), done(0, message("Hi!")), done(1, call()), late]

    content = fold_parts(parts_of(*events, completed())).content

    assert [getattr(part, "text", "") for part in content] == ["Hi", ""]


def test_the_error_of_a_response_is_the_last_part() -> None:
    error = {"code": "rate_limit_exceeded", "message": "Slow down"}
    failed: Event = {
        "type": "response.failed",
        "response": {"id": "r", "error": error, "output": []},
    }

    assert error_of(said(0, "Hi"), failed).kind == "rate-limit"
    assert error_of({"type": "response.failed", "response": {}}).kind == "server"


@pytest.mark.parametrize(
    "event",
    [
        {"type": "error", "error": {"type": "server_error", "message": "Broken"}},
        {"type": "error", "code": "server_error", "message": "Broken", "param": None},
        {"error": {"code": "server_error", "message": "Broken"}},
    ],
)
def test_an_error_event_is_the_last_part(event: Event) -> None:
    reason = error_of(said(0, "Hi"), event, completed())

    assert (reason.kind, reason.message) == ("server", "Broken")


def test_a_stream_without_its_terminal_event_may_be_cut() -> None:
    assert error_of(done(0, message("Hi"))).kind == "protocol"
    cut = decoded([sse(said(0, "Hi")) + b"data: [DONE]\n\n"])[-1]
    assert isinstance(cut, StreamError)
    assert "terminal" in cut.reason.message


def test_what_is_not_json_is_a_violation_without_secrets() -> None:
    last = decoded([b"data: \n\ndata: sk-secret-key\n\n"], secrets=("sk-secret-key",))[-1]

    assert isinstance(last, StreamError)
    assert last.reason.kind == "protocol"
    assert "sk-secret" not in last.reason.message


def test_a_call_without_a_name_is_a_violation() -> None:
    assert "name" in error_of(done(0, {"type": "function_call"})).message
    assert "name" in error_of(completed({"type": "function_call"})).message


def test_an_event_beyond_all_bounds_is_a_violation() -> None:
    first = decoded([b"data: " + b"x" * 9_000_000])[-1]

    assert isinstance(first, StreamError)


def test_what_it_does_not_know_it_passes_over() -> None:
    odd: list[Event] = [
        {"type": "response.brand_new"},
        {"type": 7},
        {"type": "response.output_text.delta", "delta": 7},
        {"type": "response.output_item.done", "output_index": 0},
    ]

    assert [type(part) for part in parts_of(*odd, completed())] == [
        *(StreamStart, ResponseMetadata, Finish)
    ]


def test_nothing_comes_after_the_end() -> None:
    decoder = responses_decoder("openai")
    decoder.feed(sse(completed(), completed()))

    assert decoder.is_done
    assert decoder.feed(sse(said(0, "Hi"))) == decoder.end() == ()
