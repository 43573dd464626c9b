"""What a run promises to give: text, or a value of a type."""

import json
from collections.abc import Callable
from typing import Generic, cast, final

from attrs import field, frozen
from typing_extensions import TypeForm, TypeVar

from stepfold.loop import TEXT_OUTPUT, OutputSpec
from stepfold.schema import Faults, bind, decoder_of, form_of, schema_of
from stepfold.values import (
    DEFAULT_BOUNDS,
    Failure,
    JsonFormat,
    JsonText,
    NoOutput,
    Outcome,
    Success,
    UsageError,
    parse_json,
)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@final
@frozen(eq=False)
class Output(Generic[T_co]):
    """An output specification: what the model is asked for, and how its text is read.

    Made by `text()` and `object_of(…)`.
    """

    spec: OutputSpec
    _decode: Callable[[JsonText], Outcome[T_co, NoOutput]] = field(alias="decode", repr=False)

    def decode(self, document: JsonText) -> Outcome[T_co, NoOutput]:
        """Build the value from the JSON that a completed run holds; runs the type's validators."""
        return self._decode(document)


def _decode_text(document: JsonText) -> Outcome[str, NoOutput]:
    value = document.value
    if isinstance(value, str):
        return Success(value)
    return Failure(NoOutput("expected text", document.text))


_TEXT = Output(TEXT_OUTPUT, _decode_text)


def text() -> Output[str]:
    """The output is the text of the last step, whatever it is. The default."""
    return _TEXT


def object_of(
    form: TypeForm[T], /, *, name: str | None = None, description: str | None = None
) -> Output[T]:
    """The output is a value of this type, asked for by its JSON Schema.

    Takes classes (attrs, dataclasses, `TypedDict`, `NamedTuple`, pydantic models), unions,
    `Literal`, lists and whatever else has a JSON form. The text has to be JSON that fits the
    schema; then the type's own validators have their say.

    Args:
        form: The type.
        name: What the model is told that the document is called; by default the type's name.
        description: What the model is told about it.

    Raises:
        UsageError: the type has no JSON form.
    """
    given: object = form
    if isinstance(given, str):
        raise UsageError(f"object_of: expected a type, got the string {given!r}; give the type")
    shape = form_of(given, where="object_of")
    decoder = decoder_of(shape)
    called: object = name if name is not None else getattr(given, "__name__", "output")
    wire = JsonFormat(schema_of(shape), name=str(called), description=description)

    def check(answer: str) -> Outcome[JsonText, NoOutput]:
        parsed = parse_json(answer, DEFAULT_BOUNDS)
        if isinstance(parsed, Failure):
            fault = parsed.failure()
            return Failure(NoOutput(f"the answer is not JSON: {fault.message}", answer))
        faults = decoder.check(parsed.unwrap())
        if faults:
            return Failure(NoOutput(f"the answer does not fit: {_told(faults)}", answer))
        return Success(JsonText(answer))

    def decode(document: JsonText) -> Outcome[T, NoOutput]:
        bound = bind(shape, json.loads(document.text))
        if isinstance(bound, Failure):
            message = f"the answer is refused by {called}: {_told(bound.failure())}"
            return Failure(NoOutput(message, document.text))
        return Success(cast("T", bound.unwrap()))  # `bind` gives what `form` describes

    return Output(OutputSpec(f"object_of({called})", check, wire), decode)


def _told(faults: Faults) -> str:
    return "; ".join(f"{fault.pointer or '(all of it)'}: {fault.message}" for fault in faults)
