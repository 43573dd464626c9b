"""Signatures are those that `botocore` makes of the same request at the same instant."""

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from stepfold.providers import AwsCredentials, AwsSigner
from stepfold.providers.bedrock_converse import signed
from stepfold.transport import HttpRequest

NOW = 1_790_000_000_123_456_789
MOMENT = "20260921T141320Z"
URL = "https://bedrock-runtime.us-east-1.amazonaws.com/model/us.amazon.nova-micro-v1%3A0/converse"
KEYS = AwsCredentials("AKIDEXAMPLE", "wJalrXUtnFEMI")


def their_signature(request: HttpRequest, keys: AwsCredentials, region: str, service: str) -> str:
    """The header that the official client makes for the headers that we sign."""
    headers = [
        (name, value)
        for name, value in request.headers
        if name.lower() == "content-type" or name.lower().startswith("x-amz-")
    ]
    theirs = AWSRequest(request.method, request.url, data=request.body)
    for name, value in headers:
        theirs.headers.add_header(name, value)
    theirs.context["timestamp"] = dict(request.headers)["x-amz-date"]
    held = Credentials(keys.access_key_id, keys.secret_access_key, keys.session_token)
    auth = SigV4Auth(held, service, region)
    text = auth.string_to_sign(theirs, auth.canonical_request(theirs))
    signature = auth.signature(text, theirs)
    names = auth.signed_headers(auth.headers_to_sign(theirs))
    scope = auth.scope(theirs)
    return f"AWS4-HMAC-SHA256 Credential={scope}, SignedHeaders={names}, Signature={signature}"


@pytest.mark.parametrize(
    "url",
    [
        URL,
        "http://localhost:4566/model/a/converse",
        "https://Example.com:443/a//b/../c/./d/",
        "https://h/model/arn%3Aaws%3Abedrock%3Aeu-west-1%3A%3Afoundation-model%2Fa.b/converse",
        "https://h/sp%20ace/%E2%82%AC/~t?b=2&a=1&a=0&c",
        "https://h",
        "https://u:p@h:80/",
    ],
)
def test_it_is_the_signature_of_the_official_client(url: str) -> None:
    for keys in (KEYS, AwsCredentials("A", "b", session_token="to/ken==")):
        ours = HttpRequest("POST", url, (("Content-Type", "application/json"),), b'{"a": 1}')

        sent = signed(ours, keys, region="eu-west-1", service="bedrock", now=NOW)

        headers = dict(sent.headers)
        assert headers["x-amz-date"] == MOMENT
        assert headers.get("x-amz-security-token") == keys.session_token
        assert headers["authorization"] == their_signature(sent, keys, "eu-west-1", "bedrock")
        assert (sent.method, sent.url, sent.body) == (ours.method, ours.url, ours.body)


def test_a_signature_replaces_an_older_one() -> None:
    first = signed(HttpRequest("POST", URL), KEYS, region="r", service="s", now=0)
    again = signed(first, KEYS, region="r", service="s", now=NOW)

    assert again == signed(HttpRequest("POST", URL), KEYS, region="r", service="s", now=NOW)


def test_credentials_may_be_asked_for_each_time() -> None:
    made = iter((KEYS, AwsCredentials("SECOND", "b")))
    signer = AwsSigner(lambda: next(made), "us-east-1")

    first, second = (signer(HttpRequest("POST", URL), NOW) for _ in range(2))

    assert (
        "Credential=AKIDEXAMPLE/20260921/us-east-1/bedrock/" in dict(first.headers)["authorization"]
    )
    assert "Credential=SECOND/" in dict(second.headers)["authorization"]


def test_nothing_shows_a_secret() -> None:
    keys = AwsCredentials("AKIDEXAMPLE", "wJalrXUtnFEMI", session_token="token-value")
    shown = repr(keys) + repr(AwsSigner(keys, "r"))
    shown += repr(signed(HttpRequest("POST", URL), keys, region="r", service="s", now=0))

    assert "wJalrXUtnFEMI" not in shown
    assert "token-value" not in shown
