import json
from pathlib import Path

import pytest

from stepfold.loop import fold_parts
from stepfold.providers.openai_chat import chat_decoder
from stepfold.values import (
    Finish,
    FinishReason,
    JsonText,
    ModelErrorKind,
    ModelReply,
    ModelWarning,
    Reasoning,
    ReasoningDelta,
    ReasoningEnd,
    ReasoningStart,
    ResponseMetadata,
    StreamError,
    StreamPart,
    StreamStart,
    Text,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    UrlSource,
    Usage,
)

SAMPLES = Path(__file__).parents[2] / "data" / "openai_chat"
DONE = b"data: [DONE]\n\n"


def event(value: object) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def delta(finish_reason: str | None = None, **members: object) -> bytes:
    choice = {"index": 0, "delta": members, "finish_reason": finish_reason}
    return event({"id": "i", "choices": [choice]})


def call(**members: object) -> bytes:
    """A piece of a tool call: name and arguments go into its function."""
    function = {key: members.pop(key) for key in ("name", "arguments") if key in members}
    return delta(tool_calls=[{**members, "function": function}])


def parts(*chunks: bytes) -> tuple[StreamPart, ...]:
    decoder = chat_decoder("p")
    return (*(part for chunk in chunks for part in decoder.feed(chunk)), *decoder.end())


def shown(*chunks: bytes) -> tuple[StreamPart, ...]:
    """The parts between the start and the finish."""
    return tuple(
        part
        for part in parts(*chunks)
        if not isinstance(part, StreamStart | ResponseMetadata | Finish)
    )


def kind(*chunks: bytes) -> ModelErrorKind:
    last = parts(*chunks)[-1]
    assert isinstance(last, StreamError), last
    return last.reason.kind


STOP = delta("stop")


def test_a_whole_stream() -> None:
    warning = ModelWarning("unsupported", "top_k")
    decoder = chat_decoder("p", headers=(("x-a", "1"), ("date", "d")), warnings=(warning,))
    first = event({"id": "i", "model": "m", "created": 1, "choices": [{"delta": {"content": ""}}]})

    assert decoder.feed(first) == (
        StreamStart((warning,)),
        ResponseMetadata(id="i", model_id="m", timestamp=1_000_000_000, headers=(("x-a", "1"),)),
    )
    assert decoder.feed(delta(content="Hel")) == (
        TextStart("text-0"),
        TextDelta("text-0", "Hel"),
    )
    assert decoder.feed(delta(content="lo") + STOP) == (TextDelta("text-0", "lo"),)
    usage = {"prompt_tokens": 1, "completion_tokens": 2}
    assert decoder.feed(event({"choices": [], "usage": usage})) == ()
    assert (decoder.is_whole, decoder.is_done) == (True, False)
    assert decoder.feed(DONE + b"rubbish") == (
        TextEnd("text-0"),
        Finish(FinishReason("stop", "stop"), Usage(1, 2)),
    )
    assert (decoder.is_whole, decoder.is_done) == (True, True)
    assert decoder.feed(b"more") == decoder.end() == ()


def test_done_may_be_missing_and_so_may_the_last_empty_line() -> None:
    assert isinstance(parts(delta(content="a"), STOP.rstrip())[-1], Finish)


def test_reasoning_ends_where_text_starts() -> None:
    assert shown(
        delta(reasoning_content="a"),
        delta(reasoning="b"),
        delta(content="c"),
        delta(reasoning="d"),
        delta(content="e", reasoning=None),
        STOP,
    ) == (
        ReasoningStart("reasoning-0"),
        ReasoningDelta("reasoning-0", "a"),
        ReasoningDelta("reasoning-0", "b"),
        ReasoningEnd("reasoning-0"),
        TextStart("text-0"),
        TextDelta("text-0", "c"),
        ReasoningStart("reasoning-1"),
        ReasoningDelta("reasoning-1", "d"),
        ReasoningEnd("reasoning-1"),
        TextDelta("text-0", "e"),
        TextEnd("text-0"),
    )


def test_content_may_be_a_list() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    reply = fold_parts(parts(delta(content=[thinking]), delta(content=[{"text": "a"}]), STOP))

    assert reply.content == (Reasoning("hm"), Text("a"))


def test_a_refusal_is_marked_and_filtered() -> None:
    reply = fold_parts(parts(delta(refusal="N"), delta(refusal="o."), STOP))

    assert reply.content == (Text("No.", provider_options=JsonText('{"p":{"refusal":true}}')),)
    assert reply.finish_reason == FinishReason("content-filter", "stop")


def test_citations_are_numbered_through() -> None:
    def cited(url: str) -> bytes:
        return delta(content="x", annotations=[{"url_citation": {"url": url}}])

    assert fold_parts(parts(cited("a"), cited("b"), STOP)).content[1:] == (
        UrlSource("source-0", "a"),
        UrlSource("source-1", "b"),
    )


def test_logprobs_and_fingerprints_are_metadata() -> None:
    def token(text: str) -> bytes:
        logprobs = {"content": [{"token": text}]}
        choice = {"delta": {"content": text}, "logprobs": logprobs}
        return event({"id": "i", "system_fingerprint": "fp", "choices": [choice]})

    last = parts(token("a"), token("b"), STOP)[-1]

    assert isinstance(last, Finish)
    assert last.provider_metadata == JsonText(
        '{"p":{"system_fingerprint":"fp","logprobs":[{"token":"a"},{"token":"b"}]}}'
    )


def test_usage_may_come_with_every_chunk_and_the_last_holds() -> None:
    def counted(tokens: int) -> bytes:
        return event({"id": "i", "choices": [], "usage": {"completion_tokens": tokens}})

    groq = event({"id": "i", "choices": [], "x_groq": {"usage": {"completion_tokens": 3}}})

    assert fold_parts(parts(counted(1), counted(2), STOP)).usage == Usage(None, 2)
    assert fold_parts(parts(STOP, groq)).usage == Usage(None, 3)


def test_other_choices_are_not_read() -> None:
    other = event({"id": "i", "choices": [{"index": 1, "delta": {"content": "no"}}]})

    assert fold_parts(parts(delta(content="yes"), other, STOP)).content == (Text("yes"),)


def test_deltas_of_strange_shapes_say_nothing() -> None:
    strange = [{"choices": 1}, {"choices": [1]}, {"choices": [{"delta": 1}]}, {}]
    odd = delta(content=7, tool_calls=[7, {}], annotations=7, refusal=7, reasoning=7)

    assert shown(*map(event, strange), odd, STOP) == ()


# --- faults -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([], "protocol"),
        ([delta(content="a")], "protocol"),
        ([delta(content="a"), DONE], "protocol"),
        ([delta(content="a"), b'data: {"choices": [{"de'], "protocol"),
        ([b"data: nonsense\n\n", STOP], "protocol"),
        ([b"data: [1]\n\n", STOP], "protocol"),
        ([b"<html><body>502</body></html>"], "protocol"),
        ([event({"error": {"message": "x", "type": "server_error"}})], "server"),
        ([delta(content="a"), event({"error": {"message": "x", "code": 429}})], "rate-limit"),
        ([event({"error": "x"}), STOP], "unknown"),
        ([b"event: error\n" + event({"error": {"type": "overloaded_error"}})], "overloaded"),
        ([call(index=0, id="c", arguments="{}"), STOP], "protocol"),
        ([b"data: " + b"x" * 9_000_000], "protocol"),
        ([delta(content="a") + b"data: " + b"x" * 9_000_000, b"x"], "protocol"),
    ],
)
def test_what_is_wrong_with_a_stream_is_its_last_part(
    chunks: list[bytes], expected: ModelErrorKind
) -> None:
    assert kind(*chunks) == expected


def test_an_error_repeats_no_secret() -> None:
    decoder = chat_decoder("p", secrets=("my-own-key",))

    (_, error) = decoder.feed(b"data: my-own-key and sk-abcdefgh\n\n")

    assert isinstance(error, StreamError)
    assert "[hidden] and [hidden]" in error.reason.message


# --- tool calls -------------------------------------------------------------------------------


def calls(*chunks: bytes) -> list[tuple[str, str, str]]:
    reply = fold_parts(parts(*chunks, delta("tool_calls")))
    return [
        (c.tool_call_id, c.tool_name, c.input) for c in reply.content if isinstance(c, ToolCall)
    ]


def test_a_call_is_complete_when_the_stream_is() -> None:
    chunks = [
        call(index=0, id="c", type="function", name="t", arguments=""),
        call(index=0, arguments="{}"),
        call(index=0, arguments=" "),
        delta(content="afterwards"),
        delta("tool_calls"),
    ]

    assert shown(*chunks) == (
        ToolInputStart("c", "t"),
        ToolInputDelta("c", "{}"),
        ToolInputDelta("c", " "),
        TextStart("text-0"),
        TextDelta("text-0", "afterwards"),
        TextEnd("text-0"),
        ToolInputEnd("c"),
        ToolCall("c", "t", "{} "),
    )


def test_parallel_calls_are_told_apart_by_index_and_end_in_its_order() -> None:
    assert calls(
        call(index=1, id="b", name="u", arguments='{"y"'),
        call(index=0, id="a", name="t", arguments='{"x"'),
        call(index=1, arguments=":2}"),
        call(index=0, arguments=":1}"),
    ) == [("b", "u", '{"y":2}'), ("a", "t", '{"x":1}')]  # a block stands where it started


def test_calls_without_an_index_are_told_apart_by_id() -> None:
    assert calls(
        call(id="a", name="t", arguments="1"),
        call(id="b", name="t", arguments="2"),
        call(id="a", arguments="3"),
        call(arguments="lost"),
    ) == [("a", "t", "13"), ("b", "t", "2")]


def test_one_call_needs_neither_index_nor_id() -> None:
    assert calls(call(name="t", arguments="1"), call(arguments="2")) == [("call-0", "t", "12")]


def test_the_id_and_the_name_may_come_with_every_piece() -> None:
    assert calls(
        call(index=0, id="a", name="t", arguments="1"),
        call(index=0, id="a", name="t", arguments="2"),
        call(id="a", name="t", arguments="3"),
    ) == [("a", "t", "123")]


def test_every_call_may_have_the_index_0() -> None:
    assert calls(
        call(index=0, id="a", name="t", arguments="1"),
        call(index=0, id="b", name="u", arguments="2"),
        call(index=0, arguments="3"),
        call(index=0, name="v", arguments="4"),
    ) == [("a", "t", "1"), ("b", "u", "23"), ("call-2", "v", "4")]


def test_blank_and_repeated_ids_are_replaced() -> None:
    assert calls(
        call(index=0, id="", name="t", arguments="1"),
        call(index=1, id=" ", name="t", arguments="2"),
        call(index=2, id="a", name="t", arguments="3"),
        call(index=3, id="a", name="t", arguments="4"),
        call(index=3, id="a", arguments="5"),
    ) == [("call-0", "t", "1"), ("call-1", "t", "2"), ("a", "t", "3"), ("call-3", "t", "45")]


def test_a_name_may_come_later() -> None:
    assert calls(
        call(index=0, id="a", arguments="1"),
        call(index=0, name="t", arguments="2"),
        call(index=1, arguments="3"),
        call(index=1, id="b", name="u"),
    ) == [("a", "t", "12"), ("b", "u", "3")]


def test_what_a_server_attached_to_a_call_is_kept() -> None:
    reply = fold_parts(
        parts(call(index=0, id="a", name="t", extra_content={"x": 1}), delta("tool_calls"))
    )

    assert reply.content == (
        ToolCall("a", "t", "", provider_options=JsonText('{"p":{"extra_content":{"x":1}}}')),
    )


def test_the_older_form_of_a_call() -> None:
    assert calls(
        delta(function_call={"name": "t", "arguments": ""}),
        delta(function_call={"arguments": "{}"}),
    ) == [("call-0", "t", "{}")]


# --- samples ----------------------------------------------------------------------------------


def sample(name: str) -> ModelReply:
    return fold_parts(parts((SAMPLES / name).read_bytes()))


def test_a_stream_of_text_as_openai_sends_it() -> None:
    reply = sample("text.sse")

    assert reply.content == (Text("Hello, world! 👋"),)
    assert reply.finish_reason == FinishReason("stop", "stop")
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (9, 5)
    assert reply.response.model_id == "gpt-4o-mini-2024-07-18"


def test_a_stream_of_parallel_calls_as_openai_sends_it() -> None:
    assert sample("parallel_calls.sse").content == (
        ToolCall("call_one", "weather", '{"city": "Oslo"}'),
        ToolCall("call_two", "weather", '{"city": "Rome"}'),
    )


def test_a_stream_with_reasoning_as_compatible_servers_send_it() -> None:
    reply = sample("reasoning.sse")

    assert reply.content == (Reasoning("Two and two."), Text("Four."))
    assert reply.usage.output_token_details.reasoning_tokens == 4
