"""How strings, bytes and numbers are written, so that every one of them comes back.

JSON has no form for a string with a lone surrogate and for numbers that are not finite. The
first is written as `{"type":"wtf-8","base64":…}`: base64 of its UTF-8 in which a surrogate counts
as any other code point. The others are written as the strings `NaN`, `Infinity`, `-Infinity`.
"""

import base64
import binascii
import json
import math
import re
from typing import Final, cast

from stepfold.codec._faults import RefusedError, named

DEPTH_INSIDE: Final = 256
"""How deep a document may be nested that is kept as text (`JsonText`) inside of another."""

WTF_8: Final = "wtf-8"


def write_text(text: str) -> object:
    """Give the text itself, or its escape if it has no UTF-8 form."""
    if text.isascii() or _has_utf_8(text):
        return text
    octets = text.encode(errors="surrogatepass")
    return {"type": WTF_8, "base64": write_bytes(octets)}


def read_text(tree: object) -> str:
    """Read a text or its escape."""
    if type(tree) is str:
        return tree
    if type(tree) is not dict:
        message = f"expected a string, got {named(tree)}"
        raise RefusedError(message)
    escape = cast("dict[object, object]", tree)
    if escape.keys() != {"type", "base64"} or escape["type"] != WTF_8:
        message = "expected a string, got an object"
        raise RefusedError(message)
    try:
        text = read_bytes(escape["base64"]).decode(errors="surrogatepass")
    except UnicodeDecodeError as error:
        message = f"expected WTF-8: {error.reason}"
        raise RefusedError(message) from None
    if _has_utf_8(text):
        message = "expected a plain string, since this one has a UTF-8 form"
        raise RefusedError(message)
    return text


def _has_utf_8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def write_bytes(octets: bytes) -> str:
    """Give base64: the standard alphabet, padded, in one line (RFC 4648 §4)."""
    return base64.b64encode(octets).decode()


def read_bytes(tree: object) -> bytes:
    """Read base64 in the one form in which it is written."""
    if type(tree) is not str:
        message = f"expected base64, got {named(tree)}"
        raise RefusedError(message)
    try:
        octets = base64.b64decode(tree, validate=True)
    except (binascii.Error, ValueError) as error:
        message = f"expected base64: {error}"
        raise RefusedError(message) from None
    if write_bytes(octets) != tree:
        message = "expected base64 whose last character has no spare bits"
        raise RefusedError(message)
    return octets


_INFINITE: Final = {math.inf: "Infinity", -math.inf: "-Infinity"}
_NOT_FINITE: Final = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def write_number(number: float) -> object:
    """Give the shortest form of a float; zero has no sign, an integer that is none is exact."""
    if isinstance(number, int):
        return _exact(int(number))
    if math.isfinite(number):
        return number + 0.0  # -0.0 equals 0.0, and equal values have equal bytes
    return "NaN" if math.isnan(number) else _INFINITE[number]


def read_number(tree: object) -> float:
    """Read a number; an integer is taken as well, as the float that it equals if there is one."""
    if type(tree) is float:
        return tree
    if type(tree) is int:
        return _exact(tree)
    number = _NOT_FINITE.get(tree) if type(tree) is str else None
    if number is None:
        message = f"expected a number, got {named(tree)}"
        raise RefusedError(message)
    return number


def _exact(number: int) -> float:
    try:
        near = float(number)
    except OverflowError:
        return number
    return near if near == number else number


def _constant(name: str) -> object:
    message = f"expected a string of JSON, got {name}"
    raise RefusedError(message)


_decoder: Final = json.JSONDecoder(parse_constant=_constant)
_token: Final = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', re.DOTALL)


def is_too_deep(text: str) -> bool:
    """Tell whether JSON is nested more than `DEPTH_INSIDE` deep, without parsing it."""
    if text.count("[") + text.count("{") <= DEPTH_INSIDE:
        return False
    depth = 0
    for token in _token.finditer(text):
        match text[token.start()]:
            case "[" | "{":
                depth += 1
                if depth > DEPTH_INSIDE:
                    return True
            case "]" | "}":
                depth -= 1
            case _:
                pass
    return False


def check_json(text: str) -> None:
    """Refuse a text that is no JSON document, or one nested too deeply to be read anywhere.

    Whatever `JsonText.of` makes is accepted, keys included that are refused from outside.
    """
    if is_too_deep(text):
        message = f"expected a string of JSON, nested at most {DEPTH_INSIDE} deep"
        raise RefusedError(message)
    try:
        _decoder.decode(text)
    except ValueError as error:
        message = f"expected a string of JSON: {error}"
        raise RefusedError(message) from None
