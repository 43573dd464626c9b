"""What a run promises to give: text, or a value of a type."""

import json as json_text
from collections.abc import Callable
from typing import Generic, Literal, LiteralString, Never, cast, final, overload

from attrs import field, frozen
from typing_extensions import TypeForm, TypeVar

from stepfold.agent._output_partial import (
    PartialChoice,
    PartialDocument,
    PartialElements,
    PartialMaker,
    PartialOutput,
    PartialText,
    Unfenced,
)
from stepfold.agent._output_wire import (
    Asking,
    Strategy,
    Wire,
    any_wire,
    array_wire,
    asked_for,
    told,
    wire_of,
)
from stepfold.loop import TEXT_OUTPUT, OutputSpec, ToolSpec
from stepfold.schema import Form, bind, binds_user_code, form_of, schema_of
from stepfold.shell import AnyTool
from stepfold.values import (
    Failure,
    JsonText,
    JsonValue,
    NoOutput,
    Outcome,
    Success,
    UsageError,
)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
L = TypeVar("L", bound=LiteralString)


@final
@frozen(eq=False)
class Output(Generic[T_co]):
    """An output specification: what the model is asked for, and how its answer is read.

    Made by `text()`, `object_of(…)`, `array_of(…)`, `choice_of(…)`, `json()` and `result_of(…)`.
    `tool` is the one by which the model gives the output, if it is asked to give it by one;
    `result_of` the one of the program whose result it is.
    """

    spec: OutputSpec
    tool: ToolSpec | None
    _decode: Callable[[JsonText], Outcome[T_co, NoOutput]] = field(alias="decode", repr=False)
    _partial: PartialMaker = field(alias="partial", repr=False)
    result_of: AnyTool[Never, object] | None = field(default=None, repr=False)

    def decode(self, document: JsonText) -> Outcome[T_co, NoOutput]:
        """Build the value from the JSON that a completed run holds; runs the type's validators."""
        return self._decode(document)

    def partial(self) -> PartialOutput:
        """A reader of one answer while it comes."""
        return self._partial()


def _decode_text(document: JsonText) -> Outcome[str, NoOutput]:
    value = document.value
    if isinstance(value, str):
        return Success(value)
    return Failure(NoOutput("expected text", document.text))


_TEXT = Output(TEXT_OUTPUT, None, _decode_text, PartialText)


def text() -> Output[str]:
    """The output is the text of the last step, whatever it is. The default."""
    return _TEXT


def object_of(
    form: TypeForm[T],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    strategy: Strategy = "auto",
    retries: int = 0,
) -> Output[T]:
    """The output is a value of this type, asked for by its JSON Schema.

    Takes classes (attrs, dataclasses, `TypedDict`, `NamedTuple`, pydantic models), unions,
    `Literal`, lists and whatever else has a JSON form. The answer has to be JSON that fits the
    schema; then the type's own validators have their say. What is no object (a union, a list, a
    number) travels as `{"result": …}`, since providers demand an object.

    Args:
        form: The type.
        name: What the model is told that the document is called; by default the type's name.
        description: What the model is told about it.
        strategy: How the model is asked: see `Strategy`.
        retries: How often an answer that is refused is sent back with what is wrong with it. Each
            is another step, so limits and stop conditions hold; one that leaves no room for a
            retry fails the run.

    Raises:
        UsageError: the type has no JSON form, or an argument is wrong.
    """
    shape = _shape("object_of", form)
    called = name if name is not None else _name_of(form)
    wire = wire_of(schema_of(shape))
    asking = Asking(strategy=strategy, retries=retries, name=called, description=description)

    def decode(document: JsonText) -> Outcome[T, NoOutput]:
        return _bound(shape, called, document)

    partial = _fenced(strategy, lambda: PartialDocument(wire))
    return _output(f"object_of({called})", wire, asking, (shape,), decode, partial)


def array_of(
    form: TypeForm[T],
    /,
    *,
    min_items: int | None = None,
    max_items: int | None = None,
    name: str | None = None,
    description: str | None = None,
    strategy: Strategy = "auto",
    retries: int = 0,
) -> Output[tuple[T, ...]]:
    """The output is any number of values of this type; `RunStream.elements` gives them one by one.

    It travels as `{"elements": […]}`. The rest is as for `object_of`.

    Args:
        form: The type of an element.
        min_items: How many elements there have to be at least.
        max_items: How many there may be at most.
        name: What the model is told that the document is called; by default after the type.
        description: What the model is told about it.
        strategy: How the model is asked: see `Strategy`.
        retries: How often an answer that is refused is sent back.

    Raises:
        UsageError: the type has no JSON form, or an argument is wrong.
    """
    shape = _shape("array_of", form)
    called = name if name is not None else f"{_name_of(form)}_array"
    for argument, bound in (("min_items", min_items), ("max_items", max_items)):
        if bound is not None and (type(bound) is not int or bound < 0):
            raise UsageError(f"array_of: expected {argument} from 0, got {bound!r}")
    wire = array_wire(schema_of(shape), min_items, max_items)
    asking = Asking(strategy=strategy, retries=retries, name=called, description=description)

    def decode(document: JsonText) -> Outcome[tuple[T, ...], NoOutput]:
        elements: list[T] = []
        for place, element in enumerate(_items(json_text.loads(document.text))):
            bound = bind(shape, element)
            if isinstance(bound, Failure):
                faults = bound.failure()
                return Failure(_refusal(called, told(faults, f"/{place}"), document))
            elements.append(cast("T", bound.unwrap()))  # `bind` gives what `form` describes
        return Success(tuple(elements))

    partial = _fenced(strategy, lambda: PartialElements(shape))
    return _output(f"array_of({called})", wire, asking, (shape,), decode, partial)


@overload
def choice_of(
    form: TypeForm[T],
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    strategy: Strategy = "auto",
    retries: int = 0,
) -> Output[T]: ...
@overload
def choice_of(
    first: L,
    second: L,
    /,
    *others: L,
    name: str | None = None,
    description: str | None = None,
    strategy: Strategy = "auto",
    retries: int = 0,
) -> Output[L]: ...
def choice_of(
    form: object,
    /,
    *others: object,
    name: str | None = None,
    description: str | None = None,
    strategy: Strategy = "auto",
    retries: int = 0,
) -> Output[object]:
    """The output is one of several options: `choice_of("yes", "no")`, or of a `Literal` or enum.

    It travels as `{"result": …}`. The rest is as for `object_of`. mypy takes options that are
    given one by one for a `str`; `choice_of(Literal["yes", "no"])` is exact everywhere.

    Args:
        form: A `Literal` or an enum; or the first of at least two texts.
        others: The other texts.
        name: What the model is told that the document is called; `choice` by default.
        description: What the model is told about it.
        strategy: How the model is asked: see `Strategy`.
        retries: How often an answer that is refused is sent back.

    Raises:
        UsageError: these are no options, or an argument is wrong.
    """
    given = _literal(form, others) if others else form
    shape = _shape("choice_of", given)
    wire = wire_of(schema_of(shape))
    options = _options(schema_of(shape))
    if not options:
        raise UsageError(
            f"choice_of: expected a Literal, an enum, or at least two texts, got {given!r:.200}"
        )
    called = "choice" if name is None else name
    asking = Asking(strategy=strategy, retries=retries, name=called, description=description)

    def decode(document: JsonText) -> Outcome[object, NoOutput]:
        return _bound(shape, called, document)

    partial = _fenced(strategy, lambda: PartialChoice(wire, options))
    return _output(f"choice_of({called})", wire, asking, (shape,), decode, partial)


def json(
    *,
    name: str | None = None,
    description: str | None = None,
    strategy: Strategy = "auto",
    retries: int = 0,
) -> Output[JsonValue]:
    """The output is any JSON document, as frozen values; `null` is one, and comes out as `None`.

    Args:
        name: What the model is told that the document is called.
        description: What the model is told about it.
        strategy: How the model is asked: see `Strategy`.
        retries: How often an answer that is no JSON is sent back.

    Raises:
        UsageError: an argument is wrong.
    """
    wire = any_wire(strategy)
    called = "output" if name is None else name
    asking = Asking(strategy=strategy, retries=retries, name=called, description=description)
    partial = _fenced(strategy, lambda: PartialDocument(wire))
    return _output("json", wire, asking, (), _decode_json, partial)


def _decode_json(document: JsonText) -> Outcome[JsonValue, NoOutput]:
    return Success(document.value)


# --- what they share --------------------------------------------------------------------------


def _output(
    what: str,
    wire: Wire,
    asking: Asking,
    shapes: tuple[Form, ...],
    decode: Callable[[JsonText], Outcome[T, NoOutput]],
    partial: PartialMaker,
) -> Output[T]:
    binds = any(map(binds_user_code, shapes))
    spec, tool = asked_for(what, wire, asking, binds=binds)
    return Output(spec, tool, decode, partial)


def _shape(where: str, form: object) -> Form:
    if isinstance(form, str):
        raise UsageError(f"{where}: expected a type, got the string {form!r}; give the type")
    return form_of(form, where=where)


def _name_of(form: object) -> str:
    name: object = getattr(form, "__name__", None)
    return name if isinstance(name, str) else "output"


def _literal(first: object, others: tuple[object, ...]) -> object:
    options = (first, *others)
    if not all(isinstance(option, str) for option in options):
        raise UsageError(f"choice_of: expected texts, got {options!r:.200}")
    return Literal[options]


def _options(schema: JsonText) -> tuple[object, ...]:
    """The values that a schema allows, if it lists them."""
    tree: dict[str, object] = json_text.loads(schema.text)
    if "const" in tree:
        return (tree["const"],)
    listed = tree.get("enum")
    return tuple(_items(listed))


def _items(document: object) -> list[object]:
    return cast("list[object]", document) if isinstance(document, list) else []


def _bound(shape: Form, called: str, document: JsonText) -> Outcome[T, NoOutput]:
    bound = bind(shape, json_text.loads(document.text))
    if isinstance(bound, Failure):
        return Failure(_refusal(called, told(bound.failure()), document))
    return Success(cast("T", bound.unwrap()))  # `bind` gives what the type describes


def _refusal(called: str, faults: str, document: JsonText) -> NoOutput:
    message = f"the answer is refused by {called}: {faults}"
    return NoOutput(message, document.text, cause="refused")


def _fenced(strategy: Strategy, partial: PartialMaker) -> PartialMaker:
    return (lambda: Unfenced(partial())) if strategy == "prompt" else partial
