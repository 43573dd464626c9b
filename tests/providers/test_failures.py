import json

import pytest

from stepfold.providers._failures import reason_of_error, reason_of_response, retry_after_of
from stepfold.transport import HttpResponse
from stepfold.values import ModelErrorKind

SECOND = 1_000_000_000
NOW = 1_700_000_000 * SECOND


def failed(
    status: int, body: object = None, headers: tuple[tuple[str, str], ...] = ()
) -> HttpResponse:
    text = body if isinstance(body, str) else json.dumps(body)
    return HttpResponse(status, headers, text.encode())


def error(message: str, code: object = None, kind: object = None) -> dict[str, object]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable"),
    [
        (400, error("Bad", None, "invalid_request_error"), "bad-request", False),
        (400, error("Long", "context_length_exceeded"), "context-length", False),
        (400, error("This model's maximum context length is 8192"), "context-length", False),
        (400, error("x", 400, "exceed_context_size_error"), "context-length", False),
        (400, error("Filtered", "content_filter"), "content-filter", False),
        (
            400,
            error(
                "Your credit balance is too low to access the API.", None, "invalid_request_error"
            ),
            "quota",
            False,
        ),
        (
            401,
            error("Wrong key", "invalid_api_key", "invalid_request_error"),
            "authentication",
            False,
        ),
        (402, error("Pay"), "quota", False),
        (403, error("Not your region"), "permission", False),
        (404, error("No model", "model_not_found", "invalid_request_error"), "not-found", False),
        (408, error("Slow"), "timeout", True),
        (409, error("Conflict"), "server", True),
        (422, {"detail": "Unprocessable"}, "bad-request", False),
        (429, error("Slow down", "rate_limit_exceeded", "tokens"), "rate-limit", True),
        (429, error("No money", "insufficient_quota", "insufficient_quota"), "quota", False),
        (500, error("Oops", None, "server_error"), "server", True),
        (502, "<html><head><title>502 Bad Gateway</title></head></html>", "server", True),
        (503, "<html>", "overloaded", True),
        (504, "", "timeout", True),
        (529, error("Overloaded", None, "overloaded_error"), "overloaded", True),
        (404, "<!DOCTYPE html>", "not-found", False),
        (307, "", "bad-request", False),
        (200, "<html>", "protocol", True),
        (200, error("Oops", None, "server_error"), "server", True),
    ],
)
def test_each_failure_has_a_kind(
    status: int, body: object, kind: ModelErrorKind, retryable: bool
) -> None:
    reason = reason_of_response(failed(status, body), now=NOW)

    assert (reason.kind, reason.status, reason.is_retryable) == (kind, status, retryable)
    assert reason.message


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": {"message": "a"}}, "a"),
        ({"error": "a"}, "a"),
        ({"message": "a"}, "a"),
        ({"detail": "a"}, "a"),
        ([{"error": {"message": "a", "code": 400}}], "a"),
        ("a", "the server answered with status 400 and what is not JSON: 'a'"),
        ("", "the server answered with status 400 and an empty body"),
        (
            "<html><title>\nOh no </title>",
            "the server answered with status 400 and a web page titled 'Oh no' instead of JSON",
        ),
        ({}, "the server reported an error without words (status 400)"),
        ({"error": {"message": 7}}, "the server reported an error without words (status 400)"),
        ({"error": {"message": "\ud800"}}, "\ufffd"),
    ],
)
def test_words_are_found_in_a_body_of_any_shape(body: object, message: str) -> None:
    assert reason_of_response(failed(400, body), now=NOW).message == message


@pytest.mark.parametrize(
    "body", [b"\xff", b"[" * 100_000, b"1" * 5_000, b'{"error":{"code":{}}}', b"null", b"[]"]
)
def test_no_body_is_too_strange(body: bytes) -> None:
    assert reason_of_response(HttpResponse(500, (), body), now=NOW).kind == "server"


def test_ids_codes_and_waits_are_kept() -> None:
    headers = (("x-request-id", "req_1"), ("retry-after", "2"))
    response = failed(429, error("Slow down", "rate_limit_exceeded"), headers)

    reason = reason_of_response(response, now=NOW)

    assert (reason.request_id, reason.code) == ("req_1", "rate_limit_exceeded")
    assert reason.retry_after == 2 * SECOND


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ((), None),
        ((("retry-after", "1.5"),), 1_500_000_000),
        ((("retry-after", "0"),), 0),
        ((("retry-after-ms", "20"), ("retry-after", "9")), 20_000_000),
        ((("retry-after-ms", "x"), ("retry-after", "9")), 9 * SECOND),
        ((("retry-after", "Tue, 14 Nov 2023 22:13:50 GMT"),), 30 * SECOND),
        ((("retry-after", "Tue, 14 Nov 2023 22:13:50"),), 30 * SECOND),
        ((("retry-after", "Tue, 14 Nov 2023 22:00:00 GMT"),), 0),
        ((("retry-after", "Tue, 99 Nov 2023 22:00:00 GMT"),), None),
        ((("retry-after", "-1"),), None),
        ((("retry-after", "nan"),), None),
        ((("retry-after", "1e300"),), None),
        ((("retry-after", "soon"),), None),
    ],
)
def test_how_long_to_wait(headers: tuple[tuple[str, str], ...], wait: int | None) -> None:
    assert retry_after_of(HttpResponse(429, headers), NOW) == wait


def test_secrets_are_hidden_and_long_texts_cut() -> None:
    body = error("Incorrect API key provided: sk-abcdefgh; header was my-own-key. " + "x" * 3000)

    message = reason_of_response(failed(401, body), now=NOW, secrets=("my-own-key",)).message

    assert message.startswith("Incorrect API key provided: [hidden]; header was [hidden]. xx")
    assert len(message) < 2_100


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (error("x", None, "server_error"), "server"),
        (error("x", 429), "rate-limit"),
        (error("x", "429"), "unknown"),
        (error("x", None, "overloaded_error"), "overloaded"),
        ({"error": {"message": "x", "status": "RESOURCE_EXHAUSTED"}}, "rate-limit"),
        ({"type": "error", "error": {"type": "timeout_error", "message": "x"}}, "timeout"),
        ("words", "unknown"),
        (None, "unknown"),
    ],
)
def test_an_error_inside_a_stream_has_a_kind_without_a_status(
    value: object, kind: ModelErrorKind
) -> None:
    assert reason_of_error(value).kind == kind
