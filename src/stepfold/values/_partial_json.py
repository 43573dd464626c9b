"""JSON that comes in pieces, read once: each character is looked at when it comes, and never again.

The state is a stack of the containers that are open. A scalar, or a container that is closed, goes
into the one around it and is not touched any more; what has come so far is shown by views that
share all of that (`_partial_views`). So the cost of a whole document is linear in its length,
whatever the pieces, however often somebody looks.

What is shown: open containers as they stand, an open string as far as it is certain, a member once
its value has begun. An incomplete number, literal, key or escape is not shown. What `parse_json`
refuses is refused here, no later than at the end.
"""

import math
import re
from collections.abc import Sequence
from typing import Final, TypeAlias, final

from stepfold.values._json import (
    DEFAULT_BOUNDS,
    STRICT,
    SURROGATE_ESCAPE,
    JsonBounds,
    JsonFault,
    parse_json,
)
from stepfold.values._outcome import Failure, Success
from stepfold.values._partial_views import (
    OpenText,
    PartialArray,
    PartialJson,
    PartialObject,
    Tail,
    is_array,
    is_object,
    shown,
)

_Container: TypeAlias = list[object] | dict[str, object]


# What comes next. Plain numbers, in this order: they are compared several times for each delta.
_VALUE: Final = 0
_VALUE_OR_END: Final = 1  # right after `[`
_KEY: Final = 2
_KEY_OR_END: Final = 3  # right after `{`
_COLON: Final = 4
_SEPARATOR: Final = 5  # a comma, or the end of the container
_NOTHING: Final = 6  # the document is complete
_TEXT: Final = 7  # these three: within a token
_KEY_TEXT: Final = 8
_SCALAR: Final = 9

_space: Final = re.compile(r"[ \t\n\r]*")
_plain: Final = re.compile(r'[^"\\\x00-\x1f]*')
_whole_text: Final = re.compile(r'([^"\\\x00-\x1f]*)"')
_whole_key: Final = re.compile(r'([^"\\\x00-\x1f]*)"[ \t\n\r]*:[ \t\n\r]*')
_scalar: Final = re.compile(r"[-+.0-9A-Za-z]*")
_number: Final = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")
_escape: Final = re.compile(r'\\(?:(["\\/bfnrt])|u([0-9a-fA-F]{4}))')
_low_half: Final = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_escape_begun: Final = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?")

_LITERALS: Final[dict[str, object]] = {"true": True, "false": False, "null": None}
_ESCAPED: Final = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_SHORT: Final = 18  # so many characters of a number need no check of bounds
_WINDOW: Final = 2_048  # so many are searched for the end of a container, once for each
_CLOSING: Final = {"[": "]", "{": "}"}


@final
class PartialJsonReader:
    """Reads one JSON document from deltas; `value` is what has come of it.

    The bounds are those of `parse_json`, and so is what is refused: `fault` tells, and nothing
    more is taken in then. `version` grows whenever `value` changes.
    """

    __slots__ = (
        "_bounds",
        "_carried",
        "_chunks",
        "_containers",
        "_expects",
        "_keys",
        "_length",
        "_root",
        "_shown",
        "_window",
        "fault",
        "version",
    )

    def __init__(self, bounds: JsonBounds = DEFAULT_BOUNDS) -> None:
        """Begin a document."""
        self.fault: JsonFault | None = None
        self.version: int = 0
        self._bounds = bounds
        self._window = min(_WINDOW, bounds.digits)  # no number in it has too many digits
        self._expects = _VALUE
        self._containers: list[_Container] = []
        self._keys: list[str] = []  # of each open container, the member that is being read
        self._chunks: list[str] = []  # of the token that is being read
        self._carried = ""  # an escape whose end has not come
        self._length = 0
        self._root: object = None
        self._shown: tuple[int, PartialJson] = (0, None)

    # --- what there is ------------------------------------------------------------------------

    @property
    def value(self) -> PartialJson:
        """The document as far as it has come; `None`, with a `version` of 0, before its value.

        Costs no more than the depth of what is open, however long the document is.
        """
        version, value = self._shown
        if version != self.version:
            value = self._look()
            self._shown = (self.version, value)
        return value

    def has(self, member: str) -> bool:
        """Whether a member of the whole document is complete."""
        return member in self._whole_members()

    def items_of(self, member: str) -> Sequence[object]:
        """The complete items of an array that is a member of the whole document.

        Plain JSON, as the `json` module gives it. The same sequence may grow with what comes.
        """
        open_ones = self._containers
        if len(open_ones) > 1 and self._keys[0] == member:
            found: object = open_ones[1]
        else:
            found = self._whole_members().get(member)
        return found if is_array(found) else ()

    def _whole_members(self) -> dict[str, object]:
        whole = self._containers[0] if self._containers else self._root
        return whole if is_object(whole) else {}

    def _look(self) -> PartialJson:
        tail: Tail = None
        if self._expects == _TEXT:
            tail = OpenText(self._chunks)
        for container, key in zip(reversed(self._containers), reversed(self._keys), strict=True):
            if isinstance(container, list):
                tail = PartialArray(container, tail)
            else:
                tail = PartialObject(container, key, tail)
        if tail is None:
            return shown(self._root)
        return tail.joined() if isinstance(tail, OpenText) else tail

    # --- what comes ---------------------------------------------------------------------------

    def feed(self, delta: str) -> None:
        """Take in more of the document."""
        if self.fault is not None or not delta:
            return
        before = self._length - len(self._carried)
        self._length += len(delta)
        if self._length > self._bounds.length:
            self.fault = JsonFault(
                f"the document has over {self._bounds.length} characters, which is the most allowed"
            )
            return
        if not delta.isascii() and _has_surrogates(delta):
            self.fault = JsonFault("a string holds a lone surrogate, which has no UTF-8 form")
            return
        text = self._carried + delta
        self._carried = ""
        place, size = 0, len(text)
        try:
            while place < size:
                place = self._take(text, place)
        except _RefusedError as refused:
            self.fault = JsonFault(refused.message, before + refused.place)

    def end(self) -> JsonFault | None:
        """Say that no more will come: a number that was open counts, an open document is a fault.

        Gives the fault, if there is one.
        """
        if self.fault is None:
            try:
                if self._expects == _SCALAR:
                    self._end_scalar(self._length)
                if self._expects != _NOTHING:
                    self.fault = JsonFault("the document is not complete", self._length)
            except _RefusedError as refused:
                self.fault = JsonFault(refused.message, refused.place)
        return self.fault

    def _take(self, text: str, place: int) -> int:
        """Take in one token, or a piece of one, and give the place after it."""
        expects = self._expects
        if expects >= _TEXT:
            return (
                self._take_scalar(text, place)
                if expects == _SCALAR
                else self._take_text(text, place, is_value=expects == _TEXT)
            )
        first = text[place]
        if first in " \t\n\r":
            return _after(_space, text, place)
        if expects == _SEPARATOR:
            return self._separate(first, place)
        if expects <= _VALUE_OR_END:
            if first == "]" and expects == _VALUE_OR_END:
                return self._close(first, place)
            return self._begin_value(text, place, first)
        if expects <= _KEY_OR_END:
            if first == '"':
                return self._begin_key(text, place + 1)
            if expects == _KEY_OR_END:
                return self._close(first, place)
        elif expects == _COLON and first == ":":
            self._expects = _VALUE
            return place + 1
        raise _RefusedError(f"unexpected {first!r}", place)

    def _begin_value(self, text: str, place: int, first: str) -> int:
        if first == '"':
            whole = _whole_text.match(text, place + 1)
            self.version += 1
            if whole is not None:
                self._add(whole[1])
                return whole.end()
            self._chunks = []
            self._expects = _TEXT
            return place + 1
        if first in "[{":
            return self._open(text, place, first)
        if first not in "-0123456789tfn":
            raise _RefusedError(f"unexpected {first!r}", place)
        self._chunks = []
        self._expects = _SCALAR
        return place

    def _open(self, text: str, place: int, first: str) -> int:
        depth = len(self._containers)
        if depth == self._bounds.depth:
            raise _RefusedError(f"nested more than {depth} deep", place)
        self.version += 1
        window = text[place : place + self._window]
        if _CLOSING[first] in window:
            end = self._take_whole(text, place, window)
            if end is not None:
                return end
        is_array = first == "["
        self._keys.append("")
        self._containers.append([] if is_array else {})
        self._expects = _VALUE_OR_END if is_array else _KEY_OR_END
        return place + 1

    def _take_whole(self, text: str, place: int, window: str) -> int | None:
        """Take in a container that ends in the window as well, and give the place after it.

        `None` where it does not, or would need a closer look.
        """
        try:
            value, length = STRICT.raw_decode(window)
        except (ValueError, RecursionError):
            return None
        end = place + length
        deepest = len(self._containers) + text.count("[", place, end) + text.count("{", place, end)
        if deepest > self._bounds.depth or SURROGATE_ESCAPE.search(text, place, end):
            return None
        self._add(value)
        return end

    def _begin_key(self, text: str, place: int) -> int:
        whole = _whole_key.match(text, place)
        if whole is None:
            self._chunks = []
            self._expects = _KEY_TEXT
            return place
        self._set_key(whole[1], place)
        self._expects = _VALUE
        return whole.end()

    def _set_key(self, key: str, place: int) -> None:
        members = self._containers[-1]
        if key in members:
            raise _RefusedError(f"the key {key[:60]!r} occurs twice in one object", place)
        if key == "__proto__":
            raise _RefusedError(
                "the key '__proto__' is refused: it changes objects of JavaScript clients", place
            )
        self._keys[-1] = key

    def _separate(self, first: str, place: int) -> int:
        if first != ",":
            return self._close(first, place)
        is_array = isinstance(self._containers[-1], list)
        self._expects = _VALUE if is_array else _KEY
        return place + 1

    def _close(self, first: str, place: int) -> int:
        closed = self._containers[-1]
        if first != ("]" if isinstance(closed, list) else "}"):
            raise _RefusedError(f"unexpected {first!r}", place)
        self._containers.pop()
        self._keys.pop()
        self._add(closed)
        return place + 1

    def _add(self, value: object) -> None:
        """Put a complete value where it belongs."""
        if not self._containers:
            self._root = value
            self._expects = _NOTHING
            return
        container = self._containers[-1]
        if isinstance(container, list):
            container.append(value)
        else:
            container[self._keys[-1]] = value
        self._expects = _SEPARATOR

    # --- within tokens ------------------------------------------------------------------------

    def _take_text(self, text: str, place: int, *, is_value: bool) -> int:
        end = _after(_plain, text, place)
        if end > place:
            self._grow(text[place:end], is_value=is_value)
        if end == len(text):
            return end
        last = text[end]
        if last == '"':
            whole = "".join(self._chunks)
            if is_value:
                self._add(whole)
            else:
                self._set_key(whole, end)
                self._expects = _COLON
            return end + 1
        if last == "\\":
            return self._take_escape(text, end, is_value=is_value)
        raise _RefusedError("a control character in a string", end)

    def _grow(self, chunk: str, *, is_value: bool) -> None:
        self._chunks.append(chunk)
        self.version += is_value

    def _take_escape(self, text: str, place: int, *, is_value: bool) -> int:
        escape = _escape.match(text, place)
        if escape is None:
            return self._carry(text, place, place)
        end = escape.end()
        if escape[1] is not None:
            self._grow(_ESCAPED.get(escape[1], escape[1]), is_value=is_value)
            return end
        code = int(escape[2], 16)
        if 0xD800 <= code < 0xDC00:
            low = _low_half.match(text, end)
            if low is None:
                return self._carry(text, place, end)
            code = 0x10000 + ((code - 0xD800) << 10) + (int(low[1], 16) - 0xDC00)
            end = low.end()
        elif 0xDC00 <= code < 0xE000:
            raise _lone(place)
        self._grow(chr(code), is_value=is_value)
        return end

    def _carry(self, text: str, place: int, begun: int) -> int:
        """Keep an escape for the next delta, if what came of it, from `begun`, may go on."""
        if begun < len(text) and _escape_begun.fullmatch(text, begun) is None:
            raise _lone(place) if begun > place else _RefusedError("an invalid escape", place)
        self._carried = text[place:]
        return len(text)

    def _take_scalar(self, text: str, place: int) -> int:
        end = _after(_scalar, text, place)
        self._chunks.append(text[place:end])
        if end < len(text):
            self._end_scalar(end)
        return end

    def _end_scalar(self, place: int) -> None:
        token = "".join(self._chunks)
        value = _LITERALS[token] if token in _LITERALS else self._number(token, place)
        self.version += 1
        self._add(value)

    def _number(self, token: str, place: int) -> object:
        found = _number.fullmatch(token)
        if found is None:
            raise _RefusedError(f"unexpected {token[:60]!r}", place)
        if len(token) <= min(_SHORT, self._bounds.digits):
            if found[1] is None and found[2] is None:
                return int(token)
            number = float(token)
            if not math.isinf(number):
                return number
        match parse_json(token, self._bounds):
            case Success(value):
                return value
            case Failure(fault):
                raise _RefusedError(fault.message, place)


class _RefusedError(Exception):
    """Leaves the reader; `place` is in the text at hand."""

    def __init__(self, message: str, place: int) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


def _lone(place: int) -> _RefusedError:
    return _RefusedError("a string holds a lone surrogate, which has no UTF-8 form", place)


def _after(token: re.Pattern[str], text: str, place: int) -> int:
    found = token.match(text, place)
    return place if found is None else found.end()


def _has_surrogates(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
