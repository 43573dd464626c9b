"""`SecretStore`: known secrets stand in a journal as references to where they are kept.

A record is written as JSON, in which texts are, in which JSON can be again (arguments, results).
So a secret is looked for as it is and as JSON spells it, up to four times over, and its reference
says in which spelling it stood: what is put back is the same, byte for byte.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, final

from typing_extensions import override

from stepfold.codec import DecodeFault
from stepfold.durable._seal import Seal
from stepfold.values import Failure, Outcome, Success, UsageError

SHORTEST: Final = 6
_START: Final = b'{"secrets":1,"record":'
_END: Final = b"}"
_MARK: Final = b"<secret:"
_REFERENCE: Final = re.compile(rb"<secret:(?:([0-9]a?):([\w.-]+))?>")
_TEXT: Final = re.compile(rb'"(?:[^"\\]|\\.)*":?')
"""A text in a line of JSON without white space; one before a colon is a key."""
_DEPTH: Final = 4


@final
class SecretStore:
    """Secrets by name: `seal=SecretStore({"registry": token})`, wherever a journal takes a seal.

    Each of them is written as a reference, such as `<secret:0:registry>`, and put back when the
    run is read with a `SecretStore` that knows the name: resuming and replaying are exact. Without
    one the run can be looked at with its references, as one that was redacted, and goes no
    further. The other records stay readable, unless a `seal` closes them too.

    What is found is a secret as it is, or as JSON spells it (with letters beyond ASCII as they are
    or escaped); not one that was encoded in another way, or cut in two. Where a secret changes,
    keep the old one, for the runs that were begun with it, and give the new one a name of its own.

    Args:
        secrets: The secrets by their names, which are ASCII letters, digits, `_`, `.` and `-`.
        seal: Closes what is written then, references and all.

    Raises:
        UsageError: a name has other characters, or a secret is no text of at least 6 characters,
            since a shorter one is found where nobody meant it.
    """

    def __init__(self, secrets: Mapping[str, str], *, seal: Seal | None = None) -> None:
        for name, secret in secrets.items():
            if not re.fullmatch(r"[A-Za-z0-9_.-]+", name):
                raise UsageError(
                    f"expected the name of a secret in ASCII letters, digits, _, . and -, "
                    f"got {name!r}"
                )
            if not _can_be_found(secret):
                raise UsageError(
                    f"expected the secret {name!r} to be a text of at least {SHORTEST} characters "
                    "that has a UTF-8 form"
                )
        self.names: Final[tuple[str, ...]] = tuple(secrets)
        """The names of the secrets."""
        self.seal: Final[Seal | None] = seal
        """What closes the records, references and all."""
        self._spelled: Final = {
            (label, name.encode()): form
            for name, secret in secrets.items()
            for label, form in _spellings(secret)
        }
        self._named: Final = {form: key for key, form in reversed(self._spelled.items())}
        self._in_texts: Final = _pattern(re.escape(it) for it in _longest_first(self._named))
        # An escape is looked at as a whole, so that what is left of a text is JSON.
        self._in_json: Final = _pattern(
            [*(re.escape(it) for it in _longest_first(self._named) if _fits_json(it)), rb"\\."]
        )

    @override
    def __repr__(self) -> str:
        return f"SecretStore(names={self.names!r})"

    def referring(self, data: bytes, *, is_text: bool) -> bytes:
        """Put references in the place of secrets, in a text or in the texts of a line of JSON."""
        if is_text:
            return _START + self._in_texts.sub(self._reference, data) + _END
        return _START + _TEXT.sub(self._in_literal, data) + _END

    def _in_literal(self, found: re.Match[bytes]) -> bytes:
        text = found[0]
        return text if text.endswith(b":") else self._in_json.sub(self._reference, text)

    def _reference(self, found: re.Match[bytes]) -> bytes:
        if found[0] == _MARK:
            return _MARK + b">"  # somebody wrote what looks like a reference
        if found[0] not in self._named:
            return found[0]
        label, name = self._named[found[0]]
        return _MARK + label + b":" + name + b">"

    def restored(self, data: bytes) -> Outcome[bytes, DecodeFault]:
        """Put the secrets back into what `referring` gave; anything else is left as it is."""
        if not refers(data):
            return Success(data)
        missing: list[bytes] = []

        def secret(found: re.Match[bytes]) -> bytes:
            if found[2] is None:
                return _MARK
            form = self._spelled.get((found[1], found[2]))
            if form is None:
                missing.append(found[2])
                return found[0]
            return form

        whole = _REFERENCE.sub(secret, inside(data))
        if missing:
            name = missing[0].decode()
            return Failure(DecodeFault("", f"expected the secret {name!r} in the SecretStore"))
        return Success(whole)


def refers(data: bytes) -> bool:
    """Whether a record or text was written by a `SecretStore`, and its secrets are not there."""
    return data.startswith(_START)


def inside(data: bytes) -> bytes:
    """What was written, with the references that are in it."""
    return data[len(_START) : -len(_END)]


def _spellings(secret: str) -> Iterator[tuple[bytes, bytes]]:
    """How a secret is written at each depth of JSON in JSON, under labels of the depths."""
    told = {secret.encode()}
    yield b"0", secret.encode()
    for mark, is_ascii in ((b"", False), (b"a", True)):
        form = secret
        for depth in range(1, _DEPTH + 1):
            form = json.dumps(form, ensure_ascii=is_ascii)[1:-1]
            if (data := form.encode()) not in told:
                told.add(data)
                yield str(depth).encode() + mark, data


def _can_be_found(secret: object) -> bool:
    """Whether it is a text that is long enough, without lone surrogates."""
    if not isinstance(secret, str) or len(secret) < SHORTEST:
        return False
    return secret.encode(errors="replace").decode() == secret


def _longest_first(forms: Iterable[bytes]) -> list[bytes]:
    return sorted(forms, key=len, reverse=True)


def _fits_json(form: bytes) -> bool:
    """Whether a spelling can stand inside a text in JSON, with no escape cut in two."""
    try:
        json.loads(b'"' + form + b'"')
    except ValueError:
        return False
    return True


def _pattern(parts: Iterable[bytes]) -> re.Pattern[bytes]:
    return re.compile(b"|".join((_MARK, *parts)), re.DOTALL)
