"""Making tools: what a model is told of a function, and what stays of the function."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, final

import pytest
from attrs import field, frozen

from stepfold.shell import AnyTool, Tool, ToolContext, ToolOptions, tool, tools_by_name
from stepfold.shell._tool_spec import name_of
from stepfold.values import UsageError


@final
@frozen
class Deps:
    city: str = "Oslo"


@tool
def plain(city: str, days: int = 1) -> str:
    """Look up the weather.

    Args:
        city: Name of the city.
    """
    return f"{city} {days}"


def test_a_tool_is_described_by_its_function() -> None:
    """Name, docstring, and a schema with the parameters."""
    assert plain.name == "plain"
    assert plain.description == "Look up the weather."
    properties = plain.input_schema.value
    assert isinstance(properties, Mapping)
    assert '"description":"Name of the city."' in plain.input_schema.text
    assert properties["required"] == ("city",)


def test_a_tool_stays_a_function() -> None:
    """Callable, with the name, docstring and signature that it had."""
    assert plain("Oslo", days=2) == "Oslo 2"
    assert getattr(plain, "__name__", None) == "plain"
    assert (plain.__doc__ or "").startswith("Look up")
    assert list(inspect.signature(plain).parameters) == ["city", "days"]
    assert repr(plain) == "<tool plain>"


def test_options_are_kept() -> None:
    """And told to the model, and to the loop."""
    made = tool(
        name="other",
        description="Something else.",
        needs_approval=True,
        idempotent=True,
        timeout=1.5,
        strict=True,
        examples=[{"city": "Oslo"}],
        async_only=True,
    )(plain)  # which is a tool already

    assert made("Oslo") == plain("Oslo")
    assert made.function is plain.function
    assert plain.name == "plain"
    assert made.name == "other"
    assert made.description == "Something else."
    assert made.spec.approval == "always"
    assert made.spec.idempotent
    assert made.spec.timeout == 1_500_000_000
    assert made.spec.definition.strict is True
    assert [example.text for example in made.spec.definition.input_examples] == ['{"city":"Oslo"}']
    assert made.options.async_only


def test_a_mapping_is_told_from_arguments_that_bind() -> None:
    """The loop asks the shell to bind where the user's own code has a say."""

    @final
    @frozen
    class Order:
        amount: int = field(validator=lambda _, __, value: None)

    def buy(order: Order) -> str:
        return str(order)

    assert tool(buy).spec.binds
    assert not plain.spec.binds


def test_a_context_is_supplied_and_not_described() -> None:
    """Whatever it holds, and whatever the function is."""

    def of_deps(context: ToolContext[Deps], city: str) -> str:
        return city

    def of_anything(context: ToolContext, city: str) -> str:  # type: ignore[type-arg]
        return city

    class Called:
        def __call__(self, context: ToolContext[Deps], city: str) -> str:
            return city

    given: list[tuple[AnyTool[Deps, object], object]] = [
        (tool(of_deps), Deps),
        (tool(of_anything), object),
        (tool(name="object")(Called()), Deps),
        (tool(name="partial")(functools.partial(of_deps, city="Oslo")), Deps),
    ]
    for made, deps_type in given:
        assert made.takes_context
        assert made.deps_type == deps_type
        assert "context" not in made.input_schema.text
    assert not plain.takes_context
    assert plain.deps_type is object


def test_a_class_makes_its_objects() -> None:
    """Its parameters are those of the constructor."""
    make: Callable[[str], Deps] = Deps
    made = tool(name="deps")(make)

    assert made("Rome") == Deps("Rome")
    assert '"city"' in made.input_schema.text


def test_names_are_found_under_partials() -> None:
    """An object without a name goes by its class."""
    assert name_of(functools.partial(functools.partial(len))) == "len"
    assert name_of(Deps()) == "Deps"


def test_a_function_with_attributes_of_its_own_is_a_tool_too() -> None:
    """They do not replace what the tool is."""

    def marked(city: str) -> str:
        return city

    vars(marked).update(function="other", options="other", mark=3)
    made = tool(marked)

    assert made.function is marked
    assert isinstance(made.options, ToolOptions)
    assert made("Oslo") == "Oslo"
    assert getattr(made, "mark", None) == 3


def test_annotations_are_followed() -> None:
    """`Annotated` describes a parameter."""

    def find(city: Annotated[str, "Name of the city."]) -> str:
        return city

    assert "city" in tool(find).input_schema.text


class Store:
    def __init__(self, name: str) -> None:
        self.name = name

    @tool
    def find(self, key: str) -> str:
        """Find something."""
        return f"{self.name}/{key}"

    @tool
    def broken(self, call: Callable[[], None]) -> str:
        return ""


def test_a_method_is_read_when_it_is_bound() -> None:
    """In the class it is a function with `self`; mistakes show where it is bound."""
    store = Store("a")

    assert isinstance(Store.find, Tool)
    assert Store.find(store, "k") == "a/k"
    assert store.find.name == "find"
    assert store.find.description == "Find something."
    with pytest.raises(UsageError, match=r"'call' of .*broken"):
        _ = store.broken


def test_a_tool_made_by_hand_of_no_function_says_so() -> None:
    """Nothing else can be called."""
    with pytest.raises(UsageError, match="expected a function, got 3"):
        AnyTool[object, object](3, ToolOptions())


def test_the_same_tool_twice_is_one() -> None:
    """Only another one of the same name is a mistake."""
    assert list(tools_by_name([plain, plain])) == ["plain"]
