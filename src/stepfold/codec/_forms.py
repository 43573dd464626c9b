"""What the annotations of a class say about its JSON, read once for each class.

A form is the middle between a type and its two coders, so that both are made from one reading.
"""

import types
import typing
from collections.abc import Mapping
from enum import Enum
from functools import cache
from types import MappingProxyType
from typing import Final, Literal, TypeAlias, TypeVar, Union, cast, final

import attrs
from attrs import frozen

from stepfold.codec._loop_tags import LOOP_RECORDS, LOOP_TAGGED
from stepfold.codec._tags import VALUE_RECORDS, VALUE_TAGGED
from stepfold.loop import JournalHeader
from stepfold.values import FinishReason, JsonText, ModelReply, UsageError


@final
class Scalar(Enum):
    """A value without parts."""

    NULL = "null"
    BOOLEAN = "a boolean"
    INTEGER = "an integer"
    NUMBER = "a number"
    STRING = "a string"
    BYTES = "base64"
    JSON = "a string of JSON"


@final
@frozen(order=False)
class Words:
    """One of a few strings."""

    words: tuple[str, ...]


@final
@frozen(order=False)
class Items:
    """A tuple of any length, all items alike."""

    item: "Form"


@final
@frozen(order=False)
class Row:
    """A tuple of fixed length."""

    items: "tuple[Form, ...]"


@final
@frozen(order=False)
class Object:
    """A value of a class that has a tag."""

    kind: type


@final
@frozen(order=False)
class Choice:
    """One of several forms that JSON can tell apart."""

    forms: "tuple[Single, ...]"


Single: TypeAlias = Scalar | Words | Items | Row | Object
Form: TypeAlias = Single | Choice

TAGGED: Final[Mapping[type, str]] = MappingProxyType({**VALUE_TAGGED, **LOOP_TAGGED})
"""Classes that stand in unions: their objects say their type wherever they are."""

RECORDS: Final[Mapping[type, str]] = MappingProxyType({**VALUE_RECORDS, **LOOP_RECORDS})
"""Classes that stand alone: their objects say their type only as a whole document."""

LEADING: Final[Mapping[type, tuple[str, ...]]] = MappingProxyType(
    {
        FinishReason: ("unified", "raw"),
        ModelReply: ("content", "usage", "finish_reason", "warnings"),
        JournalHeader: ("run", "seed", "at", "messages", "fingerprint", "rules"),
    }
)
"""Keys that come first, in this order, and are always there, also with a default value."""

TAGS: Final[Mapping[type, str]] = MappingProxyType({**TAGGED, **RECORDS})
"""What documents say their type is."""


@final
@frozen(order=False)
class Member:
    """One key of an object, named as the attribute is.

    `default` is what the class puts where nothing is given; a key at its default is not
    written, unless it is one that always is.
    """

    key: str
    form: Form
    default: object
    is_keyword: bool
    is_always_written: bool

    @property
    def is_required(self) -> bool:
        """Whether a document without the key is refused."""
        return self.is_always_written or self.default is attrs.NOTHING


def tag_of(kind: type) -> str:
    """Give the tag of a class, as its documents say it."""
    tag = TAGS.get(kind)
    if tag is None:
        msg = f"expected a class that stepfold stores, got {kind.__name__}"
        raise UsageError(msg)
    return tag


_SCALARS: Final[dict[object, Scalar]] = {
    type(None): Scalar.NULL,
    bool: Scalar.BOOLEAN,
    int: Scalar.INTEGER,
    float: Scalar.NUMBER,
    str: Scalar.STRING,
    bytes: Scalar.BYTES,
    JsonText: Scalar.JSON,
}


def form_of(annotation: object) -> Form:
    """Read a type.

    Raises:
        UsageError: for a type that has no JSON form here.
    """
    if typing.get_origin(annotation) in {Union, types.UnionType}:
        return Choice(tuple(_single(member) for member in typing.get_args(annotation)))
    return _single(annotation)


def _single(annotation: object) -> Single:
    if isinstance(annotation, TypeVar):
        return Scalar.JSON  # what a generic value holds is stored as JSON
    scalar = _SCALARS.get(annotation)
    if scalar is not None:
        return scalar
    if annotation in TAGS:
        return Object(cast("type", annotation))
    origin: object = typing.get_origin(annotation)
    arguments: tuple[object, ...] = typing.get_args(annotation)
    match arguments:
        case (item, last) if origin is tuple and last is ...:
            return Items(form_of(item))
        case (item,) if origin in TAGGED and _is_json(item):
            return Object(cast("type", origin))
        case _ if origin is tuple:
            return Row(tuple(form_of(item) for item in arguments))
        case _ if origin is Literal:
            return Words(tuple(word for word in arguments if isinstance(word, str)))
        case _:
            msg = f"expected a type that stepfold stores, got {annotation!r}"
            raise UsageError(msg)


def _is_json(argument: object) -> bool:
    return argument is JsonText or isinstance(argument, TypeVar)


@cache
def members_of(kind: type) -> tuple[Member, ...]:
    """Read the fields of a class, in the order in which they are declared."""
    hints: dict[str, object] = typing.get_type_hints(kind)
    leading = LEADING.get(kind, ())
    return tuple(
        Member(
            key=attribute.name,
            form=form_of(hints[attribute.name]),
            default=attribute.default,
            is_keyword=attribute.kw_only,
            is_always_written=attribute.name in leading,
        )
        for attribute in _attributes_of(kind)
        if attribute.eq  # what is not compared is derived from the rest
    )


def written_members_of(kind: type) -> tuple[Member, ...]:
    """Read the fields of a class, in the order in which they are written."""
    members = members_of(kind)
    first = {member.key: member for member in members if member.is_always_written}
    rest = (member for member in members if not member.is_always_written)
    return (*(first[key] for key in LEADING.get(kind, ())), *rest)


def _attributes_of(kind: type) -> "tuple[attrs.Attribute[object], ...]":
    attributes: tuple[attrs.Attribute[object], ...] = attrs.fields(
        cast("type[attrs.AttrsInstance]", kind)
    )
    return attributes
