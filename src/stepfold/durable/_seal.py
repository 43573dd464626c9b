"""`Seal`: what makes the lines of a journal unreadable to whoever keeps them."""

import base64
import binascii
from collections.abc import Callable
from typing import Final, final

from attrs import frozen

from stepfold.codec import DecodeFault
from stepfold.values import Failure, Outcome, Success

_START: Final = b'{"type":"sealed","data":"'
_END: Final = b'"}'


@final
@frozen(order=False)
class Seal:
    """Two functions over bytes, such as `encrypt` and `decrypt` of `cryptography.fernet.Fernet`.

    `close` is given each line and each big text before it is stored, `open` what `close` gave.
    `open` raises whatever it likes for bytes that are not its own; the journal is then damaged.
    """

    close: Callable[[bytes], bytes]
    open: Callable[[bytes], bytes]


def sealed(seal: Seal | None, data: bytes) -> bytes:
    """Seal a line, if there is a seal; what comes is a line of JSON again."""
    if seal is None:
        return data
    return _START + base64.b64encode(seal.close(data)) + _END


def unsealed(seal: Seal | None, data: bytes) -> Outcome[bytes, DecodeFault]:
    """Open a line that may be sealed."""
    if not data.startswith(_START):
        return Success(data)
    if seal is None:
        return Failure(DecodeFault("", "the journal is sealed: give its seal"))
    try:
        return Success(seal.open(base64.b64decode(data[len(_START) : -len(_END)], validate=True)))
    except binascii.Error as error:
        return Failure(DecodeFault("/data", f"expected base64: {error}"))
    except Exception as error:  # noqa: BLE001 - the user's own function, whatever it raises
        kind = type(error).__name__
        return Failure(
            DecodeFault("", f"the seal does not open the journal ({kind}): another key?")
        )
