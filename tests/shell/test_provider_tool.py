"""Tools that the provider runs, as they are declared."""

import pytest

import stepfold as sf
from stepfold.shell import provider_tools_by_name


def test_the_name_is_that_of_the_type_without_its_date() -> None:
    search = sf.provider_tool("anthropic.web_search_20250305", args={"max_uses": 2})

    assert (search.name, search.args) == ("web_search", sf.JsonText('{"max_uses":2}'))
    assert sf.provider_tool("openai.web_search").name == "web_search"
    assert sf.provider_tool("openai.web_search", "find").name == "find"


@pytest.mark.parametrize("id", ["web_search", "openai.", ".web_search", ""])
def test_an_id_names_the_provider_and_the_type(id: str) -> None:
    with pytest.raises(sf.UsageError, match=r"expected an id such as 'anthropic\."):
        sf.provider_tool(id)


def test_arguments_have_a_json_form() -> None:
    with pytest.raises(sf.UsageError, match=r"openai.web_search, args: expected what has a JSON"):
        sf.provider_tool("openai.web_search", args={"x": object()})


def test_names_are_told_apart() -> None:
    search = sf.provider_tool("openai.web_search")

    assert provider_tools_by_name([search, search]) == {"web_search": search}
    with pytest.raises(sf.UsageError, match="got two of 'web_search': give one of them another"):
        provider_tools_by_name([search, sf.provider_tool("anthropic.web_search_20250305")])
