"""How a model of Bedrock is named, signed and asked, from the environment to the wire."""

import json

import httpx
import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from stepfold.loop import fold_parts
from stepfold.providers import AwsCredentials, HttpModel, bedrock, resolve_model
from stepfold.testing.conformance import ProviderSample, check_provider
from stepfold.transport import aws_message
from stepfold.values import ModelError, Text, UsageError
from tests.providers._served import KEY, REQUEST, served

VARIABLES = (
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_ENDPOINT_URL_BEDROCK_RUNTIME",
)
MODEL = "us.amazon.nova-micro-v1:0"
EVENTS: tuple[tuple[str, dict[str, object]], ...] = (
    ("messageStart", {"role": "assistant"}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Hi"}}),
    ("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": " there"}}),
    ("contentBlockStop", {"contentBlockIndex": 0}),
    ("messageStop", {"stopReason": "end_turn"}),
    ("metadata", {"usage": {"inputTokens": 1, "outputTokens": 2}}),
)
BODY = json.dumps(
    {
        "output": {"message": {"role": "assistant", "content": [{"text": "Hi there"}]}},
        "stopReason": "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 2},
    }
).encode()
BINARY = "application/vnd.amazon.eventstream"


def messages(*events: tuple[str, dict[str, object]]) -> tuple[bytes, ...]:
    return tuple(
        aws_message(
            {
                ":exception-type" if name.endswith("Exception") else ":event-type": name,
                ":message-type": "exception" if name.endswith("Exception") else "event",
            },
            json.dumps(value).encode(),
        )
        for name, value in events
    )


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_what_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="AWS_REGION"):
        resolve_model(f"bedrock/{MODEL}")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A")
    with pytest.raises(UsageError, match=r"AWS_BEARER_TOKEN_BEDROCK.*AWS_SECRET_ACCESS_KEY"):
        resolve_model(f"bedrock/{MODEL}")


def test_everything_may_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "A")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", KEY)
    signing = resolve_model(f"bedrock/{MODEL}")
    assert isinstance(signing, HttpModel)
    assert signing.endpoint.base_url == "https://bedrock-runtime.eu-west-1.amazonaws.com"
    assert signing.endpoint.sign is not None
    assert signing.endpoint.headers == ()
    assert KEY not in repr(signing.endpoint) + repr(signing)

    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", KEY)
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", "http://localhost:1")
    bearing = bedrock(MODEL)
    assert bearing.endpoint.base_url == "http://localhost:1"
    assert bearing.endpoint.sign is None
    assert bearing.endpoint.headers == (("authorization", f"Bearer {KEY}"),)
    given = bedrock(MODEL, region="cn-north-1", credentials=AwsCredentials("A", "b"))
    assert given.endpoint.sign is not None


def test_china_has_a_domain_of_its_own() -> None:
    model = bedrock(MODEL, region="cn-north-1", api_key=KEY)

    assert model.endpoint.base_url == "https://bedrock-runtime.cn-north-1.amazonaws.com.cn"


async def test_what_arrives_has_the_signature_that_its_receiver_makes_of_it() -> None:
    """The client on the way changes nothing that is signed, the path's escapes least of all."""
    credentials = Credentials("AKID", "secret-of-the-account", "token")

    def answer(request: httpx.Request) -> httpx.Response:
        told = request.headers["authorization"]
        names = told.partition("SignedHeaders=")[2].partition(",")[0].split(";")
        url = f"http://{request.headers['host']}{request.url.raw_path.decode()}"
        theirs = AWSRequest("POST", url, data=request.content)
        for name in names:
            theirs.headers.add_header(name, request.headers[name])
        theirs.context["timestamp"] = request.headers["x-amz-date"]
        auth = SigV4Auth(credentials, "bedrock", "us-east-1")
        text = auth.string_to_sign(theirs, auth.canonical_request(theirs))
        if told.endswith(f"Signature={auth.signature(text, theirs)}"):
            return httpx.Response(200, content=BODY, headers={"content-type": "application/json"})
        return httpx.Response(403, json={"message": "wrong"})

    options = served(answer, "http://127.0.0.1:8080")
    del options["api_key"]
    model = bedrock(
        "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.amazon.nova-micro-v1:0",
        region="us-east-1",
        credentials=AwsCredentials("AKID", "secret-of-the-account", session_token="token"),
        **options,
    )

    assert (await model.generate(REQUEST)).content == (Text("Hi there"),)


async def test_a_stream_comes_in_binary_messages() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["accept"] == BINARY
        content = b"".join(messages(*EVENTS))
        return httpx.Response(200, content=content, headers={"content-type": BINARY})

    model = bedrock(MODEL, region="us-east-1", **served(answer))
    async with model.stream(REQUEST) as stream:
        reply = fold_parts([part async for part in stream])

    assert reply.content == (Text("Hi there"),)


async def test_a_refusal_says_why_by_its_header() -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        said = {
            "x-amzn-errortype": "ExpiredTokenException:http://internal.amazon.com/x",
            "x-amzn-requestid": "r-1",
        }
        return httpx.Response(403, json={"Message": "The security token expired"}, headers=said)

    model = bedrock(MODEL, region="us-east-1", **served(answer))
    with pytest.raises(ModelError) as caught:
        await model.generate(REQUEST)

    reason = caught.value.reason
    assert (reason.kind, reason.status, reason.request_id) == ("authentication", 403, "r-1")
    assert (reason.message, reason.code) == ("The security token expired", "ExpiredTokenException")


async def test_a_refusal_shows_when_it_was_signed_and_no_secret() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        told = f"{request.headers['x-amz-date']} {request.headers['x-amz-security-token']}"
        return httpx.Response(403, json={"message": f"Signature expired: {told}"})

    options = served(answer)
    del options["api_key"]
    keys = AwsCredentials("AKID", "secret-of-the-account", session_token="token-of-the-session")
    model = bedrock(MODEL, region="us-east-1", credentials=keys, **options)
    with pytest.raises(ModelError, match=r"Signature expired: \d{8}T\d{6}Z ") as caught:
        await model.generate(REQUEST)

    assert "token-of-the-session" not in str(caught.value)


def test_it_keeps_the_laws_of_models() -> None:
    busy: tuple[str, dict[str, object]] = "throttlingException", {"message": "Slow down"}
    check_provider(
        lambda options: bedrock(MODEL, region="us-east-1", **options),
        [
            ProviderSample(name="text", events=messages(*EVENTS), body=BODY, content_type=BINARY),
            ProviderSample(
                name="busy",
                events=messages(*EVENTS[:2], busy),
                is_error=True,
                content_type=BINARY,
            ),
        ],
    )
