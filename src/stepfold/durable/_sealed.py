"""What is written of a record under a seal or without secrets, and how it is read again."""

import base64
import binascii
import secrets
from typing import Final, TypeAlias

from stepfold.codec import DecodeFault
from stepfold.durable._seal import Seal
from stepfold.durable._secret_store import SecretStore
from stepfold.values import Failure, Outcome, Success

AnySeal: TypeAlias = Seal | SecretStore
"""What a journal can be closed with."""

_START: Final = b'{"type":"sealed","data":"'
_END: Final = b'"}'


def salt_for(seal: AnySeal | None) -> str:
    """What goes into the digests of texts, so that nobody can try which texts they stand for."""
    return "" if seal is None else secrets.token_hex(16)


def sealed(seal: AnySeal | None, data: bytes, *, is_text: bool = False) -> bytes:
    """Close a line of JSON, or a text; a line stays one of JSON."""
    if seal is None:
        return data
    if isinstance(seal, SecretStore):
        return sealed(seal.seal, seal.referring(data, is_text=is_text))
    return _START + base64.b64encode(seal.close(data)) + _END


def unsealed(seal: AnySeal | None, data: bytes) -> Outcome[bytes, DecodeFault]:
    """Open what may be closed; references to secrets stay where there is no `SecretStore`."""
    if not isinstance(seal, SecretStore):
        return _opened(seal, data)
    match _opened(seal.seal, data):
        case Success(opened):
            return seal.restored(opened)
        case Failure(fault):
            return Failure(fault)


def _opened(seal: Seal | None, data: bytes) -> Outcome[bytes, DecodeFault]:
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
