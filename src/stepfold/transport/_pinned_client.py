"""HTTP clients that reach a server under addresses that were checked, and under no other.

A name that is resolved again when the connection is made may resolve to something else by then. So
the address stands in the place of the name, and the name where a server looks for it: in the `Host`
header and in the handshake of TLS, whose certificate is checked against it. A proxy of the
environment is not used, since it would resolve names by itself.

Importing this imports httpx, and is left to the first download.
"""

from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from ipaddress import ip_address
from ssl import SSLContext
from typing import Final, final

import httpx

from stepfold.transport._client import BlockingHttpBody, HttpBody, HttpTimeout

_TIMEOUT: Final = (10.0, 60.0, 60.0, 60.0)
_ONE_REQUEST: Final = httpx.Limits(max_connections=1, max_keepalive_connections=0)


@cache
def _certificates() -> SSLContext:
    return httpx.create_ssl_context()


@final
class _Pin:
    """One request, written for each of the addresses in turn."""

    def __init__(
        self,
        addresses: Sequence[str],
        method: str,
        url: str,
        headers: Sequence[tuple[str, str]],
        timeout: HttpTimeout,
    ) -> None:
        named = httpx.URL(url)
        host = named.netloc.decode("ascii")
        # An address has no name for a certificate but itself.
        extensions = {} if _is_address(named.host) else {"sni_hostname": named.raw_host.decode()}
        self.requests: Final = [
            httpx.Request(
                method,
                named.copy_with(host=address),
                headers=[("host", host), *headers],
                extensions={**extensions, "timeout": _timeouts(timeout)},
            )
            for address in addresses
        ]

    def is_last(self, request: httpx.Request) -> bool:
        """Whether there is no other address to try."""
        return request is self.requests[-1]


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _timeouts(timeout: HttpTimeout) -> dict[str, float | None]:
    connect, read, write, pool = timeout
    return httpx.Timeout(connect=connect, read=read, write=write, pool=pool).as_dict()


@final
class PinnedClient:
    """An `HttpClient` for one request to one of these addresses, tried in turn."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses

    @asynccontextmanager
    async def stream(
        self,
        method: str,
        url: str,
        *,
        content: bytes,
        headers: Sequence[tuple[str, str]],
        timeout: HttpTimeout = _TIMEOUT,
        follow_redirects: bool,
    ) -> AsyncGenerator[HttpBody]:
        """Send a request, and give the response as soon as its headers are there."""
        pin = _Pin(self._addresses, method, url, headers, timeout)
        async with httpx.AsyncClient(
            verify=_certificates(), limits=_ONE_REQUEST, trust_env=False
        ) as client:
            for request in pin.requests:
                try:
                    response = await client.send(request, stream=True)
                except (httpx.ConnectError, httpx.ConnectTimeout):
                    if pin.is_last(request):
                        raise
                    continue
                try:
                    yield response
                finally:
                    await response.aclose()
                return


@final
class PinnedBlockingClient:
    """A `BlockingHttpClient` for one request to one of these addresses, tried in turn."""

    def __init__(self, addresses: Sequence[str]) -> None:
        self._addresses = addresses

    @contextmanager
    def stream(
        self,
        method: str,
        url: str,
        *,
        content: bytes,
        headers: Sequence[tuple[str, str]],
        timeout: HttpTimeout = _TIMEOUT,
        follow_redirects: bool,
    ) -> Generator[BlockingHttpBody]:
        """Send a request, and give the response as soon as its headers are there."""
        pin = _Pin(self._addresses, method, url, headers, timeout)
        with httpx.Client(verify=_certificates(), limits=_ONE_REQUEST, trust_env=False) as client:
            for request in pin.requests:
                try:
                    response = client.send(request, stream=True)
                except (httpx.ConnectError, httpx.ConnectTimeout):
                    if pin.is_last(request):
                        raise
                    continue
                try:
                    yield response
                finally:
                    response.close()
                return
