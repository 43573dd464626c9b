"""What is wrong with a value, told so that a model can mend it.

A fault is a JSON pointer (RFC 6901) and one sentence "expected …, got …". Both are bounded: a
hostile document must not fill the prompt of the next step with its own text.
"""

import json
from collections.abc import Iterable
from difflib import get_close_matches
from typing import TypeAlias, final

from attrs import frozen

from stepfold.schema._kinds import is_array, is_object

MOST_FAULTS = 10
_MOST_CHARACTERS = 300
_MOST_SHOWN = 60
_MOST_BITS = 256


@final
@frozen(order=False)
class SchemaFault:
    """One place where a value is not what its schema asks for.

    `pointer` is a JSON pointer (RFC 6901; empty for the whole document), `message` says what was
    expected and what came, in at most 300 characters.
    """

    pointer: str
    message: str


Faults: TypeAlias = tuple[SchemaFault, ...]
"""What is wrong with one value, the first ten faults in the order of the schema."""


def pointer_to(pointer: str, key: str | int) -> str:
    """Append one token to a JSON pointer, escaped as RFC 6901 asks."""
    token = str(key).replace("~", "~0").replace("/", "~1")
    return f"{pointer}/{shortened(token, _MOST_SHOWN)}"


def shortened(text: str, most: int = _MOST_CHARACTERS) -> str:
    """Cut text to at most `most` characters, the last one then being an ellipsis."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def fault_at(pointer: str, expected: str, value: object) -> SchemaFault:
    """Say what was expected and what came."""
    return SchemaFault(pointer, shortened(f"expected {expected}, got {shown(value)}"))


def shown(value: object) -> str:
    """Describe a JSON value in a few characters: a scalar by its text, the others by size."""
    if is_object(value):
        return f"an object of {counted(len(value), 'property', 'properties')}"
    if is_array(value):
        return f"an array of {counted(len(value), 'item', 'items')}"
    if isinstance(value, str):
        # Cut first: encoding a megabyte to show sixty characters would be waste.
        cut = value if len(value) <= _MOST_SHOWN else f"{value[:_MOST_SHOWN]}…"
        return json.dumps(cut, ensure_ascii=False)
    if isinstance(value, int) and value.bit_length() > _MOST_BITS:
        return f"an integer of {value.bit_length()} bits"  # str() of it may be refused
    if value is None or isinstance(value, int | float):
        return json.dumps(value)
    return f"a value of type {type(value).__name__}"


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The one of these names that was meant, if one is close; letter case does not count."""
    known = {one[:_MOST_SHOWN].casefold(): one for one in names}
    found = get_close_matches(name[:_MOST_SHOWN].casefold(), known)
    return known[found[0]] if found else None


def counted(count: int, one: str, many: str) -> str:
    """Join a count with its noun."""
    return f"{count} {one if count == 1 else many}"
