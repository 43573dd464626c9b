"""From values to JSON trees: for each form a function, made once."""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Final, TypeAlias, cast

from stepfold.codec._faults import RefusedError
from stepfold.codec._forms import (
    TAGGED,
    Form,
    Items,
    Object,
    Row,
    Scalar,
    Single,
    Words,
    written_members_of,
)
from stepfold.codec._text import DEPTH_INSIDE, is_too_deep, write_bytes, write_number, write_text
from stepfold.values import JsonText

Encoder: TypeAlias = Callable[[object], object]
JsonTree: TypeAlias = dict[str, object]
"""A JSON object of plain dicts, lists and scalars, as the `json` module gives and takes it."""


def _refused(expected: str, value: object) -> RefusedError:
    return RefusedError(f"expected {expected}, got {type(value).__name__}")


def _null(value: object) -> object:
    if value is None:
        return None
    raise _refused("None", value)


def _boolean(value: object) -> object:
    if isinstance(value, bool):
        return value
    raise _refused("bool", value)


def _integer(value: object) -> object:
    if type(value) is int:
        return value
    if isinstance(value, int):
        return int(value)  # True equals 1, and equal values have equal bytes
    raise _refused("int", value)


def _number(value: object) -> object:
    if isinstance(value, float | int):
        return write_number(value)
    raise _refused("float", value)


def _string(value: object) -> object:
    if isinstance(value, str):
        return value if value.isascii() else write_text(value)
    raise _refused("str", value)


def _bytes(value: object) -> object:
    if isinstance(value, bytes):
        return write_bytes(value)
    raise _refused("bytes", value)


def _json(value: object) -> object:
    if not isinstance(value, JsonText):
        raise _refused("JsonText", value)
    text = value.text
    if is_too_deep(text):
        message = f"expected JSON nested at most {DEPTH_INSIDE} deep"
        raise RefusedError(message)
    return _string(text)


_SCALARS: Final[dict[Scalar, Encoder]] = {
    Scalar.NULL: _null,
    Scalar.BOOLEAN: _boolean,
    Scalar.INTEGER: _integer,
    Scalar.NUMBER: _number,
    Scalar.STRING: _string,
    Scalar.BYTES: _bytes,
    Scalar.JSON: _json,
}
_TYPES: Final[dict[Scalar, tuple[type, ...]]] = {
    Scalar.NULL: (type(None),),
    Scalar.BOOLEAN: (bool,),
    Scalar.INTEGER: (int,),
    Scalar.NUMBER: (float, int),
    Scalar.STRING: (str,),
    Scalar.BYTES: (bytes,),
    Scalar.JSON: (JsonText,),
}


@cache
def encoder_of(form: Form) -> Encoder:
    """Make the function that writes values of this form."""
    match form:
        case Scalar():
            return _SCALARS[form]
        case Words(words):
            return _words(frozenset(words))
        case Items(item):
            return _items(encoder_of(item))
        case Row(items):
            return _row(tuple(encoder_of(item) for item in items))
        case Object(kind):
            return object_encoder(kind, {"type": TAGGED[kind]} if kind in TAGGED else {})
        case _:
            return _choice(form.forms)


def _words(words: frozenset[str]) -> Encoder:
    expected = f"one of {', '.join(sorted(words))}"

    def encode(value: object) -> object:
        if isinstance(value, str):
            if value in words:
                return value
            message = f"expected {expected}, got {value!r}"
            raise RefusedError(message)
        raise _refused(expected, value)

    return encode


def _items(item: Encoder) -> Encoder:
    def encode(value: object) -> object:
        if not isinstance(value, tuple):
            raise _refused("tuple", value)
        values = cast("tuple[object, ...]", value)
        trees: list[object] = []
        try:
            for one in values:
                trees.append(item(one))  # noqa: PERF401 - the length says which one was refused
        except RefusedError as error:
            error.at(len(trees))
            raise
        return trees

    return encode


def _row(items: tuple[Encoder, ...]) -> Encoder:
    def encode(value: object) -> object:
        if not isinstance(value, tuple):
            raise _refused("tuple", value)
        values = cast("tuple[object, ...]", value)
        if len(values) != len(items):
            message = f"expected a tuple of {len(items)} items, got {len(values)}"
            raise RefusedError(message)
        trees: list[object] = []
        try:
            for one, item in zip(values, items, strict=True):
                trees.append(item(one))
        except RefusedError as error:
            error.at(len(trees))
            raise
        return trees

    return encode


def object_encoder(kind: type, head: JsonTree) -> Encoder:
    """Make the function that writes values of a class; `head` comes before their fields."""
    members = written_members_of(kind)
    if not members:
        return lambda value: head.copy()
    keys = tuple(member.key for member in members)
    single = len(keys) == 1
    attributes = attrgetter(*keys)
    writers = tuple(
        (member.key, encoder_of(member.form), not member.is_required, member.default)
        for member in members
    )

    def encode(value: object) -> object:
        if type(value) is not kind:
            raise _refused(kind.__name__, value)
        tree = head.copy()
        values: tuple[object, ...] = (attributes(value),) if single else attributes(value)
        key = ""
        try:
            for (key, write, omits, default), item in zip(writers, values, strict=True):
                if omits and (item is default or item == default):
                    continue
                tree[key] = write(item)
        except RefusedError as error:
            error.at(key)
            raise
        return tree

    return encode


def _choice(forms: tuple[Single, ...]) -> Encoder:
    encoders = {kind: encoder_of(form) for form in forms for kind in _types_of(form)}
    expected = " or ".join(kind.__name__ for kind in encoders)

    def encode(value: object) -> object:
        write = encoders.get(type(value))
        if write is not None:
            return write(value)
        for kind, other in encoders.items():
            if isinstance(value, kind):  # a subclass, as `bool` is one of `int`
                return other(value)
        raise _refused(expected, value)

    return encode


def _types_of(form: Single) -> tuple[type, ...]:
    match form:
        case Scalar():
            return _TYPES[form]
        case Words():
            return (str,)
        case Items() | Row():
            return (tuple,)
        case _:
            return (form.kind,)
