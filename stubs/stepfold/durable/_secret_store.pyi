from collections.abc import Mapping
from typing import Final, final
from typing_extensions import override
from stepfold.codec import DecodeFault
from stepfold.durable._seal import Seal
from stepfold.values import Outcome

@final
class SecretStore:
    def __init__(self, secrets: Mapping[str, str], *, seal: Seal | None = None) -> None: ...
    names: Final[tuple[str, ...]]
    seal: Final[Seal | None]

    @override
    def __repr__(self) -> str: ...
    def referring(self, data: bytes, *, is_text: bool) -> bytes: ...
    def restored(self, data: bytes) -> Outcome[bytes, DecodeFault]: ...
