import re
import subprocess
import sys

import pytest

from stepfold.ports import model_name
from stepfold.providers import PROVIDERS, HttpModel, ProviderEntry, resolve_model
from stepfold.values import UsageError


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name in ("OPENAI_COMPATIBLE_BASE_URL", "OPENAI_COMPATIBLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def options_of(name: str) -> tuple[str, str, str, tuple[tuple[str, str], ...]]:
    model = resolve_model(name)
    assert isinstance(model, HttpModel)
    return model.provider, model.model_id, model.endpoint.base_url, model.endpoint.headers


@pytest.mark.parametrize("name", ["openai/gpt-5.4", "openai:gpt-5.4", " openai/gpt-5.4 "])
def test_a_model_of_openai(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test\n")

    assert options_of(name) == (
        "openai",
        "gpt-5.4",
        "https://api.openai.com/v1",
        (("authorization", "Bearer sk-test"),),
    )


def test_the_address_of_openai_may_be_another(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:1/v1/")

    assert options_of("openai/x")[2] == "http://localhost:1/v1/"


def test_a_missing_key_is_named() -> None:
    with pytest.raises(UsageError, match="OPENAI_API_KEY") as caught:
        resolve_model("openai/gpt-5.4")

    assert "api_key=" in str(caught.value)


@pytest.mark.parametrize("model_id", ["llama3:8b", "meta-llama/Llama-3"])
def test_a_model_of_a_compatible_server(monkeypatch: pytest.MonkeyPatch, model_id: str) -> None:
    monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", "http://localhost:1/v1")

    assert options_of(f"openai-compatible/{model_id}") == (
        "openai-compatible",
        model_id,
        "http://localhost:1/v1",
        (),
    )


def test_a_missing_address_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="OPENAI_COMPATIBLE_BASE_URL"):
        resolve_model("openai-compatible/x")

    monkeypatch.setenv("OPENAI_COMPATIBLE_BASE_URL", "localhost:1")
    with pytest.raises(UsageError, match="https://"):
        resolve_model("openai-compatible/x")


@pytest.mark.parametrize("name", ["gpt-5.4", "", "/x", "openai/", "a b/c", "openai"])
def test_another_form_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="provider/model"):
        resolve_model(name)


def test_an_unknown_provider_is_refused_with_those_that_exist() -> None:
    with pytest.raises(UsageError, match=r"there are alibaba, anthropic, .*, zai\."):
        resolve_model("acme/x")


def test_an_unknown_local_model_is_refused() -> None:
    with pytest.raises(UsageError, match="local/smollm2"):
        resolve_model("local/x")


@pytest.mark.parametrize("entry", PROVIDERS, ids=lambda entry: str(entry.name))
def test_a_name_makes_the_model_of_that_name(
    monkeypatch: pytest.MonkeyPatch, entry: ProviderEntry
) -> None:
    """What a state or a journal names is found again by its name, and no two share one."""
    for variable in re.findall(r"\b[A-Z][A-Z0-9_]{4,}\b", entry.summary):
        monkeypatch.setenv(variable, "http://localhost:1/v1")
    name = f"{entry.name}/{'smollm2' if entry.name == 'local' else 'm-1'}"

    assert model_name(resolve_model(name)) == name


def test_the_table_is_sorted() -> None:
    names = [entry.name for entry in PROVIDERS]

    assert names == sorted(set(names))


def test_importing_providers_imports_no_client() -> None:
    code = (
        "import sys, stepfold.providers;"
        "sys.exit(', '.join({'httpx', 'pydantic', 'openai'} & set(sys.modules)) or 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
