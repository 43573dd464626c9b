"""Read the answer of a model that was asked to use tools by schema, as it comes.

A `BlockReader` reads one text block and writes stream parts: the text of an answer, the text of
an output, or a call. It is written as straight-line code in generators that yield where more
text is needed, so that what it writes does not depend on where the text was cut into chunks. It
reads each character once.

An answer is lenient, a call is not: what began as an answer stays text, whatever follows; a call
is made only of a complete document that holds nothing else. Everything else is text as it is.
"""

import re
from collections.abc import Callable, Collection, Generator
from typing import Final, TypeAlias, TypeVar, final

from stepfold.values import (
    JsonObject,
    JsonText,
    StreamPart,
    Success,
    TextDelta,
    TextEnd,
    TextStart,
    ToolCall,
    ToolInputDelta,
    ToolInputEnd,
    ToolInputStart,
    dump_json,
    parse_json,
    without_lone_surrogates,
)

T = TypeVar("T")
Reading: TypeAlias = Generator[None, None, T]

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_IN_STRING: Final = re.compile(r'[^"\\]*')
_BETWEEN: Final = re.compile(r'[^"{}\[\], \t\n\r]*')
_ANYTHING: Final = re.compile(r".*", re.DOTALL)
_ESCAPES: Final = {
    '"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"
}  # fmt: skip
_REPLACEMENT: Final = "\ufffd"


@final
class BlockReader:
    """Reads one text block; give it each delta once, then `close` it.

    `names` are the tools that may be called, `new_id` names a call when its arguments begin,
    `takes_output` tells that the form has a branch for an output.
    """

    def __init__(
        self,
        block_id: str,
        names: Collection[str],
        new_id: Callable[[], str],
        *,
        takes_output: bool,
    ) -> None:
        self._id: Final = block_id
        self._names: Final = names
        self._new_id: Final = new_id
        self._takes_output: Final = takes_output
        self._options: JsonText | None = None
        self._raw: list[str] = []  # all that came, until it is known to be text
        self._chunk = ""
        self._at = 0
        self._is_closed = False
        self._is_text = False
        self._call_id: str | None = None
        self._input: list[str] = []  # what was told of its arguments
        self._pending: list[str] = []  # the delta that this chunk will make
        self._parts: list[StreamPart] = []
        self._reading: Final = self._read()
        next(self._reading)

    @property
    def is_text(self) -> bool:
        """Whether the block is known to be text, so that it has its place in the reply."""
        return self._is_text

    def keep(self, options: JsonText | None) -> None:
        """Take what the provider attached to the block; the last one holds."""
        if options is not None:
            self._options = options

    def read(self, delta: str) -> tuple[StreamPart, ...]:
        """Take the next piece of the block and give the parts that are certain now."""
        if not delta:
            return ()
        self._chunk, self._at = without_lone_surrogates(delta), 0
        if not self._is_text:
            self._raw.append(self._chunk)
        next(self._reading)
        return self._taken()

    def close(self) -> tuple[StreamPart, ...]:
        """Give the last parts, after the last piece."""
        self._chunk, self._at, self._is_closed = "", 0, True
        next(self._reading, None)
        return self._taken()

    def _taken(self) -> tuple[StreamPart, ...]:
        self._flush()
        parts, self._parts = tuple(self._parts), []
        return parts

    def _flush(self) -> None:
        if not self._pending:
            return
        delta = "".join(self._pending)
        self._pending.clear()
        if self._call_id is None:
            self._parts.append(TextDelta(self._id, delta))
        else:
            self._input.append(delta)
            self._parts.append(ToolInputDelta(self._call_id, delta))

    # --- characters ---------------------------------------------------------------------------

    def _peek(self) -> Reading[str]:
        """Give the next character without taking it; nothing at the end."""
        while self._at == len(self._chunk):
            if self._is_closed:
                return ""
            yield
        return self._chunk[self._at]

    def _run(self, pattern: re.Pattern[str]) -> str:
        """Take what the pattern matches in what is here."""
        match = pattern.match(self._chunk, self._at)
        if match is None:  # pragma: no cover - each pattern matches the empty string
            return ""
        self._at = match.end()
        return match.group()

    def _next(self) -> Reading[str]:
        character = yield from self._peek()
        self._at += len(character)
        return character

    def _space(self) -> Reading[str]:
        """Take white space, however it is cut, and give the character after it, not taken."""
        while True:
            character = yield from self._peek()
            if not character or not self._run(_SPACE):
                return character

    def _takes(self, expected: str) -> Reading[bool]:
        if (yield from self._space()) != expected:
            return False
        self._at += 1
        return True

    def _string(self) -> Reading[str | None]:
        """Take a string; None where there is none or it is malformed."""
        if not (yield from self._takes('"')):
            return None
        pieces = ['"']
        while (character := (yield from self._next())) != '"':
            if not character:
                return None
            pieces.append(character)
            if character == "\\":
                pieces.append((yield from self._next()))
            else:
                pieces.append(self._run(_IN_STRING))
        pieces.append('"')
        match parse_json("".join(pieces)):
            case Success(str() as value):
                return value
            case _:
                return None

    def _key(self) -> Reading[str | None]:
        key = yield from self._string()
        return key if (yield from self._takes(":")) else None

    # --- the document -------------------------------------------------------------------------

    def _read(self) -> Reading[None]:
        if not (yield from self._takes("{")):
            yield from self._plain()
            return
        match (yield from self._key()):
            case "answer" if (yield from self._takes('"')):
                self._begin_text()
                yield from self._answer()
                yield from self._tail()
            case "output" if self._takes_output and (yield from self._space()):
                self._begin_text()
                yield from self._value()
                yield from self._tail()
            case "tool":
                yield from self._tool()
            case _:
                yield from self._whole()

    def _begin_text(self) -> None:
        self._is_text = True
        self._raw.clear()
        self._parts.append(TextStart(self._id))

    def _end_text(self) -> None:
        self._flush()
        self._parts.append(TextEnd(self._id, provider_options=self._options))

    def _plain(self) -> Reading[None]:
        """Give the block as it is, what has come of it and what will."""
        text = "".join(self._raw)
        self._begin_text()
        self._pending.append(text)
        self._at = len(self._chunk)
        yield from self._rest()

    def _rest(self) -> Reading[None]:
        while (yield from self._peek()):
            self._pending.append(self._run(_ANYTHING))
        self._end_text()

    def _tail(self) -> Reading[None]:
        """Take the end of the document; what should not be there is text, too."""
        tail: list[str] = []
        for expected in ("}", ""):
            while (character := (yield from self._peek())) and (space := self._run(_SPACE)):
                tail.append(space)
            if character != expected:
                self._pending.extend(tail if character else ())
                break
            tail.clear()
            self._at += len(character)
        yield from self._rest()

    def _answer(self) -> Reading[None]:
        high = ""  # the first half of a surrogate pair, held back until the second is known
        while character := (yield from self._next()):
            code = (yield from self._escape()) if character == "\\" else ""
            is_low = "\udc00" <= code <= "\udfff"
            if high and not is_low:
                self._pending.append(_REPLACEMENT)
            if high and is_low:
                pair = (high + code).encode("utf-16", "surrogatepass")
                self._pending.append(pair.decode("utf-16"))
            elif is_low:
                self._pending.append(_REPLACEMENT)
            high = code if "\ud800" <= code <= "\udbff" else ""
            if character == '"':
                return
            if character != "\\":
                self._pending.append(character + self._run(_IN_STRING))
            elif not ("\ud800" <= code <= "\udfff"):
                self._pending.append(code)
        if high:
            self._pending.append(_REPLACEMENT)

    def _escape(self) -> Reading[str]:
        """Read what follows a backslash; what is malformed stands for itself, cut for nothing."""
        letter = yield from self._next()
        if letter != "u":
            return _ESCAPES.get(letter, f"\\{letter}" if letter else "")
        digits = ""
        while len(digits) < 4:
            character = yield from self._peek()
            if not character:
                return ""
            if character not in "0123456789abcdefABCDEF":
                return f"\\u{digits}"
            self._at += 1
            digits += character
        return chr(int(digits, 16))

    def _value(self) -> Reading[None]:
        """Give one JSON value as it is written, up to its last character."""
        depth = 0
        yield from self._space()
        while character := (yield from self._peek()):
            if character == '"':
                yield from self._raw_string()
            elif character in "[{":
                depth += 1
                self._emit()
                continue
            elif character in "]}" and depth > 0:
                depth -= 1
                self._emit()
            elif depth > 0 or character not in "]}, \t\r\n":
                if not (run := self._run(_BETWEEN)):
                    self._emit()
                self._pending.append(run)
                continue
            if depth == 0:
                return

    def _emit(self) -> None:
        self._pending.append(self._chunk[self._at])
        self._at += 1

    def _raw_string(self) -> Reading[None]:
        self._emit()
        while character := (yield from self._next()):
            self._pending.append(character)
            if character == '"':
                return
            if character == "\\":
                self._pending.append((yield from self._next()))
            else:
                self._pending.append(self._run(_IN_STRING))

    # --- calls --------------------------------------------------------------------------------

    def _tool(self) -> Reading[None]:
        name = yield from self._string()
        if name is None or name not in self._names:
            yield from self._whole()
            return
        if not (yield from self._takes(",")) or (yield from self._key()) != "arguments":
            yield from self._whole()
            return
        self._begin_call(name)
        yield from self._value()
        yield from self._whole()

    def _begin_call(self, name: str) -> str:
        self._call_id = self._new_id()
        self._parts.append(ToolInputStart(self._call_id, name))
        return self._call_id

    def _whole(self) -> Reading[None]:
        """Wait for the end, then take the document for what it is as a whole."""
        while (yield from self._peek()):
            self._at = len(self._chunk)
        self._flush()
        call = _call_of("".join(self._raw), self._names)
        if call is None:
            self._call_id = None
            yield from self._plain()
            return
        name, arguments = call
        call_id = self._call_id
        if call_id is None:  # its members came in another order
            call_id = self._begin_call(name)
            self._pending.append(arguments)
            self._flush()
        self._parts += (
            ToolInputEnd(call_id),
            ToolCall(call_id, name, "".join(self._input), provider_options=self._options),
        )


def _call_of(text: str, names: Collection[str]) -> tuple[str, str] | None:
    """Give the tool and the arguments, if this is a call and nothing else."""
    if not isinstance(parse_json(text), Success):
        return None
    value = JsonText(text).value
    if not isinstance(value, JsonObject) or set(value) != {"tool", "arguments"}:
        return None
    name = value["tool"]
    if not isinstance(name, str) or name not in names:
        return None
    return name, dump_json(value["arguments"])
