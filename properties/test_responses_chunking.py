"""However a network cuts a response into chunks, it is the response of its terminal event."""

import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from stepfold.loop import fold_parts, parts_of
from stepfold.providers.responses import decode_reply, responses_decoder
from stepfold.values import Finish, StreamError, StreamPart, Success, succeeded

Event = dict[str, object]

# The second half of a surrogate pair: alone it has no UTF-8 form, whatever stands beside it.
letters = st.one_of(st.characters(codec="utf-8"), st.just("\udc00"))
words = st.text(letters, max_size=6)
names = st.text(letters, min_size=1, max_size=4)

annotations = st.one_of(
    st.fixed_dictionaries({"type": st.just("url_citation"), "url": words}),
    st.fixed_dictionaries({"type": st.just("file_citation"), "file_id": words, "filename": words}),
    st.fixed_dictionaries({"type": st.just("odd")}),
)
contents = st.one_of(
    st.fixed_dictionaries(
        {
            "type": st.just("output_text"),
            "text": words,
            "annotations": st.lists(annotations, max_size=2),
        }
    ),
    st.fixed_dictionaries({"type": st.just("refusal"), "refusal": words}),
)
thoughts = st.lists(st.fixed_dictionaries({"text": words}), max_size=2)
items: st.SearchStrategy[Event] = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("message"), "content": st.lists(contents, max_size=3)},
        optional={"phase": words, "role": st.sampled_from(["assistant", "user"])},
    ),
    st.fixed_dictionaries(
        {"type": st.just("reasoning"), "summary": thoughts},
        optional={"encrypted_content": words, "content": thoughts},
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("function_call"),
            "call_id": st.sampled_from(["", "c", "d"]),
            "name": names,
            "arguments": words,
        }
    ),
    st.fixed_dictionaries(
        {"type": st.just("custom_tool_call"), "call_id": words, "name": names, "input": words}
    ),
    st.fixed_dictionaries(
        {"type": st.just("mcp_call"), "name": names, "arguments": words},
        optional={"output": words, "error": words, "status": st.just("failed")},
    ),
    st.fixed_dictionaries(
        {"type": st.just("web_search_call"), "status": st.sampled_from(["completed", "searching"])}
    ),
    st.fixed_dictionaries({"type": st.just("image_generation_call"), "result": words}),
    st.fixed_dictionaries({"type": st.sampled_from(["compaction", "mcp_approval_request"])}),
)
usages = st.fixed_dictionaries(
    {"input_tokens": st.integers(0, 99), "output_tokens": st.integers(0, 99)},
    optional={
        "input_tokens_details": st.fixed_dictionaries({"cached_tokens": st.integers(0, 9)}),
        "output_tokens_details": st.fixed_dictionaries({"reasoning_tokens": st.integers(0, 9)}),
    },
)


@st.composite
def responses(draw: st.DrawFn) -> Event:
    output = draw(st.lists(items, max_size=4))
    status = draw(st.sampled_from(["completed", "incomplete"]))
    for number, item in enumerate(output):
        if draw(st.booleans()):
            item["id"] = f"item_{number}"
    return {
        "id": "r",
        "model": "m",
        "created_at": 17,
        "status": status,
        "incomplete_details": None if status == "completed" else {"reason": "max_output_tokens"},
        "output": output,
        "usage": draw(usages),
    }


def pieces(data: st.DataObject, text: object) -> list[str]:
    """Cut a text into pieces, not one of them empty."""
    assert isinstance(text, str)
    points = sorted(data.draw(st.sets(st.integers(1, max(1, len(text) - 1)), max_size=2)))
    ends = zip([0, *points], [*points, len(text)], strict=True)
    return [text[start:end] for start, end in ends if text[start:end]]


def deltas(data: st.DataObject, item: Event) -> list[Event]:
    """What may come of an item before its end: some or all of it."""
    events: list[Event] = []
    kinds = {
        "output_text": ("response.output_text.delta", "content_index", "text"),
        "refusal": ("response.refusal.delta", "content_index", "refusal"),
        "summary": ("response.reasoning_summary_text.delta", "summary_index", "text"),
        "content": ("response.reasoning_text.delta", "content_index", "text"),
    }
    texts: list[tuple[str, int, Event]] = []
    if item["type"] == "message" and item.get("role") != "user":
        texts = [(str(part["type"]), n, part) for n, part in enumerate(members(item, "content"))]
    elif item["type"] == "reasoning":
        for name in ("summary", "content"):
            texts += [(name, number, part) for number, part in enumerate(members(item, name))]
    for name, number, part in texts:
        kind, place, member = kinds[name]
        events += [{"type": kind, place: number, "delta": p} for p in pieces(data, part[member])]
    if item["type"] == "function_call":
        kind = "response.function_call_arguments.delta"
        events += [{"type": kind, "delta": piece} for piece in pieces(data, item["arguments"])]
    return events[: data.draw(st.integers(0, len(events)))]


def members(item: Event, name: str) -> list[Event]:
    found = item.get(name, [])
    assert isinstance(found, list)
    return found


def stream_of(data: st.DataObject, response: Event) -> bytes:
    """The stream may leave out the last items, and the end of the last that it holds."""
    events: list[Event] = [{"type": "response.created", "response": {"id": "r", "model": "m"}}]
    output = members(response, "output")
    streamed = output[: data.draw(st.integers(0, len(output)))]
    for index, item in enumerate(streamed):
        added: Event = {"type": "response.output_item.added", "item": item}
        of_item = [added, *deltas(data, item)]
        if index + 1 < len(streamed) or data.draw(st.booleans()):
            of_item.append({"type": "response.output_item.done", "item": item})
        events += [{**event, "output_index": index} for event in of_item]
    events.append({"type": f"response.{response['status']}", "response": response})
    end = data.draw(st.sampled_from(["\n\n", "\r\n\r\n", "\r\r", "\n\n: ping\n\n"]))
    return "".join(f"data: {json.dumps(event)}{end}" for event in events).encode()


def stream_parts(chunks: Sequence[bytes]) -> list[StreamPart]:
    decoder = responses_decoder("p", headers=(("x-a", "1"),))
    parts = [part for chunk in chunks for part in decoder.feed(chunk)]
    return [*parts, *decoder.end()]


def cut(stream: bytes, size: int) -> list[bytes]:
    return [stream[at : at + size] for at in range(0, len(stream), size)]


@given(responses(), st.data(), st.integers(1, 200))
def test_a_stream_is_the_response_of_its_terminal_event(
    response: Event, data: st.DataObject, size: int
) -> None:
    whole = decode_reply(json.dumps(response).encode(), "p", headers=(("x-a", "1"),))
    chunks = cut(stream_of(data, response), size)

    assert Success(fold_parts(stream_parts(chunks))) == whole


@given(responses())
def test_a_response_is_the_fold_of_its_parts(response: Event) -> None:
    whole = decode_reply(json.dumps(response).encode(), "p")
    reply = whole.unwrap()

    # The fold makes the ids of calls unique; here they are already.
    assert fold_parts(parts_of(reply)) == reply


@given(responses(), st.data(), st.integers(1, 50))
def test_any_chunking_gives_the_same_parts(response: Event, data: st.DataObject, size: int) -> None:
    stream = stream_of(data, response)
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(stream)))
        stream = stream[:at] + data.draw(st.binary(max_size=4)) + stream[at + 3 :]

    assert stream_parts(cut(stream, size)) == stream_parts([stream])


json_documents: st.SearchStrategy[object] = st.recursive(
    st.one_of(st.none(), st.integers(), st.floats(), st.text(max_size=3), items),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                [
                    *("type", "response", "output", "item", "output_index", "delta", "error"),
                    *("content", "summary", "status", "usage", "arguments", "annotations", "id"),
                ]
            ),
            inner,
        ),
    ),
)
events_of_any_kind = st.lists(
    st.tuples(
        st.sampled_from(
            [
                *("response.created", "response.output_item.added", "response.output_item.done"),
                *("response.output_text.delta", "response.function_call_arguments.delta"),
                *("response.completed", "response.failed", "error", "other"),
                "response.output_text.annotation.added",
            ]
        ),
        json_documents,
    ),
    max_size=5,
)


@given(st.one_of(st.binary(), json_documents.map(json.dumps).map(str.encode)))
def test_no_body_makes_the_decoder_raise(body: bytes) -> None:
    outcome = decode_reply(body, "p")

    assert succeeded(outcome) or outcome.failure().message


@given(events_of_any_kind)
def test_no_event_makes_the_decoder_raise(events: list[tuple[str, object]]) -> None:
    written = [
        {**(value if isinstance(value, dict) else {"item": value}), "type": kind}
        for kind, value in events
    ]
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in written).encode()

    assert isinstance(stream_parts([stream])[-1], Finish | StreamError)
