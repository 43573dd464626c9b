"""Providers of one's own: aliases, fallbacks, middleware, and a registry as a value."""

import json

import pytest

import stepfold as sf
from stepfold.ports import model_name
from stepfold.providers import PROVIDERS, ProviderEntry
from stepfold.shell import default_settings
from stepfold.testing import ScriptedModel, reply

FAST = ScriptedModel([reply("Fast.")])


@pytest.fixture(autouse=True)
def a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-key")


def registry(*entries: ProviderEntry) -> sf.ProviderRegistry:
    return sf.ProviderRegistry((*PROVIDERS, *entries))


def test_the_built_in_providers_are_in_a_registry_by_default() -> None:
    assert model_name(sf.ProviderRegistry()("openai:gpt-5.4")) == "openai/gpt-5.4"


def test_a_name_stands_for_a_model_a_maker_or_another_name() -> None:
    mine = sf.custom_provider("mine", models={"a": FAST, "b": lambda: FAST, "c": "openai/gpt-5.4"})
    known = registry(mine)

    assert [model_name(known(f"mine/{one}")) for one in "abc"] == ["mine/a", "mine/b", "mine/c"]


def test_nothing_is_made_before_it_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key that is missing is missed when a model is made, not when a provider is."""
    monkeypatch.delenv("OPENAI_API_KEY")
    known = registry(sf.custom_provider("mine", models={"c": "openai/gpt-5.4"}))

    with pytest.raises(sf.UsageError, match="OPENAI_API_KEY"):
        known("mine/c")


@pytest.mark.parametrize("fallback", ["openai", PROVIDERS[0]])
def test_what_is_not_listed_is_made_by_the_fallback(
    monkeypatch: pytest.MonkeyPatch, fallback: str | ProviderEntry
) -> None:
    monkeypatch.setenv("DASHSCOPE_API_KEY", "sk-test-key")
    mine = sf.custom_provider("mine", models={"a": FAST}, fallback=fallback)

    assert model_name(registry(mine)("mine/gpt-5.4")) == "mine/gpt-5.4"


def test_a_model_that_there_is_not_is_named_with_those_that_there_are() -> None:
    mine = sf.custom_provider("mine", models={"a": FAST})

    with pytest.raises(sf.UsageError, match="there is no model mine/b; there are mine/a"):
        registry(mine)("mine/b")
    with pytest.raises(sf.UsageError, match="there are none"):
        registry(sf.custom_provider("mine"))("mine/b")


def test_wrong_names_are_refused_where_they_are_given() -> None:
    with pytest.raises(sf.UsageError, match="without white space, '/' and ':', got 'a/b'"):
        sf.custom_provider("a/b")
    with pytest.raises(sf.UsageError, match="no provider 'acme' to fall back on; there are ali"):
        sf.custom_provider("mine", fallback="acme")


def test_the_later_of_two_providers_of_one_name_counts() -> None:
    mine = sf.custom_provider("openai", models={"a": FAST})

    with pytest.raises(sf.UsageError, match=r"no model openai/gpt-5\.4"):
        registry(mine)("openai/gpt-5.4")


def test_an_unknown_provider_is_named_with_those_that_there_are() -> None:
    known = sf.ProviderRegistry((sf.custom_provider("mine"),))

    with pytest.raises(sf.UsageError, match=r"no provider 'openai'; there are mine\.$"):
        known("openai/gpt-5.4")
    with pytest.raises(sf.UsageError, match="got 'mine'; providers: mine"):
        known("mine")


async def test_middleware_is_put_around_every_model_of_a_provider_and_of_a_registry() -> None:
    model = ScriptedModel([reply("Hi."), reply("Hi.")])
    mine = sf.custom_provider(
        "mine", models={"a": model}, middleware=default_settings(settings=sf.CallSettings(seed=7))
    )
    known = sf.ProviderRegistry(
        (mine,), middleware=default_settings(settings=sf.CallSettings(temperature=0.5))
    )
    wrapped = known("mine/a")

    await wrapped.generate(sf.ModelRequest(messages=(sf.UserMessage("Hi"),)))

    settings = model.requests[0].settings
    assert (settings.seed, settings.temperature) == (7, 0.5)
    assert model_name(wrapped) == "mine/a"


async def test_an_agent_looks_its_ids_up_where_it_is_told() -> None:
    model = ScriptedModel([reply("Hi.")])
    known = registry(sf.custom_provider("mine", models={"fast": model}))
    agent = sf.Agent(model="mine:fast", resolve_model=known)

    run = await agent.generate("Hi")

    assert run.unwrap() == "Hi."
    assert agent.program.models == ("mine/fast",)


async def test_any_function_may_make_the_models_of_an_agent() -> None:
    """Whatever it gives has the id for its name, so that what is stored is found again."""
    names: list[str] = []

    def resolve(name: str) -> sf.LanguageModel:
        names.append(name)
        return ScriptedModel([reply("Hi.")])

    run = await sf.generate_text("Hi", model="openai/gpt-5.4", resolve_model=resolve)

    assert (run.unwrap(), names) == ("Hi.", ["openai/gpt-5.4"])


def test_what_makes_no_models_is_refused() -> None:
    given: list[sf.ProviderRegistry] = json.loads('["openai"]')

    with pytest.raises(sf.UsageError, match="resolve_model: expected a function from an id"):
        sf.Agent(model="openai/gpt-5.4", resolve_model=given[0])
