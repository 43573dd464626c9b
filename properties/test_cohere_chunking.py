"""However Cohere and a network cut a reply, it is the same reply."""

import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from properties._chunks import cut
from stepfold.loop import fold_parts
from stepfold.providers.cohere_chat import cohere_decoder, decode_reply
from stepfold.values import Finish, StreamError, StreamPart, Success

Json = dict[str, object]

words = st.text(st.characters(codec="utf-8"), max_size=6)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
objects = st.dictionaries(st.text(max_size=3), st.one_of(st.integers(), st.text(max_size=3)))
blocks: st.SearchStrategy[Json] = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": words}),
    st.fixed_dictionaries({"type": st.just("thinking"), "thinking": words}),
)
sources = st.lists(
    st.fixed_dictionaries(
        {"type": st.just("document"), "id": names},
        optional={"document": st.fixed_dictionaries({}, optional={"title": names})},
    ),
    max_size=2,
)
citations = st.fixed_dictionaries({"text": words, "sources": sources})
calls = st.builds(
    lambda call_id, name, arguments: {
        "id": call_id,
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    },
    st.sampled_from(["", "a", "b"]),
    names,
    st.one_of(objects.map(json.dumps), st.just("null")),
)
messages: st.SearchStrategy[Json] = st.fixed_dictionaries(
    {},
    optional={
        "tool_plan": words,
        "content": st.lists(blocks, max_size=3),
        "citations": st.lists(citations, max_size=2),
        "tool_calls": st.lists(calls, max_size=3),
    },
)
reasons = st.sampled_from(["COMPLETE", "TOOL_CALL", "MAX_TOKENS", "NEWS"])
cuts = st.lists(st.integers(0, 2_000), max_size=8)


def decode(chunks: Sequence[bytes]) -> list[StreamPart]:
    decoder = cohere_decoder("cohere")
    return [*(part for chunk in chunks for part in decoder.feed(chunk)), *decoder.end()]


def said(kind: str, message: Json, index: int = 0) -> Json:
    return {"type": kind, "index": index, "delta": {"message": message}}


def listed(message: Json, name: str) -> list[Json]:
    found = message.get(name, [])
    assert isinstance(found, list)
    return found


def events_of(message: Json) -> list[Json]:
    """A message as events, letter by letter."""
    plan = str(message.get("tool_plan", ""))
    events = [said("tool-plan-delta", {"tool_plan": letter}) for letter in plan]
    for index, block in enumerate(listed(message, "content")):
        kind = str(block["type"])
        events.append(said("content-start", {"content": {"type": kind, kind: ""}}, index))
        for letter in str(block[kind]):
            events.append(said("content-delta", {"content": {kind: letter}}, index))
        events.append({"type": "content-end", "index": index})
    for index, citation in enumerate(listed(message, "citations")):
        events.append(said("citation-start", {"citations": citation}, index))
        events.append({"type": "citation-end", "index": index})
    for index, call in enumerate(listed(message, "tool_calls")):
        function = call["function"]
        assert isinstance(function, dict)
        arguments = "" if function["arguments"] == "null" else str(function["arguments"])
        start = {**call, "function": {"name": function["name"], "arguments": ""}}
        events.append(said("tool-call-start", {"tool_calls": start}, index))
        for letter in arguments:
            piece = {"function": {"arguments": letter}}
            events.append(said("tool-call-delta", {"tool_calls": piece}, index))
        events.append({"type": "tool-call-end", "index": index})
    return events


@given(message=messages, reason=reasons, points=cuts)
def test_a_reply_in_pieces_is_the_reply_in_one(
    message: Json, reason: str, points: list[int]
) -> None:
    usage = {"tokens": {"input_tokens": 1, "output_tokens": 2}}
    body = {"id": "m", "message": message, "finish_reason": reason, "usage": usage}
    end = {"type": "message-end", "delta": {"finish_reason": reason, "usage": usage}}
    events = [{"type": "message-start", "id": "m"}, *events_of(message), end]
    stream = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)

    whole = decode_reply(json.dumps(body).encode(), "cohere")
    streamed = decode(cut(stream, points))

    assert isinstance(whole, Success)
    assert fold_parts(streamed) == whole.unwrap()
    assert isinstance(streamed[-1], Finish)


@given(stream=st.binary(max_size=60), points=cuts)
def test_nothing_that_comes_raises_and_cuts_change_nothing(
    stream: bytes, points: list[int]
) -> None:
    for framed in (stream, b"data: " + stream + b"\n\n"):
        seen = decode([framed])
        assert decode(cut(framed, points)) == seen
        assert isinstance(seen[-1], Finish | StreamError)


@given(message=st.one_of(messages, objects))
def test_a_body_of_any_message_is_a_reply_or_says_why_not(message: Json) -> None:
    decode_reply(json.dumps({"message": message, "finish_reason": "COMPLETE"}).encode(), "cohere")
