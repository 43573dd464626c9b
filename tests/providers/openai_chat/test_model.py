import httpx
import pytest

from stepfold.providers import openai, openai_compatible
from stepfold.values import Text, UsageError
from tests.providers._served import KEY, Pieces, fold_of, served, streaming

CHUNK = b'data: {"id":"i","choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n'
STOP = b'data: {"id":"i","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'


async def test_a_connection_that_breaks_before_the_last_figures_breaks_nothing() -> None:
    broken = httpx.RemoteProtocolError("peer closed connection")
    model = openai("m", **served(streaming(Pieces(CHUNK, STOP, error=broken))))

    assert (await fold_of(model)).content == (Text("Hello"),)


def test_openai_takes_its_key_and_address_from_the_arguments_or_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        openai("gpt-5.4")
    given = openai("gpt-5.4", api_key=KEY, organization="o", headers={"X-A": "1"})

    assert given.endpoint.base_url == "https://api.openai.com/v1"
    assert given.endpoint.headers == (
        ("authorization", f"Bearer {KEY}"),
        ("openai-organization", "o"),
        ("x-a", "1"),
    )
    assert KEY not in repr(given.endpoint)
    assert given.endpoint.dialect.system_role == "developer"


def test_a_compatible_server_has_the_name_that_it_is_given() -> None:
    named = openai_compatible("m", base_url="http://x", provider="acme")

    assert (named.provider, named.endpoint.dialect.provider) == ("acme", "acme")
