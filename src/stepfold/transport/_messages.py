"""Requests and responses as values; what they hold is not shown by their `repr`."""

from collections.abc import AsyncIterator
from typing import final

from attrs import field, frozen

from stepfold.transport._secrets import open_headers, open_url
from stepfold.values import UsageError


def _size(body: bytes) -> str:
    return f"<{len(body)} bytes>"


@final
@frozen(order=False)
class HttpRequest:
    """One request, whole. The `repr` hides header values, the query and the body.

    Raises:
        UsageError: if the address is not http(s), or a header is not one line of visible ASCII;
            the text names the header and not its value.
    """

    method: str
    url: str = field(repr=open_url)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=open_headers)
    body: bytes = field(default=b"", repr=_size)

    def __attrs_post_init__(self) -> None:
        if not self.url.startswith(("https://", "http://")):
            raise UsageError(
                f"expected an address that starts with https:// or http://, "
                f"got {open_url(self.url)!r}"
            )
        for name, value in self.headers:
            if not (name.isascii() and name.isprintable() and name and " " not in name):
                raise UsageError(f"expected a header name of visible ASCII, got {name!r}")
            if not (value.isascii() and value.replace("\t", " ").isprintable()):
                raise UsageError(
                    f"the value of the header {name} holds a line end or a character that is "
                    f"not ASCII; check what was pasted there"
                )


@final
@frozen(order=False)
class HttpResponse:
    """One response, whole; names of headers are lower-case."""

    status: int
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=open_headers)
    body: bytes = field(default=b"", repr=_size)

    def header(self, name: str) -> str | None:
        """The first value of a header, by its lower-case name."""
        return header_of(self.headers, name)


@final
@frozen(order=False, eq=False)
class StreamedResponse:
    """A response whose body is still to come; it can be read once, inside `open_stream`."""

    status: int
    headers: tuple[tuple[str, str], ...] = field(repr=open_headers)
    chunks: AsyncIterator[bytes] = field(repr=False)

    def header(self, name: str) -> str | None:
        """The first value of a header, by its lower-case name."""
        return header_of(self.headers, name)

    async def read(self) -> HttpResponse:
        """The response with what is left of its body."""
        body = b"".join([chunk async for chunk in self.chunks])
        return HttpResponse(self.status, self.headers, body)


def header_of(headers: tuple[tuple[str, str], ...], name: str) -> str | None:
    """The first value of a header, by its lower-case name."""
    for key, value in headers:
        if key == name:
            return value
    return None


@final
@frozen(order=False, kw_only=True)
class HttpLimits:
    """How long to wait, in seconds, and how much to read, in bytes.

    `read` bounds each wait for bytes, not a whole reply: it is the longest silence within a
    stream, and the longest thinking before a reply that comes in one piece.
    """

    connect: float = 10.0
    read: float = 300.0
    response_bytes: int = 67_108_864


DEFAULT_LIMITS = HttpLimits()
