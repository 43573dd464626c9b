"""Questions about the kind of a value that both type checkers understand."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import Enum

from typing_extensions import TypeIs


def is_object(value: object) -> TypeIs[dict[str, object]]:
    """Tell whether this is a JSON object as `json.loads` makes it."""
    return type(value) is dict


def is_array(value: object) -> TypeIs[list[object]]:
    """Tell whether this is a JSON array as `json.loads` makes it."""
    return type(value) is list


def is_number(value: object) -> TypeIs[float]:
    """Tell whether this is a JSON number; a bool is none."""
    return type(value) is int or type(value) is float


def members_of(value: object) -> dict[str, object]:
    """A JSON object, or an empty one in place of anything else."""
    return value if is_object(value) else {}


def items_of(value: object) -> list[object]:
    """A JSON array, or an empty one in place of anything else."""
    return value if is_array(value) else []


def is_tuple(value: object) -> TypeIs[tuple[object, ...]]:
    """Tell whether this is a tuple."""
    return isinstance(value, tuple)


def is_mapping(value: object) -> TypeIs[Mapping[object, object]]:
    """Tell whether this is a mapping, read-only or not."""
    return isinstance(value, Mapping)


def is_sequence(value: object) -> TypeIs[Sequence[object]]:
    """Tell whether this is a sequence; text and bytes are some too."""
    return isinstance(value, Sequence)


def is_set(value: object) -> TypeIs[AbstractSet[object]]:
    """Tell whether this is a set, read-only or not."""
    return isinstance(value, AbstractSet)


def is_class(value: object) -> TypeIs[type[object]]:
    """Tell whether this is a class."""
    return isinstance(value, type)


def is_enum(value: type[object]) -> TypeIs[type[Enum]]:
    """Tell whether this is an enum class."""
    return issubclass(value, Enum)


def tuple_in(owner: object, name: str) -> tuple[object, ...]:
    """An attribute that is a tuple, or the empty one."""
    value: object = getattr(owner, name, ())
    return value if is_tuple(value) else ()
