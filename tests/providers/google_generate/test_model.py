import pytest

from stepfold.providers import HttpModel, google, resolve_model
from stepfold.values import UsageError
from tests.providers._served import KEY


def test_key_and_address_come_from_the_arguments_or_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="GEMINI_API_KEY"):
        google("gemini-3-pro")
    given = google("gemini-3-pro", api_key=KEY, headers={"X-A": "1"})
    assert given.endpoint.base_url == "https://generativelanguage.googleapis.com/v1beta"
    assert given.endpoint.headers == (("x-goog-api-key", KEY), ("x-a", "1"))
    assert KEY not in repr(given.endpoint) + repr(given)

    monkeypatch.setenv("GOOGLE_API_KEY", KEY)
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://localhost:1/v1beta")
    named = resolve_model("google/gemini-3-pro")
    assert isinstance(named, HttpModel)
    assert named.endpoint.base_url == "http://localhost:1/v1beta"


def test_vertex_takes_a_token_in_place_of_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    monkeypatch.delenv("GOOGLE_API_KEY", raising=False)

    model = google(
        "m", base_url="http://x/publishers/google", headers={"Authorization": "Bearer t"}
    )

    assert model.endpoint.headers == (("authorization", "Bearer t"),)
