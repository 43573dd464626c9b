"""JSON as a value: kept as its text, read through a frozen view.

JSON kept as mappings would break determinism: `0 == False == 0.0`, and two orders of keys are
equal values with different bytes. So a document is its text (`JsonText`); equality and hash are
those of the text, and the parsed, read-only view is made when somebody asks.

Text from outside is parsed under explicit bounds that are checked *before* parsing, so that
acceptance depends neither on the depth of the caller's stack nor on a setting of the process.
"""

import hashlib
import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final, TypeAlias, Union, final

from attrs import frozen
from typing_extensions import TypeIs, override

from stepfold.values._outcome import Failure, Outcome, Success

JsonValue: TypeAlias = Union[bool, int, float, str, "tuple[JsonValue, ...]", "JsonObject", None]
"""A JSON document as frozen Python values."""
JsonInput: TypeAlias = Union[
    bool, int, float, str, "Sequence[JsonInput]", "Mapping[str, JsonInput]", None
]
"""Python values that have a JSON form."""


@final
class JsonObject(Mapping[str, JsonValue]):
    """A frozen, hashable JSON object; iteration keeps the order of the text."""

    __slots__ = ("_hash", "_members")

    def __init__(self, members: Mapping[str, JsonValue]) -> None:
        self._members: dict[str, JsonValue] = dict(members)
        self._hash: int | None = None

    @override
    def __getitem__(self, key: str) -> JsonValue:
        return self._members[key]

    @override
    def __iter__(self) -> Iterator[str]:
        return iter(self._members)

    @override
    def __len__(self) -> int:
        return len(self._members)

    @override
    def __eq__(self, other: object) -> bool:
        if isinstance(other, JsonObject):
            return self._members == other._members
        return NotImplemented

    @override
    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(frozenset(self._members.items()))
        return self._hash

    @override
    def __repr__(self) -> str:
        return f"JsonObject({self._members!r})"


@final
@frozen(order=False)
class JsonBounds:
    """The largest document that is accepted from outside.

    `length` counts characters of text, `depth` nested arrays and objects, `digits` the digits
    of one number.
    """

    length: int = 1_048_576
    depth: int = 64
    digits: int = 4_300


@final
@frozen(order=False)
class JsonFault:
    """Why a text is not an acceptable JSON document; `position` is a character index."""

    message: str
    position: int | None = None


DEFAULT_BOUNDS = JsonBounds()
"""The bounds of documents from outside, unless a program says otherwise."""


@final
@frozen(order=False)
class JsonText:
    """A JSON document, kept as its text.

    The constructor trusts its argument: use `JsonText.parse` for text from outside and
    `JsonText.of` for Python values. Equality and hash are those of the text, so `{"a":1}` and
    `{"a": 1}` differ.
    """

    text: str

    @cached_property
    def value(self) -> JsonValue:
        """The document as frozen Python values, parsed on first use."""
        return frozen_json(json.loads(self.text))

    @staticmethod
    def of(value: object) -> "JsonText":
        """Encode JSON-like Python values compactly, keys in their own order.

        These are values of your own program: what `parse` refuses in text from outside, such as
        deep nesting or a key `__proto__`, is kept as it is.

        Raises:
            ValueError: for NaN, infinities, circular references and lone surrogates.
            TypeError: for anything that JSON has no form for, keys that are no strings among it.
        """
        return JsonText(dump_json(value))

    @staticmethod
    def parse(text: str, bounds: JsonBounds = DEFAULT_BOUNDS) -> "Outcome[JsonText, JsonFault]":
        """Check text from outside: one JSON document within the bounds."""
        match parse_json(text, bounds):
            case Success(_):
                return Success(JsonText(text))
            case Failure(fault):
                return Failure(fault)

    def canonical(self) -> str:
        """The same document with sorted keys and no white space; integers stay exact."""
        return json.dumps(
            json.loads(self.text), sort_keys=True, ensure_ascii=False, separators=(",", ":")
        )

    def digest(self) -> str:
        """SHA-256 of the UTF-8 canonical form, in hexadecimal."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()


EMPTY_OBJECT = JsonText("{}")
"""`{}`."""
NULL = JsonText("null")
"""`null`."""


def frozen_json(value: object) -> JsonValue:
    """Copy what `json.loads` gives (or the like) into frozen values.

    Raises:
        TypeError: for anything that is not JSON, naming its type.
    """
    if value is None or isinstance(value, int | float | str):
        return value
    if isinstance(value, JsonObject):
        return value
    if _is_mapping(value):
        return JsonObject({_key(key): frozen_json(item) for key, item in value.items()})
    if _is_sequence(value):
        return tuple(frozen_json(item) for item in value)
    msg = f"expected a JSON value, got {type(value).__name__}"
    raise TypeError(msg)


def _is_mapping(value: object) -> TypeIs[Mapping[object, object]]:
    return isinstance(value, Mapping)


def _is_sequence(value: object) -> TypeIs[Sequence[object]]:
    return isinstance(value, Sequence) and not isinstance(value, bytes | bytearray | memoryview)


def _key(key: object) -> str:
    if isinstance(key, str):
        return key
    msg = f"expected a string as the key of a JSON object, got {type(key).__name__}"
    raise TypeError(msg)


def _thaw(value: object) -> object:
    if isinstance(value, JsonObject):
        return dict(value)
    if _is_mapping(value):
        return {_key(key): item for key, item in value.items()}
    if _is_sequence(value):
        return list(value)
    msg = f"{type(value).__name__} has no JSON form"
    raise TypeError(msg)


_compact = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=_thaw
)


def dump_json(value: object) -> str:
    """Encode JSON-like Python values (frozen or not) compactly, keys in their own order.

    Raises:
        ValueError: for NaN, infinities, circular references and lone surrogates.
        TypeError: for anything that JSON has no form for, keys that are no strings among it.
    """
    text = dump_tree(value)
    _require_text_keys(value)  # the encoder would make a string of a number
    return text


def dump_tree(tree: object) -> str:
    """As `dump_json`, for a tree whose keys are known to be strings: it does not look at them."""
    text = _compact.encode(tree)
    if not text.isascii():
        text.encode()  # a lone surrogate has no UTF-8 form: UnicodeEncodeError is a ValueError
    return text


_SCALARS: Final[frozenset[type]] = frozenset({str, bool, int, float, type(None)})


def _require_text_keys(value: object) -> None:
    rest = [value]
    while rest:
        item = rest.pop()
        if type(item) in _SCALARS:
            continue
        if _is_sequence(item):
            rest.extend(item)
        elif _is_mapping(item):
            for key in item:
                _key(key)
            rest.extend(item.values())


class _RefusedError(ValueError):
    """Raised by the hooks below to leave the parser."""


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        msg = f"the number {digits[:20]} is too large for a 64-bit float"
        raise _RefusedError(msg)
    return number


def _constant(name: str) -> object:
    msg = f"{name} is not JSON"
    raise _RefusedError(msg)


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key in members if counts[key] > 1)
        msg = f"the key {twice[:60]!r} occurs twice in one object"
        raise _RefusedError(msg)
    if "__proto__" in members:
        msg = "the key '__proto__' is refused: it changes objects of JavaScript clients"
        raise _RefusedError(msg)
    return members


STRICT = json.JSONDecoder(parse_float=_finite, parse_constant=_constant, object_pairs_hook=_members)
"""Refuses duplicate keys, `__proto__` and numbers that are none; bounds are checked apart."""

_token = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]|\d+', re.DOTALL)
SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")


def _out_of_bounds(text: str, bounds: JsonBounds) -> JsonFault | None:
    """Check length, depth and digits without parsing; each check is linear in the text."""
    if len(text) > bounds.length:
        return JsonFault(
            f"the document has {len(text)} characters, at most {bounds.length} allowed"
        )
    opened = text.count("[") + text.count("{")
    if opened <= bounds.depth and len(text) <= bounds.digits:
        return None
    depth = 0
    for token in _token.finditer(text):
        first = text[token.start()]
        if first in "[{":
            depth += 1
            if depth > bounds.depth:
                message = f"nested more than {bounds.depth} deep"
                return JsonFault(message, token.start())
        elif first in "]}":
            depth -= 1
        elif first != '"' and token.end() - token.start() > bounds.digits:
            message = f"a number of more than {bounds.digits} digits"
            return JsonFault(message, token.start())
    return None


def parse_json(text: str, bounds: JsonBounds = DEFAULT_BOUNDS) -> Outcome[object, JsonFault]:
    """Parse one JSON document from outside into plain dicts and lists; total.

    Refused beside bad syntax: what exceeds the bounds, duplicate keys, `__proto__`, NaN and
    infinities (also by overflow), and lone surrogates. The result is the caller's own.
    """
    fault = _out_of_bounds(text, bounds)
    if fault is not None:
        return Failure(fault)
    try:
        value: object = STRICT.decode(text)
        if not text.isascii():
            text.encode()
        if SURROGATE_ESCAPE.search(text):
            _compact.encode(value).encode()
    except json.JSONDecodeError as error:
        return Failure(JsonFault(error.msg, error.pos))
    except UnicodeEncodeError:
        return Failure(JsonFault("a string holds a lone surrogate, which has no UTF-8 form"))
    except (_RefusedError, RecursionError) as error:
        return Failure(JsonFault(str(error)))
    except ValueError as error:  # the process allows fewer digits than the bounds
        return Failure(JsonFault(f"a number is not acceptable: {error}"))
    return Success(value)


def without_lone_surrogates(text: str) -> str:
    """Replace lone surrogates, which have no UTF-8 form, by U+FFFD; other text is unchanged."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return re.sub("[\ud800-\udfff]", "\ufffd", text)
    return text
