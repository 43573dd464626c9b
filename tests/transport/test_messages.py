import pytest

from stepfold.transport import HttpRequest, HttpResponse, without_secrets
from stepfold.values import UsageError


def test_the_repr_of_a_request_shows_nothing_secret() -> None:
    request = HttpRequest(
        "POST",
        "https://user:word@api.example.com/v1/x?key=abc#d",
        (("authorization", "Bearer abc"), ("content-type", "application/json"), ("x-team", "t")),
        b"private",
    )

    assert repr(request) == (
        "HttpRequest(method='POST', url=https://api.example.com/v1/x, headers=<authorization: "
        "[hidden], content-type: application/json, x-team: [hidden]>, body=<7 bytes>)"
    )


def test_the_repr_of_a_response_shows_nothing_private() -> None:
    response = HttpResponse(200, (("set-cookie", "abc"),), b"private")

    assert (
        repr(response) == "HttpResponse(status=200, headers=<set-cookie: [hidden]>, body=<7 bytes>)"
    )


@pytest.mark.parametrize("url", ["api.example.com/v1", "file:///etc/passwd", "", "ftp://x"])
def test_only_http_is_spoken(url: str) -> None:
    with pytest.raises(UsageError, match="starts with https://"):
        HttpRequest("GET", url)


@pytest.mark.parametrize("value", ["secret\n", "a\r\nx: y", "sécret", "\0secret"])
def test_a_header_is_one_line_and_is_not_shown_when_it_is_not(value: str) -> None:
    with pytest.raises(UsageError) as caught:
        HttpRequest("GET", "https://example.com", (("authorization", value),))

    assert "authorization" in str(caught.value)
    assert "cret" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "a b", "ä", "a\n"])
def test_a_header_has_a_name(name: str) -> None:
    with pytest.raises(UsageError, match="header name"):
        HttpRequest("GET", "https://example.com", ((name, "x"),))


def test_a_header_is_found_by_its_lower_case_name() -> None:
    response = HttpResponse(200, (("x-a", "1"), ("x-a", "2")))

    assert (response.header("x-a"), response.header("x-b")) == ("1", None)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Incorrect API key provided: sk-proj-abc***xyz.", "Incorrect API key provided: [hidden]"),
        ("got Authorization: Bearer abc.def", "got Authorization: [hidden]"),
        ("key AIzaSyA1234567890123456789012 is wrong", "key [hidden] is wrong"),
        ("my own secret word", "my own [hidden] word"),
        ("a task-force of risk-takers", "a task-force of risk-takers"),
    ],
)
def test_secrets_are_hidden_in_texts(text: str, shown: str) -> None:
    assert without_secrets(text, "secret", "") == shown
