import pytest

from stepfold.providers import HttpModel, openai_responses, resolve_model
from stepfold.values import UsageError
from tests.providers._served import KEY


def test_its_key_and_address_are_those_of_the_arguments_or_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        resolve_model("openai-responses/gpt-5.4")
    given = openai_responses("gpt-5.4", api_key=KEY, organization="o", headers={"X-A": "1"})
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1/")
    named = resolve_model("openai-responses/gpt-5.4")

    assert given.endpoint.base_url == "https://api.openai.com/v1"
    assert given.endpoint.headers == (
        ("authorization", f"Bearer {KEY}"),
        ("openai-organization", "o"),
        ("x-a", "1"),
    )
    assert KEY not in repr(given.endpoint)
    assert given.endpoint.dialect.reasons
    assert isinstance(named, HttpModel)
    assert named.endpoint.under("responses") == "http://localhost:1/v1/responses"
