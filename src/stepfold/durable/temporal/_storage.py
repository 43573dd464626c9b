"""`FileStorage`: where payloads are kept that are too big for the engine."""

import os
import secrets
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Final, final

from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    StorageDriver,
    StorageDriverClaim,
    StorageDriverRetrieveContext,
    StorageDriverStoreContext,
)
from typing_extensions import override

from stepfold.codec import DecodeFault, StoredDataError
from stepfold.durable._threads import waited

_DIGEST: Final = "sha256"


@final
class FileStorage(StorageDriver):
    """Keeps big payloads in a folder that all workers and clients see, each once.

    A payload is kept under its digest, so what is sent again and again costs a reference. Nothing
    is deleted here: what was last stored before the oldest run that the engine still knows began
    is needed by nobody. Storing a payload again renews the time of its file.
    """

    def __init__(self, folder: str | Path) -> None:
        self._folder: Final = Path(folder)

    @override
    def name(self) -> str:
        return "stepfold-files"

    @override
    def type(self) -> str:
        return "stepfold.files"

    @override
    async def store(
        self, context: StorageDriverStoreContext, payloads: Sequence[Payload]
    ) -> list[StorageDriverClaim]:
        """Keep payloads, and give what finds them again."""
        return await waited(lambda: [self._put(payload) for payload in payloads])

    @override
    async def retrieve(
        self, context: StorageDriverRetrieveContext, claims: Sequence[StorageDriverClaim]
    ) -> list[Payload]:
        """Give payloads back.

        Raises:
            StoredDataError: one is not here, or not what it was.
        """
        return await waited(lambda: [self._get(claim) for claim in claims])

    def _put(self, payload: Payload) -> StorageDriverClaim:
        data = payload.SerializeToString(deterministic=True)
        digest = sha256(data).hexdigest()
        path = self._path(digest)
        if path.exists():
            os.utime(path)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            begun = path.with_name(f".{digest}.{secrets.token_hex(8)}")
            begun.write_bytes(data)
            begun.replace(path)
        return StorageDriverClaim({_DIGEST: digest})

    def _get(self, claim: StorageDriverClaim) -> Payload:
        digest = claim.claim_data.get(_DIGEST, "")
        path = self._path(digest)
        try:
            data = path.read_bytes()
        except OSError as error:
            told = f"the payload {digest!r:.80} is not in this storage: {error.strerror}"
            raise StoredDataError(DecodeFault("", told)) from None
        if sha256(data).hexdigest() != digest:
            raise StoredDataError(DecodeFault("", f"the payload {digest!r:.80} is damaged"))
        payload = Payload()
        payload.ParseFromString(data)
        return payload

    def _path(self, digest: str) -> Path:
        return self._folder / digest[:2] / digest
