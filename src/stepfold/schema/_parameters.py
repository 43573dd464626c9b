"""The signature and docstring of a function become the input of a tool."""

import functools
import inspect
import types
from collections import abc
from typing import Union, final, get_args, get_origin

from attrs import field, frozen
from returns.result import Result

from stepfold.schema._annotations import AnnotationReader, compiled_form, form_of
from stepfold.schema._bind import RefusedError
from stepfold.schema._classes import NO_DEFAULT, Field
from stepfold.schema._docstrings import documentation_of
from stepfold.schema._faults import Faults
from stepfold.schema._form import Form, JsonSchemaForm
from stepfold.schema._hints import hints_of
from stepfold.schema._kinds import members_of
from stepfold.schema._nodes import ObjectNode
from stepfold.values._errors import UsageError
from stepfold.values._outcome import Failure, Outcome, Success

_WAITS = (
    abc.Awaitable,
    abc.AsyncIterator,
    abc.AsyncIterable,
    abc.AsyncGenerator,
    abc.Iterator,
    abc.Generator,
)


@final
@frozen(order=False)
class Parameters:
    """What a function takes and returns.

    `form` is an object with one property for each parameter, or a ready schema, whose values go to
    the function in one piece; `description` is the docstring without its sections. `returns` is the
    form of what a call gives in the end: awaited, the item of an iterator, the success of an
    outcome; None when the function does not say, or says a type without a JSON form.
    """

    form: Form
    description: str
    returns: Form | None
    positional: tuple[tuple[str, object], ...] = field(default=(), repr=False, eq=False)

    def bind(self, value: object) -> Outcome[tuple[tuple[object, ...], dict[str, object]], Faults]:
        """Make positional and keyword arguments out of JSON, checking it first; total."""
        faults = self.form.decoder.check(value)
        if faults:
            return Failure(faults)
        if isinstance(self.form, JsonSchemaForm):
            return Success(((value,), {}))
        try:
            built = self.form.build(value)
        except RefusedError as refused:
            return Failure(refused.faults())
        keywords = dict(members_of(built))  # a copy, since the value itself may come back
        return Success((self._positional(keywords), keywords))

    def _positional(self, keywords: dict[str, object]) -> tuple[object, ...]:
        """Take the positional-only ones out, with the defaults of those that were not given."""
        return tuple(keywords.pop(name, default) for name, default in self.positional)


def parameters_of(function: object, *, skip_first: bool) -> Parameters:
    """Read the signature, the annotations and the docstring of a function.

    `skip_first` leaves out the first parameter, which the caller supplies.

    Raises:
        UsageError: for `*args` and `**kwargs`, a parameter without annotation or with one that
            has no JSON form; the text names function and parameter.
    """
    plain = _plain(function)
    name = _name_of(plain)
    if not callable(function):
        raise UsageError(f"{name}: expected a function, got {function!r}; give a def")
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"{name}(): expected a function with a signature, got {error}; wrap it in a def"
        ) from error
    hints = hints_of(plain, where=f"{name}()")
    documentation = documentation_of(inspect.getdoc(plain))
    taken = list(signature.parameters.values())
    if skip_first and not taken:
        raise UsageError(f"{name}(): expected a first parameter, got none; add it")
    reader = AnnotationReader()
    properties = tuple(
        reader.property(
            _field(parameter, hints, name, documentation.of(parameter.name)), f"{name}()", {}
        )
        for parameter in taken[skip_first:]
    )
    root = ObjectNode(properties=properties)
    return Parameters(
        form=compiled_form(reader, root, where=f"{name}()"),
        description=documentation.description,
        returns=_returned_form(hints, name),
        positional=tuple(
            (parameter.name, parameter.default)
            for parameter in taken[skip_first:]
            if parameter.kind is parameter.POSITIONAL_ONLY
        ),
    )


def parameters_of_schema(form: JsonSchemaForm, function: object) -> Parameters:
    """Take in a function whose input is a ready schema; its docstring and returned type are read.

    Raises:
        UsageError: for annotations that cannot be resolved.
    """
    plain = _plain(function)
    name = _name_of(plain)
    hints = hints_of(plain, where=f"{name}()")
    is_written = isinstance(plain, types.FunctionType | types.MethodType)
    documentation = documentation_of(inspect.getdoc(plain) if is_written else None)
    return Parameters(form, documentation.description, _returned_form(hints, name))


def _plain(function: object) -> object:
    """The function that holds the annotations and the docstring."""
    while isinstance(function, functools.partial):
        function = function.func
    inner: object = getattr(type(function), "__call__", None)  # noqa: B004 - the function, not whether
    return inner if isinstance(inner, types.FunctionType) else function


def _name_of(function: object) -> str:
    name: object = getattr(function, "__name__", None)
    return name if isinstance(name, str) else type(function).__name__


def _field(
    parameter: inspect.Parameter, hints: dict[str, object], name: str, description: str
) -> Field:
    place = f"{name}(), parameter {parameter.name!r}"
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        advice = "a list" if parameter.kind is parameter.VAR_POSITIONAL else "a dict[str, …]"
        raise UsageError(
            f"{place}: expected a parameter with a name that a model can fill, got {parameter}; "
            f"take {advice} instead"
        )
    if parameter.name not in hints:
        raise UsageError(
            f"{place}: expected an annotation, got none; say its type, the model is told it"
        )
    is_required = parameter.default is parameter.empty
    return Field(
        name=parameter.name,
        attribute=parameter.name,
        annotation=hints[parameter.name],
        is_required=is_required,
        default=NO_DEFAULT if is_required else parameter.default,
        description=description,
    )


def _returned_form(hints: dict[str, object], name: str) -> Form | None:
    if "return" not in hints:
        return None
    try:
        return form_of(_settled(hints["return"]), where=f"result of {name}()")
    except UsageError:
        return None  # any object may be returned as long as it can be encoded when it comes


def _settled(annotation: object) -> object:
    """What a call gives in the end."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in _WAITS and arguments:
        return _settled(arguments[0])
    if origin is abc.Coroutine and len(arguments) == 3:
        return _settled(arguments[2])
    if origin in (Result, Success) and arguments:
        return _settled(arguments[0])
    if origin is Union or isinstance(annotation, types.UnionType):
        members = [member for member in arguments if get_origin(member) is not Failure]
        if any(get_origin(member) is Success for member in members):
            settled = tuple(_settled(member) for member in members)
            return Union[settled]  # noqa: UP007 - of a tuple
    return annotation
