"""Whatever is asked of whichever address, our signature is the one that Amazon's client makes."""

from urllib.parse import quote

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from stepfold.providers import AwsCredentials
from stepfold.providers.bedrock_converse import signed
from stepfold.transport import HttpRequest

visible = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=12)
values = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12)
steps = st.one_of(
    st.text(st.characters(codec="utf-8"), max_size=6).map(lambda step: quote(step, safe="")),
    st.sampled_from(["", ".", "..", "model", "us.amazon.nova-micro-v1%3A0", "a:b", "x~y"]),
)
queries = st.lists(
    st.tuples(st.sampled_from(["a", "b", "b%20c"]), st.sampled_from(["", "1", "%2F"])), max_size=3
)
headers = st.lists(
    st.tuples(
        st.sampled_from(["Content-Type", "X-Amz-Meta", "x-amz-other", "Accept", "User-Agent"]),
        values,
    ),
    max_size=4,
)


@given(
    host=st.sampled_from(["h", "Host.Example:443", "localhost:4566", "127.0.0.1:80"]),
    path=st.lists(steps, max_size=5),
    query=queries,
    said=headers,
    body=st.binary(max_size=20),
    keys=st.tuples(visible, visible, st.none() | visible),
    region=st.sampled_from(["us-east-1", "eu-central-1"]),
    now=st.integers(0, 4_000_000_000_000_000_000),
)
def test_a_signature_is_that_of_the_official_client(
    host: str,
    path: list[str],
    query: list[tuple[str, str]],
    said: list[tuple[str, str]],
    body: bytes,
    keys: tuple[str, str, str | None],
    region: str,
    now: int,
) -> None:
    url = f"https://{host}/{'/'.join(path)}"
    if query:
        url += "?" + "&".join(f"{name}={value}" for name, value in query)
    credentials = AwsCredentials(keys[0], keys[1], session_token=keys[2])
    request = HttpRequest("POST", url, tuple(said), body)

    ours = signed(request, credentials, region=region, service="bedrock", now=now)

    theirs = AWSRequest("POST", url, data=body)
    for name, value in ours.headers:
        if name.lower() == "content-type" or name.lower().startswith("x-amz-"):
            theirs.headers.add_header(name, value)
    theirs.context["timestamp"] = dict(ours.headers)["x-amz-date"]
    auth = SigV4Auth(Credentials(*keys), "bedrock", region)
    text = auth.string_to_sign(theirs, auth.canonical_request(theirs))
    assert f"Signature={auth.signature(text, theirs)}" in dict(ours.headers)["authorization"]
