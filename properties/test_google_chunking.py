"""However Google and a network cut a reply, it is the same reply."""

import json
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from properties._chunks import cut
from stepfold.loop import fold_parts
from stepfold.providers.google_generate import decode_reply, google_decoder
from stepfold.values import Finish, StreamError, StreamPart, Success

Json = dict[str, object]

words = st.text(st.characters(codec="utf-8"), max_size=6)
names = st.text(st.characters(codec="utf-8"), min_size=1, max_size=6)
objects = st.dictionaries(st.text(max_size=3), st.one_of(st.integers(), st.text(max_size=3)))
signature = {"thoughtSignature": st.just("s")}
parts: st.SearchStrategy[Json] = st.one_of(
    st.fixed_dictionaries({"text": words}, optional={"thought": st.booleans(), **signature}),
    st.fixed_dictionaries(
        {
            "functionCall": st.fixed_dictionaries(
                {"name": names, "args": objects}, optional={"id": st.sampled_from(["", "a"])}
            )
        },
        optional=signature,
    ),
    st.fixed_dictionaries({"inlineData": st.just({"mimeType": "image/png", "data": "aGk="})}),
    st.fixed_dictionaries({"executableCode": objects}),
    st.fixed_dictionaries({"codeExecutionResult": objects}),
    st.fixed_dictionaries({"hologram": objects}),
)
contents = st.lists(parts, max_size=6)
reasons = st.sampled_from(["STOP", "MAX_TOKENS", "SAFETY", "NEW"])
cuts = st.lists(st.integers(0, 400), max_size=8)


def response(content: Sequence[Json], **more: object) -> Json:
    candidate = {"content": {"parts": content, "role": "model"}, **more}
    return {"candidates": [candidate], "responseId": "r", "modelVersion": "m"}


def decode(chunks: Sequence[bytes]) -> list[StreamPart]:
    decoder = google_decoder("google")
    return [*(part for chunk in chunks for part in decoder.feed(chunk)), *decoder.end()]


@given(content=contents, reason=reasons, points=cuts, data=st.data())
def test_a_reply_in_pieces_is_the_reply_in_one(
    content: list[Json], reason: str, points: list[int], data: st.DataObject
) -> None:
    body = response(content, finishReason=reason)
    pieces: list[Json] = []
    for part in content:
        text = part.get("text")
        if isinstance(text, str) and len(text) > 1 and "thoughtSignature" not in part:
            middle = data.draw(st.integers(0, len(text)))
            pieces += [{**part, "text": text[:middle]}, {**part, "text": text[middle:]}]
        else:
            pieces.append(part)
    events = [response([piece]) for piece in pieces] + [response([], finishReason=reason)]
    stream = b"".join(b"data: %b\n\n" % json.dumps(event).encode() for event in events)

    whole = decode_reply(json.dumps(body).encode(), "google")
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


@given(content=st.lists(st.one_of(parts, objects, st.just({"functionCall": {}})), max_size=4))
def test_a_body_of_any_content_is_a_reply_or_says_why_not(content: list[Json]) -> None:
    decode_reply(json.dumps(response(content, finishReason="STOP")).encode(), "google")
