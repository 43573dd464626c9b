from pathlib import Path

import pytest

from stepfold.providers import CHAT_SERVERS, ChatServer, HttpModel, chat_model, resolve_model
from stepfold.values import UsageError
from tests.providers._served import KEY

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "providers.md"


def row_of(server: ChatServer) -> str:
    where = f"`{server.base_url}`" if server.base_url else f"`{server.base_url_variable}`"
    key = f"`{server.key_variable}`" if server.key_variable is not None else "none"
    return f"| `{server.name}/` | {server.summary} | {where} | {key} |"


@pytest.mark.parametrize("server", CHAT_SERVERS, ids=lambda server: server.name)
def test_each_server_is_reached_by_a_name_alone(
    server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(server.base_url_variable, raising=False)
    if server.key_variable is not None:
        monkeypatch.setenv(server.key_variable, f" {KEY}\n")
    if not server.base_url:
        monkeypatch.setenv(server.base_url_variable, "http://localhost:1/v1")

    model = resolve_model(f"{server.name}/m/x")

    assert isinstance(model, HttpModel)
    assert (model.provider, model.model_id) == (server.name, "m/x")
    assert model.endpoint.base_url == (server.base_url or "http://localhost:1/v1")
    sent = dict(model.endpoint.headers).get(server.key_header, "")
    assert sent.endswith(KEY) == (server.key_variable is not None)


@pytest.mark.parametrize("server", CHAT_SERVERS, ids=lambda server: server.name)
def test_what_is_missing_is_named(server: ChatServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(server.base_url_variable, raising=False)
    if server.key_variable is not None:
        monkeypatch.delenv(server.key_variable, raising=False)
    if not server.base_url:
        with pytest.raises(UsageError, match=server.base_url_variable):
            chat_model(server.name, "m")
    elif server.key_variable is not None:
        with pytest.raises(UsageError, match=server.key_variable):
            chat_model(server.name, "m")
    else:
        assert chat_model(server.name, "m").endpoint.headers == ()


def test_what_is_given_comes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "gsk-other")
    monkeypatch.setenv("GROQ_BASE_URL", "http://other/v1")

    model = chat_model("groq", "m", api_key=KEY, base_url="http://mine/v1")

    assert model.endpoint.base_url == "http://mine/v1"
    assert model.endpoint.headers == (("authorization", f"Bearer {KEY}"),)


def test_azure_has_a_header_of_its_own() -> None:
    model = chat_model("azure", "gpt-5.4", api_key=KEY, base_url="https://r.example/openai/v1")

    assert model.endpoint.headers == (("api-key", KEY),)


def test_an_unknown_server_is_refused_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match=r"expected one of alibaba, azure, .*, got 'acme'"):
        chat_model("acme", "m")


def test_the_table_is_sorted_and_on_its_page() -> None:
    assert [server.name for server in CHAT_SERVERS] == sorted(
        {server.name for server in CHAT_SERVERS}
    )
    lines = PAGE.read_text("utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| `") and "/` |" in line]
    assert rows == [row_of(server) for server in CHAT_SERVERS]
