from collections.abc import AsyncIterator
from typing import final
from attrs import field, frozen

@final
@frozen(order=False)
class HttpRequest:
    method: str
    url: str = field()
    headers: tuple[tuple[str, str], ...] = field(default=())
    body: bytes = field(default=b"")

    def __attrs_post_init__(self) -> None: ...

@final
@frozen(order=False)
class HttpResponse:
    status: int
    headers: tuple[tuple[str, str], ...] = field(default=())
    body: bytes = field(default=b"")

    def header(self, name: str) -> str | None: ...

@final
@frozen(order=False, eq=False)
class StreamedResponse:
    status: int
    headers: tuple[tuple[str, str], ...] = field()
    chunks: AsyncIterator[bytes] = field()

    def header(self, name: str) -> str | None: ...
    async def read(self) -> HttpResponse: ...

def header_of(headers: tuple[tuple[str, str], ...], name: str) -> str | None: ...

@final
@frozen(order=False, kw_only=True)
class HttpLimits:
    connect: float = 10.0
    read: float = 300.0
    response_bytes: int = 67108864
