from collections.abc import Mapping
from typing import Final, TypeAlias, final
from attrs import field, frozen

DEFAULT_MESSAGE_LIMIT: Final = 25165824
HeaderValue: TypeAlias = bool | int | bytes | str

@final
@frozen(order=False)
class AwsMessage:
    headers: tuple[tuple[str, HeaderValue], ...]
    payload: bytes = field()
    offset: int = 0

    def text(self, name: str) -> str | None: ...

def aws_message(headers: Mapping[str, str], payload: bytes = b"") -> bytes: ...

@final
class AwsMessageDecoder:
    def __init__(self, limit: int = DEFAULT_MESSAGE_LIMIT) -> None: ...
    def feed(self, chunk: bytes) -> tuple[AwsMessage, ...]: ...
    def end(self) -> None: ...
