from collections.abc import Sequence
from pathlib import Path
from typing import final
from temporalio.api.common.v1 import Payload
from temporalio.converter import (
    StorageDriver,
    StorageDriverClaim,
    StorageDriverRetrieveContext,
    StorageDriverStoreContext,
)
from typing_extensions import override

@final
class FileStorage(StorageDriver):
    def __init__(self, folder: str | Path) -> None: ...
    @override
    def name(self) -> str: ...
    @override
    def type(self) -> str: ...
    @override
    async def store(
        self, context: StorageDriverStoreContext, payloads: Sequence[Payload]
    ) -> list[StorageDriverClaim]: ...
    @override
    async def retrieve(
        self, context: StorageDriverRetrieveContext, claims: Sequence[StorageDriverClaim]
    ) -> list[Payload]: ...
