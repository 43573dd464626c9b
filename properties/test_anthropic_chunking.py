"""However a network cuts a reply of Anthropic's Messages into chunks, it is the same reply."""

import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from properties._chunks import cut
from stepfold.loop import fold_parts
from stepfold.providers.anthropic_messages import decode_reply, messages_decoder
from stepfold.values import Finish, StreamError, StreamPart, Success, succeeded

Json = dict[str, object]

letters = st.one_of(st.characters(codec="utf-8"), st.just("\udc00"))
words = st.text(letters, max_size=6)
names = st.text(letters, min_size=1, max_size=6)
objects = st.dictionaries(st.text(max_size=3), st.one_of(st.integers(), st.text(max_size=3)))
citations = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("web_search_result_location"), "url": names, "title": st.none() | names}
    ),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["page_location", "char_location"]), "document_index": st.just(0)},
        optional={"document_title": words, "file_id": st.none()},
    ),
)
blocks: st.SearchStrategy[Json] = st.one_of(
    st.fixed_dictionaries(
        {"type": st.just("text"), "text": words}, optional={"citations": st.lists(citations)}
    ),
    st.fixed_dictionaries({"type": st.just("thinking"), "thinking": words, "signature": words}),
    st.fixed_dictionaries({"type": st.just("redacted_thinking"), "data": words}),
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["tool_use", "server_tool_use", "mcp_tool_use"]),
            "id": st.sampled_from(["", "a", "b"]),
            "name": names,
            "input": objects,
        }
    ),
    st.fixed_dictionaries(
        {
            "type": st.sampled_from(["web_search_tool_result", "mcp_tool_result"]),
            "tool_use_id": st.sampled_from(["a", "c"]),
            "content": st.one_of(
                objects, st.just([{"type": "web_search_result", "url": "u", "title": "t"}])
            ),
        }
    ),
    st.fixed_dictionaries({"type": st.just("compaction"), "content": words}),
    st.fixed_dictionaries({"type": st.just("news"), "x": objects}),
)
counts = st.integers(0, 99)
messages: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {
        "id": st.just("i"),
        "model": st.just("m"),
        "content": st.lists(blocks, max_size=4),
        "stop_reason": st.sampled_from(["end_turn", "tool_use", "refusal", "news"]),
        "usage": st.fixed_dictionaries(
            {"input_tokens": counts, "output_tokens": counts},
            optional={"cache_read_input_tokens": counts, "cache_creation_input_tokens": counts},
        ),
    },
    optional={"stop_sequence": names, "container": objects},
)


cuts = st.lists(st.integers(0, 900), max_size=20)


def pieces(data: st.DataObject, text: str) -> list[str]:
    points = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=3)))
    ends = [*points, len(text)]
    return [text[start:end] for start, end in zip([0, *points], ends, strict=True)]


def events_of_block(index: int, block: Json, data: st.DataObject) -> list[Json]:
    """One way in which the server may send a block."""
    start = dict(block)
    deltas: list[Json] = []
    match block:
        case {"type": "text", "text": str(text)}:
            start["text"] = ""
            deltas = [{"type": "text_delta", "text": piece} for piece in pieces(data, text)]
            cited = start.pop("citations", None)
            if isinstance(cited, list):
                deltas += [{"type": "citations_delta", "citation": item} for item in cited]
        case {"type": "thinking", "thinking": str(text), "signature": str(signature)}:
            start |= {"thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(data, text)]
            deltas.append({"type": "signature_delta", "signature": signature})
        case {"type": "tool_use" | "server_tool_use" | "mcp_tool_use", "input": given}:
            if data.draw(st.booleans()):
                start["input"] = {}
                text = json.dumps(given, ensure_ascii=False, separators=(",", ":"))
                deltas = [
                    {"type": "input_json_delta", "partial_json": piece}
                    for piece in pieces(data, text)
                ]
        case {"type": "compaction", "content": str(text)}:
            start["content"] = None
            deltas = [{"type": "compaction_delta", "content": text}]
        case _:
            pass
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def events_of(message: Json, data: st.DataObject) -> bytes:
    ending = {"stop_reason", "stop_sequence", "container"}
    opening = {name: value for name, value in message.items() if name not in ending}
    content = message["content"]
    assert isinstance(content, list)
    usage = message["usage"]
    assert isinstance(usage, dict)
    first: Json = {**opening, "content": [], "usage": {**usage, "output_tokens": 1}}
    events: list[Json] = [{"type": "message_start", "message": first}]
    events *= data.draw(st.integers(1, 2))
    for index, block in enumerate(content):
        events += events_of_block(index, block, data)
        events += [{"type": "ping"}] * data.draw(st.integers(0, 1))
    last = {name: message[name] for name in ending if name in message}
    events += [{"type": "message_delta", "delta": last, "usage": usage}, {"type": "message_stop"}]
    end = data.draw(st.sampled_from(["\n", "\r\n", "\r"]))
    lines = [f"event: {event['type']}{end}data: {json.dumps(event)}{end}{end}" for event in events]
    return "".join(lines).encode()


def stream_parts(chunks: Sequence[bytes]) -> list[StreamPart]:
    decoder = messages_decoder("anthropic", headers=(("x-a", "1"),))
    parts = [part for chunk in chunks for part in decoder.feed(chunk)]
    return [*parts, *decoder.end()]


@given(messages, st.data(), cuts)
def test_a_streamed_reply_is_the_reply_in_one_piece(
    message: Json, data: st.DataObject, points: list[int]
) -> None:
    whole = decode_reply(json.dumps(message).encode(), "anthropic", headers=(("x-a", "1"),))
    chunks = cut(events_of(message, data), points)

    assert Success(fold_parts(stream_parts(chunks))) == whole


@given(messages, st.data(), st.integers(1, 50))
def test_any_chunking_gives_the_same_parts(message: Json, data: st.DataObject, size: int) -> None:
    events = events_of(message, data)
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(events)))
        events = events[:at] + data.draw(st.binary(max_size=4)) + events[at + 3 :]
    chunks = [events[at : at + size] for at in range(0, len(events), size)]

    parts = stream_parts(chunks)

    assert parts == stream_parts([events])
    assert isinstance(parts[-1], Finish | StreamError)


kinds = st.sampled_from(
    [
        *("message_start", "message_delta", "message_stop", "content_block_start"),
        *("content_block_delta", "content_block_stop", "text", "tool_use", "thinking"),
        *("text_delta", "input_json_delta", "web_search_tool_result", "error"),
    ]
)
keys = st.sampled_from(
    ["type", "index", "delta", "message", "content", "content_block", "usage", "text", "name"]
)
documents: st.SearchStrategy[object] = st.recursive(
    st.one_of(st.none(), st.integers(0, 1), st.floats(), kinds),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(keys, inner)),
)


@given(st.lists(documents, max_size=6))
def test_no_events_make_the_decoder_raise(events: list[object]) -> None:
    start = {"type": "message_start", "message": {}}
    data = "".join(f"data: {json.dumps(event)}\n\n" for event in (start, *events))

    parts = stream_parts([data.encode()])

    assert isinstance(parts[-1], Finish | StreamError)


@given(st.one_of(st.binary(), documents.map(json.dumps).map(str.encode)))
def test_no_body_makes_the_decoder_raise(body: bytes) -> None:
    outcome = decode_reply(body, "anthropic")

    assert succeeded(outcome) or outcome.failure().message
