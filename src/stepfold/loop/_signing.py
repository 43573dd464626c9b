"""Signatures of requests for approval, in the form of the AI SDK.

A history comes back from a client, and a client can write into it. The digest in a request tells
that its arguments have changed since; it does not tell who wrote the request. A signature does:
HMAC-SHA-256, under a secret that only the server has, over the ids of the request and of its call,
the name of the tool, and the digest of the arguments as JavaScript would write them. Histories can
so go to and fro between servers of both kinds.

A signature binds neither a session nor a time: that a call runs once only is held elsewhere.
"""

import base64
import hashlib
import hmac
import json
import math
import re
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from typing import Final, NoReturn, final

from typing_extensions import TypeIs, override

from stepfold.loop._order import code_units
from stepfold.values import UsageError

_VERSION: Final = "ai-sdk-tool-approval-v1"


@final
class ApprovalSecret:
    """The secret that requests for approval are signed with; nothing shows it.

    Not in a repr, a state, a journal or a fingerprint; it cannot be pickled.

    Args:
        secret: Text counts as its UTF-8 bytes.

    Raises:
        UsageError: it is neither text nor bytes, or empty.
    """

    __slots__ = ("_key",)

    def __init__(self, secret: str | bytes) -> None:
        self._key: bytes = _key_of(secret)

    def signature_of(self, approval_id: str, call_id: str, tool: str, arguments: str) -> str:
        """Sign a request for the approval of a call; `arguments` are a JSON document."""
        signed = [_VERSION, approval_id, call_id, tool, _digest(arguments)]
        return self._signed(javascript_json(signed))

    def has_signed(
        self, signature: str, approval_id: str, call_id: str, tool: str, arguments: str
    ) -> bool:
        """Whether a signature is that of exactly this request and call.

        The older form of the AI SDK, whose lines are unambiguous only if no id holds a line
        break, counts as well.
        """
        given = signature.encode("utf-8", "surrogatepass")
        expected = self.signature_of(approval_id, call_id, tool, arguments)
        if hmac.compare_digest(given, expected.encode()):
            return True
        ids = (approval_id, call_id, tool)
        if any("\n" in one for one in ids):
            return False
        older = self._signed("\n".join((*ids, _digest(arguments))))
        return hmac.compare_digest(given, older.encode())

    def _signed(self, payload: str) -> str:
        data = payload.encode("utf-8", "surrogatepass")
        return _base64url(hmac.digest(self._key, data, "sha256"))

    @override
    def __repr__(self) -> str:
        return "<approval secret>"

    @override
    def __reduce__(self) -> NoReturn:
        msg = "an ApprovalSecret cannot be pickled or copied: give the new process the secret"
        raise TypeError(msg)


def _key_of(secret: object) -> bytes:
    """The bytes of a secret; an error tells of what kind it is and does not show it."""
    if not isinstance(secret, str | bytes):
        msg = f"tool_approval_secret: expected text or bytes, got {type(secret).__name__}"
        raise UsageError(msg)
    if not secret:
        msg = "tool_approval_secret: expected a secret, got an empty one, which signs nothing"
        raise UsageError(msg)
    return secret if isinstance(secret, bytes) else secret.encode("utf-8", "surrogatepass")


def secret_of(given: "str | bytes | ApprovalSecret | None") -> ApprovalSecret | None:
    """A secret as programs keep it."""
    if given is None or isinstance(given, ApprovalSecret):
        return given
    return ApprovalSecret(given)


def _base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _digest(document: str) -> str:
    value: object = json.loads(document, parse_int=float)  # JavaScript has no other numbers
    text = javascript_json(value)
    return _base64url(hashlib.sha256(text.encode()).digest())


# --- JSON as JavaScript writes it -------------------------------------------------------------


def javascript_json(value: object) -> str:
    """Write what `json.loads` gives as `JSON.stringify` would, with sorted keys.

    Keys are sorted by their UTF-16 code units; what is no finite number is `null`.
    """
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, float):
        return _number(value)
    if _is_mapping(value):
        members = sorted(value.items(), key=lambda member: code_units(member[0]))
        return "{" + ",".join(f"{_text(k)}:{javascript_json(v)}" for k, v in members) + "}"
    if _is_list(value):
        return "[" + ",".join(map(javascript_json, value)) + "]"
    return json.dumps(value)


def _is_mapping(value: object) -> TypeIs[Mapping[str, object]]:
    return isinstance(value, dict)


def _is_list(value: object) -> TypeIs[Iterable[object]]:
    return isinstance(value, list)


_lone = re.compile("[\ud800-\udfff]")


def _text(text: str) -> str:
    written = json.dumps(text, ensure_ascii=False)
    return _lone.sub(lambda found: f"\\u{ord(found[0]):04x}", written)


_EXACT: Final = Context(prec=17)
"""So many digits tell every double from all others."""


def _number(value: float) -> str:
    """Write a number as `Number.prototype.toString` does: its shortest digits, placed otherwise."""
    if not math.isfinite(value):
        return "null"
    if value == 0:
        return "0"
    shortest = Decimal(repr(value)).normalize(_EXACT)
    digits = "".join(map(str, shortest.as_tuple().digits))
    return "-" * shortest.is_signed() + _placed(digits, shortest.adjusted() + 1)


def _placed(digits: str, point: int) -> str:
    """Place the decimal point after so many digits; far away it becomes an exponent."""
    if not -6 < point <= 21:
        power = f"e{point - 1:+d}"
        return digits + power if len(digits) == 1 else f"{digits[0]}.{digits[1:]}{power}"
    if point <= 0:
        return "0." + digits.rjust(len(digits) - point, "0")
    if point < len(digits):
        return f"{digits[:point]}.{digits[point:]}"
    return digits.ljust(point, "0")
