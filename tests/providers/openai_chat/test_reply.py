import json

import pytest

from stepfold.providers.openai_chat import decode_reply
from stepfold.values import (
    Failure,
    FinishReason,
    InputTokenDetails,
    JsonText,
    ModelErrorReason,
    ModelReply,
    ModelWarning,
    OutputTokenDetails,
    Reasoning,
    ResponseInfo,
    Success,
    Text,
    ToolCall,
    UrlSource,
    Usage,
)


def body(message: object, finish_reason: object = "stop", **rest: object) -> bytes:
    choice = {"index": 0, "message": message, "finish_reason": finish_reason}
    return json.dumps({"choices": [choice], **rest}).encode()


def reply(data: bytes) -> ModelReply:
    match decode_reply(data, "p"):
        case Success(value):
            return value
        case Failure(reason):
            raise AssertionError(reason)


def reason(data: bytes) -> ModelErrorReason:
    match decode_reply(data, "p"):
        case Success(value):
            raise AssertionError(value)
        case Failure(failure):
            return failure


def test_a_whole_reply() -> None:
    data = body(
        {"role": "assistant", "content": "Hi", "refusal": None},
        id="chatcmpl-1",
        model="m-1",
        created=1_700_000_000,
        system_fingerprint="fp",
        service_tier="default",
        usage={
            "prompt_tokens": 10,
            "completion_tokens": 7,
            "total_tokens": 17,
            "prompt_tokens_details": {"cached_tokens": 4},
            "completion_tokens_details": {"reasoning_tokens": 2, "accepted_prediction_tokens": 1},
        },
    )
    warning = ModelWarning("unsupported", "top_k")
    headers = (("x-request-id", "r"), ("content-type", "application/json"), ("set-cookie", "s"))

    assert decode_reply(data, "p", headers=headers, warnings=(warning,)) == Success(
        ModelReply(
            (Text("Hi"),),
            FinishReason("stop", "stop"),
            Usage(
                10,
                7,
                input_token_details=InputTokenDetails(6, 4, None),
                output_token_details=OutputTokenDetails(5, 2),
            ),
            warnings=(warning,),
            response=ResponseInfo(
                "chatcmpl-1", "m-1", 1_700_000_000_000_000_000, (("x-request-id", "r"),)
            ),
            provider_metadata=JsonText(
                '{"p":{"system_fingerprint":"fp","service_tier":"default",'
                '"accepted_prediction_tokens":1}}'
            ),
        )
    )


@pytest.mark.parametrize(
    ("raw", "unified"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "content-filter"),
        ("tool_calls", "tool-calls"),
        ("function_call", "tool-calls"),
        ("error", "error"),
        ("eos", "stop"),
        ("news", "other"),
        (None, "other"),
        (7, "other"),
    ],
)
def test_finish_reasons(raw: object, unified: str) -> None:
    finish = reply(body({"content": "x"}, raw)).finish_reason

    assert (finish.unified, finish.raw) == (unified, raw if isinstance(raw, str) else None)


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_reasoning_by_either_name_comes_first(name: str) -> None:
    assert reply(body({"content": "a", name: "hm"})).content == (Reasoning("hm"), Text("a"))


def test_content_may_be_a_list() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}
    content = [thinking, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}, 7]

    assert reply(body({"content": content})).content == (Reasoning("hm"), Text("ab"))


def test_empty_content_is_none() -> None:
    assert reply(body({"content": "", "reasoning_content": ""})).content == ()


def test_a_refusal_is_marked_and_filtered() -> None:
    answer = reply(body({"content": None, "refusal": "No."}))

    mark = JsonText('{"p":{"refusal":true}}')
    assert answer.content == (Text("No.", provider_options=mark),)
    assert answer.finish_reason == FinishReason("content-filter", "stop")


def test_calls_keep_their_text_and_get_ids_where_they_have_none() -> None:
    def call(call_id: object, arguments: object, **rest: object) -> dict[str, object]:
        return {"id": call_id, "function": {"name": "t", "arguments": arguments}, **rest}

    calls = [
        call("a", '{"x": 1.0'),
        call("a", "{}"),
        call("", '{"y":2}'),
        call(None, {"z": 3}),
        call("b", None, extra_content={"google": {"thought_signature": "s"}}),
        call("call-1", "{}"),
    ]

    assert reply(body({"content": None, "tool_calls": calls}, "tool_calls")).content == (
        ToolCall("a", "t", '{"x": 1.0'),
        ToolCall("call-1", "t", "{}"),
        ToolCall("call-2", "t", '{"y":2}'),
        ToolCall("call-3", "t", '{"z":3}'),
        ToolCall(
            "b",
            "t",
            "",
            provider_options=JsonText(
                '{"p":{"extra_content":{"google":{"thought_signature":"s"}}}}'
            ),
        ),
        ToolCall("call-5", "t", "{}"),
    )


def test_the_older_form_of_a_call() -> None:
    message = {"content": None, "function_call": {"name": "t", "arguments": "{}"}}

    assert reply(body(message, "function_call")).content == (ToolCall("call-0", "t", "{}"),)


def test_citations_are_sources() -> None:
    annotations = [
        {"type": "url_citation", "url_citation": {"url": "https://a", "title": "A"}},
        {"type": "url_citation", "url_citation": {"url": "https://b"}},
        {"type": "other"},
    ]

    assert reply(body({"content": "x", "annotations": annotations})).content[1:] == (
        UrlSource("source-0", "https://a", title="A"),
        UrlSource("source-1", "https://b"),
    )


def test_logprobs_are_metadata() -> None:
    data = json.dumps(
        {"choices": [{"message": {}, "logprobs": {"content": [{"token": "a", "logprob": -0.5}]}}]}
    ).encode()

    assert reply(data).provider_metadata == JsonText(
        '{"p":{"logprobs":[{"token":"a","logprob":-0.5}]}}'
    )


@pytest.mark.parametrize(
    ("usage", "figures"),
    [
        ({"prompt_tokens": 1, "completion_tokens": 2}, (1, 2, None, None)),
        ({"prompt_tokens": 5, "prompt_cache_hit_tokens": 2}, (5, None, 2, None)),
        ({"prompt_tokens": True, "completion_tokens": -1}, (None, None, None, None)),
        ({"prompt_tokens": "7"}, (None, None, None, None)),
        (None, (None, None, None, None)),
        (
            {
                "prompt_tokens": 12,
                "completion_tokens": 1,
                "total_tokens": 303,
                "completion_tokens_details": {"reasoning_tokens": 290},
            },
            (12, 291, None, 290),
        ),
    ],
)
def test_usage(usage: object, figures: tuple[int | None, ...]) -> None:
    found = reply(body({}, usage=usage)).usage

    assert figures == (
        found.input_tokens,
        found.output_tokens,
        found.input_token_details.cache_read_tokens,
        found.output_token_details.reasoning_tokens,
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "an empty body"),
        (b"<html>", "not a JSON object: '<html>'"),
        (b"[]", "not a JSON object"),
        (b'{"choices":', "not a JSON object"),
        (b"{}", "no choice with a message"),
        (b'{"choices":[]}', "no choice with a message"),
        (b'{"choices":[{"message":null}]}', "no choice with a message"),
        (body({"tool_calls": [{"id": "a", "function": {}}]}), "without a name"),
        (body({"tool_calls": [7]}), "without a name"),
        (b"[" * 100_000, "not a JSON object"),
    ],
)
def test_what_is_no_reply_is_a_violation(data: bytes, message: str) -> None:
    failure = reason(data)

    assert failure.kind == "protocol"
    assert message in failure.message


def test_an_error_with_status_200_is_an_error() -> None:
    data = b'{"error":{"message":"Busy","type":"overloaded_error"}}'

    assert reason(data) == ModelErrorReason("overloaded", "Busy", code="overloaded_error")


def test_strange_numbers_and_letters_do_no_harm() -> None:
    data = b'{"created":1e400,"id":"\\ud800","choices":[{"message":{"content":"\\udfff"},"logprobs"'
    data += b':{"content":[NaN,1e999]},"finish_reason":"stop"}]}'

    answer = reply(data)

    assert answer.content == (Text("\ufffd"),)
    assert answer.response == ResponseInfo("\ufffd")
    assert answer.provider_metadata is None
