"""A function's signature and docstring become the input of a tool."""

import functools
import json
from collections.abc import AsyncIterator, Awaitable, Coroutine
from typing import Annotated, Any

import attrs
import pytest
from returns.result import Result

from stepfold.schema import (
    JsonSchemaForm,
    Parameters,
    bounded,
    describe,
    form_of,
    parameters_of,
    parameters_of_schema,
)
from stepfold.values._errors import UsageError
from stepfold.values._json import JsonText
from stepfold.values._outcome import Failure, Outcome, Success


class Context:
    """What the caller supplies."""


@attrs.frozen
class Place:
    name: str


async def weather(
    context: Context,
    city: str,
    days: Annotated[int, bounded(ge=1), describe("How many days.")] = 3,
    *,
    place: Place | None = None,
) -> Place:
    """Look up the weather.

    It may rain.

    Args:
        context: Not for the model.
        city: Name of the city,
            in English.
        days: Overruled by the annotation.
        place (Place, optional): Where
            it is.

    Returns:
        What is there.

    Raises:
        ValueError: never.
    """
    raise NotImplementedError


def read(parameters: Parameters) -> Any:
    return json.loads(parameters.form.schema.text)


def test_signature_and_docstring_are_read() -> None:
    parameters = parameters_of(weather, skip_first=True)

    assert parameters.description == "Look up the weather.\n\nIt may rain."
    assert parameters.returns == form_of(Place, where="test")
    assert read(parameters) == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Name of the city, in English."},
            "days": {
                "type": "integer", "description": "How many days.", "minimum": 1, "default": 3,
            },
            "place": {
                "description": "Where it is.",
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"name": {"type": "string"}},
                        "required": ["name"],
                        "additionalProperties": False,
                    },
                    {"type": "null"},
                ],
                "default": None,
            },
        },
        "required": ["city"],
        "additionalProperties": False,
    }  # fmt: skip


def test_arguments_are_bound() -> None:
    parameters = parameters_of(weather, skip_first=True)

    assert parameters.bind({"city": "Oslo", "place": {"name": "x"}}) == Success(
        ((), {"city": "Oslo", "place": Place("x")})
    )
    [fault] = parameters.bind({"days": 0, "city": "Oslo"}).failure()
    assert (fault.pointer, fault.message) == ("/days", "expected a number of at least 1, got 0")


def test_arguments_are_a_copy() -> None:
    def plain(a: int) -> None: ...

    value = {"a": 1}
    _, keywords = parameters_of(plain, skip_first=False).bind(value).unwrap()
    keywords["b"] = 2

    assert value == {"a": 1}


def test_exception_of_the_user_is_a_fault() -> None:
    @attrs.frozen
    class Refusing:
        def __attrs_post_init__(self) -> None:
            raise ValueError("no")

    def take(thing: Refusing) -> None: ...

    take.__annotations__ = {"thing": Refusing}
    [fault] = parameters_of(take, skip_first=False).bind({"thing": {}}).failure()

    assert (fault.pointer, fault.message) == ("/thing", "ValueError: no")


def test_positional_only_parameters_come_in_order() -> None:
    def take(a: int, b: int = 2, c: int = 3, /, d: int = 4) -> tuple[int, ...]:
        return a, b, c, d

    parameters = parameters_of(take, skip_first=False)

    def called(value: object) -> tuple[int, ...]:
        arguments, keywords = parameters.bind(value).unwrap()
        return take(*arguments, **keywords)  # type: ignore[arg-type]

    assert called({"a": 1}) == (1, 2, 3, 4)
    assert called({"c": 9, "a": 1}) == (1, 2, 9, 4)
    assert called({"a": 1, "d": 7}) == (1, 2, 3, 7)


def test_first_parameter_may_be_positional_only_too() -> None:
    def take(context: Context, count: int, /) -> None: ...

    parameters = parameters_of(take, skip_first=True)

    assert parameters.bind({"count": 1}) == Success(((1,), {}))


def test_ready_schema_gives_its_value_in_one_piece() -> None:
    def take(value: object) -> int:
        """Take it.

        Args:
            value: What came.
        """
        raise NotImplementedError

    class Taking:
        """Not of the function."""

        method = take

    form = JsonSchemaForm(JsonText('{"type":"object","required":["a"]}'))
    parameters = parameters_of_schema(form, take)

    assert parameters.bind({"a": 1}) == Success((({"a": 1},), {}))
    assert parameters.bind({}).failure()
    assert parameters.description == parameters_of_schema(form, Taking().method).description
    assert parameters.description == "Take it."
    assert parameters.returns == form_of(int, where="result of take()")
    assert parameters_of_schema(form, len).description == ""  # it says what len() is for


def test_no_parameters_are_an_empty_object() -> None:
    def take() -> None: ...

    assert read(parameters_of(take, skip_first=False)) == {
        "type": "object",
        "properties": {},
        "additionalProperties": False,
    }


class Methods:
    def find(self, context: Context, query: str) -> int:
        """Find it."""
        return len(query)

    def __call__(self, query: str) -> int:
        """Call it."""
        return len(query)


def test_methods_callables_and_partials_are_functions_too() -> None:
    bound = parameters_of(Methods().find, skip_first=True)
    called = parameters_of(Methods(), skip_first=False)
    partial = parameters_of(functools.partial(Methods.find, Methods()), skip_first=True)

    assert bound.description == "Find it."
    assert called.description == "Call it."
    assert partial.description == "Find it."
    assert read(bound) == read(called) == read(partial)


def none(a: int): ...  # type: ignore[no-untyped-def]
def nothing(a: int) -> None: ...
def waits(a: int) -> Awaitable[int]: ...  # type: ignore[empty-body]
def coroutine(a: int) -> Coroutine[object, object, int]: ...  # type: ignore[empty-body]
def streams(a: int) -> AsyncIterator[int]: ...  # type: ignore[empty-body]
def outcome(a: int) -> Outcome[int, str]: ...  # type: ignore[empty-body]
async def later(a: int) -> Outcome[int, str]: ...  # type: ignore[empty-body]
def result(a: int) -> Result[int, str]: ...  # type: ignore[empty-body]
def success(a: int) -> Success[int] | Success[str] | Failure[str]: ...  # type: ignore[empty-body]
def mixed(a: int) -> Success[int] | str | Failure[str]: ...  # type: ignore[empty-body]
def failure(a: int) -> Failure[str]: ...  # type: ignore[empty-body]
def formless(a: int) -> complex: ...  # type: ignore[empty-body]
def union(a: int) -> int | str: ...  # type: ignore[empty-body]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (none, ()),
        (nothing, None),
        (waits, int),
        (coroutine, int),
        (streams, int),
        (outcome, int),
        (later, int),
        (result, int),
        (success, int | str),
        (mixed, int | str),
        (failure, ()),
        (formless, ()),
        (union, int | str),
    ],
)
def test_form_of_what_a_call_gives_in_the_end(function: object, expected: object) -> None:
    returns = parameters_of(function, skip_first=False).returns

    assert returns == (None if expected == () else form_of(expected, where="test"))


def several(*items: int) -> None: ...
def options(**items: int) -> None: ...
def untyped(items) -> None: ...  # type: ignore[no-untyped-def]
def hidden(items: "Missing") -> None: ...  # type: ignore[name-defined]  # noqa: F821
def odd(items: complex) -> None: ...
def broken(items: "1 +") -> None: ...  # type: ignore[valid-type]  # noqa: F722


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (several, "several(), parameter 'items': expected a parameter with a name"),
        (several, "take a list instead"),
        (options, "take a dict[str, …] instead"),
        (untyped, "untyped(), parameter 'items': expected an annotation, got none"),
        (hidden, "hidden(): expected annotations that can be resolved, got NameError"),
        (odd, "'items' of odd(): expected a type with a JSON form, got complex"),
        (broken, "got SyntaxError"),
        (3, "int: expected a function, got 3"),
        (type, "type(): expected a function with a signature"),
    ],
)
def test_what_a_model_cannot_fill_is_refused(function: object, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        parameters_of(function, skip_first=False)

    assert words in str(caught.value)


def test_context_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match=r"expected a first parameter, got none"):
        parameters_of(lambda: None, skip_first=True)
