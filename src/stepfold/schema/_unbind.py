"""Python objects become JSON: the output of a tool, a default, the other way of `bind`.

It goes by the objects themselves. What has no JSON form is a failure with a pointer, never a
guess by `repr`; nesting is bounded like that of documents from outside, which also ends cycles.
"""

import base64
import enum
from collections.abc import Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from typing import final
from uuid import UUID

from stepfold.schema._bind import refusal_of
from stepfold.schema._classes import fields_of_object
from stepfold.schema._faults import SchemaFault, pointer_to, shortened
from stepfold.schema._grammars import written_decimal, written_duration
from stepfold.schema._kinds import is_mapping, is_sequence, is_set
from stepfold.values._json import (
    DEFAULT_BOUNDS,
    JsonText,
    dump_tree,
    without_lone_surrogates,
)
from stepfold.values._outcome import Failure, Outcome, Success


@final
class UnencodableError(Exception):
    """Leaves the walk; carries the fault."""

    def __init__(self, fault: SchemaFault) -> None:
        super().__init__(fault.message)
        self.fault: SchemaFault = fault


def encode_result(value: object) -> Outcome[JsonText, SchemaFault]:
    """Encode the output of a tool as JSON; total.

    Objects of attrs classes, dataclasses, NamedTuples and pydantic models become objects, enums
    their values, dates and the like strings, bytes base64, sets sorted arrays; lone surrogates
    become U+FFFD. NaN, infinities, cycles, nesting beyond 64 and other objects are a fault.
    """
    try:
        return Success(JsonText(dump_tree(encoded(value))))
    except UnencodableError as error:
        return Failure(error.fault)
    except Exception as error:  # noqa: BLE001 - properties and mappings of the user's run here
        return Failure(SchemaFault("", shortened(f"expected a JSON form, got {refusal_of(error)}")))


def encoded(value: object) -> object:
    """Turn an object into plain JSON.

    Raises:
        UnencodableError: for what has no JSON form.
    """
    return _Walk().encoded(value, "", 0)


class _Walk:
    """One walk; `open` holds the containers that it is within, to name a cycle as such."""

    def __init__(self) -> None:
        self.open: set[int] = set()

    def encoded(self, value: object, pointer: str, depth: int) -> object:
        kind = type(value)
        if value is None or kind is bool or kind is int:
            return value
        if kind is str:
            return without_lone_surrogates(str(value))
        if isinstance(value, float):
            if value - value != 0:
                raise _unencodable(pointer, f"a finite number, got {value}")
            return float(value)
        scalar = _scalar(value, pointer)
        if scalar is not _NO_SCALAR:
            return scalar
        if depth >= DEFAULT_BOUNDS.depth:
            raise _unencodable(pointer, f"nesting of at most {depth}, got a deeper object")
        if id(value) in self.open:
            raise _unencodable(pointer, f"no cycles, got a {kind.__name__} within itself")
        self.open.add(id(value))
        try:
            return self._container(value, pointer, depth)
        finally:
            self.open.discard(id(value))

    def _container(self, value: object, pointer: str, depth: int) -> object:
        if isinstance(value, JsonText):  # itself an attrs class, so it comes first
            return self.encoded(value.value, pointer, depth)
        fields = fields_of_object(value)
        if fields is not None:
            return {
                name: self.encoded(getattr(value, attribute), pointer_to(pointer, name), depth + 1)
                for name, attribute in fields
            }
        if hasattr(value, "model_dump") and hasattr(value, "model_json_schema"):
            return self.encoded(_dumped(value, pointer), pointer, depth)
        if is_mapping(value):
            return self._mapping(value, pointer, depth)
        if is_set(value):
            items = [self.encoded(item, pointer, depth + 1) for item in value]
            return sorted(items, key=lambda item: JsonText(dump_tree(item)).canonical())
        if is_sequence(value) and not isinstance(value, range | memoryview):
            return [
                self.encoded(item, pointer_to(pointer, index), depth + 1)
                for index, item in enumerate(value)
            ]
        raise _unencodable(
            pointer,
            f"something with a JSON form, got {type(value).__name__}; return an attrs class, a "
            "dataclass, a dict, a list, text or a number",
        )

    def _mapping(self, value: Mapping[object, object], pointer: str, depth: int) -> object:
        members: dict[str, object] = {}
        for key, item in value.items():
            name = _key(key, pointer)
            if name in members:
                raise _unencodable(pointer, f"keys that differ as text, got {name!r} twice")
            members[name] = self.encoded(item, pointer_to(pointer, name), depth + 1)
        return members


_NO_SCALAR = object()


def _scalar(value: object, pointer: str) -> object:
    """What travels as a JSON scalar; `_NO_SCALAR` for the rest."""
    if isinstance(value, enum.Enum):
        return wire_of_member(value)
    if isinstance(value, str):
        return without_lone_surrogates(str.__str__(value))
    if isinstance(value, int):
        return int(value)
    if isinstance(value, bytes | bytearray):
        return base64.b64encode(value).decode("ascii")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, timedelta | Decimal):
        text = written_duration(value) if isinstance(value, timedelta) else written_decimal(value)
        if text is None:
            raise _unencodable(pointer, f"a {type(value).__name__} with a JSON form, got {value}")
        return text
    return _NO_SCALAR


def wire_of_member(member: enum.Enum) -> object:
    """What a member of an enum travels as.

    The values of the enum where all of them are JSON scalars, else the names.
    """
    values: list[object] = [one.value for one in type(member)]
    if all(map(_is_wire, values)):
        return member.value
    return member.name


def _is_wire(value: object) -> bool:
    if type(value) is float:
        return value - value == 0
    return value is None or type(value) in (bool, int, str)


def _key(key: object, pointer: str) -> str:
    if isinstance(key, bool | float) or key is None:
        raise _unencodable(pointer, f"keys of type str, got {key!r}")
    wire = _scalar(key, pointer)
    if isinstance(wire, bool) or not isinstance(wire, str | int):
        raise _unencodable(pointer, f"keys of type str, got {type(key).__name__}")
    return str(wire)


def _dumped(model: object, pointer: str) -> object:
    try:
        plain: object = getattr(model, "model_dump")(mode="json")  # noqa: B009 - duck typing
    except Exception as error:
        raise _unencodable(
            pointer, f"a model that dumps itself, got {refusal_of(error)}"
        ) from error
    return plain


def _unencodable(pointer: str, words: str) -> UnencodableError:
    return UnencodableError(SchemaFault(pointer, shortened(f"expected {words}")))
