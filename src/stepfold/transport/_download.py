"""Fetching a file whose address came from outside.

Only what the open internet offers to everybody is fetched. Each address that a name resolves to is
checked, and the connection goes to one that was checked; so is each redirect, which never leads
from https to http. How much and how long is bounded, and nothing of ours is sent along: no cookie,
no key, no user and password out of the address.

Written once for asyncio, trio and no event loop; see `stepfold.transport._exchange`.
"""

import socket
import time
from collections.abc import Callable, Iterable
from typing import Final, TypeAlias, final
from urllib.parse import SplitResult, urljoin, urlsplit

import anyio
import anyio.to_thread
from attrs import frozen

from stepfold.ports import BLOCKING, Download, Downloaded
from stepfold.transport._addresses import (
    Network,
    is_in,
    is_local_name,
    is_public,
    networks_of,
    parsed_address,
)
from stepfold.transport._connections import HttpConnections
from stepfold.transport._exchange import open_stream
from stepfold.transport._messages import HttpLimits, HttpRequest, StreamedResponse
from stepfold.transport._secrets import open_url
from stepfold.values import (
    Failure,
    ModelError,
    ModelErrorKind,
    ModelErrorReason,
    Success,
    UsageError,
    parse_data_url,
)

Resolve: TypeAlias = Callable[[str, int], Iterable[str]]
"""Gives the addresses of a host and port; blocks, and raises `OSError` if there are none."""

_HEADERS: Final = (("accept", "*/*"), ("user-agent", "stepfold"))
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_AGAIN_LATER: Final = frozenset({408, 425, 429})
_SAYS_NOTHING: Final = frozenset({"application/octet-stream", "binary/octet-stream"})


@final
@frozen(order=False, kw_only=True)
class DownloadLimits:
    """How much is fetched, in bytes, how long it may take, in seconds, and how many redirects.

    Raises:
        UsageError: one is negative, or there is no time or room at all.
    """

    size: int = 67_108_864
    seconds: float = 60.0
    redirects: int = 5

    def __attrs_post_init__(self) -> None:
        if self.size < 1 or not self.seconds > 0 or self.redirects < 0:
            msg = f"DownloadLimits: expected positive figures, got {self!r}"
            raise UsageError(msg)


def resolve_host(host: str, port: int) -> Iterable[str]:
    """The addresses of a host as the system knows them, in the order in which to try them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return dict.fromkeys(str(entry[4][0]) for entry in found)


def download_files(
    *,
    limits: DownloadLimits | None = None,
    allowed_networks: Iterable[str] = (),
    resolve: Resolve = resolve_host,
) -> Download:
    """Make what fetches files over http and https, and reads `data:` addresses.

    Only addresses of the open internet are reached: not this machine, no private, link-local,
    shared or reserved network, and none that a name or a redirect leads to. Proxies of the
    environment are not used. What it makes raises `ModelError`: of kind `bad-request` for what is
    refused, too large or not there, else of a kind that can be tried again.

    Args:
        limits: How much, how long and how far; 64 MiB, a minute and five redirects by default.
        allowed_networks: Networks that may be reached nevertheless, such as `10.1.0.0/16`.
        resolve: Gives the addresses of a name; the system does by default.

    Raises:
        UsageError: one of `allowed_networks` is no network.
    """
    return _Downloader(limits or DownloadLimits(), networks_of(allowed_networks), resolve)


@final
class _Downloader:
    def __init__(
        self, limits: DownloadLimits, allowed: tuple[Network, ...], resolve: Resolve
    ) -> None:
        self._limits = limits
        self._allowed = allowed
        self._resolve = resolve

    async def __call__(self, url: str, /) -> Downloaded:
        """Fetch a file.

        Raises:
            ModelError: it cannot be had.
        """
        seconds = self._limits.seconds
        deadline = time.monotonic() + seconds
        if BLOCKING.get():
            return await self._followed(url, deadline)
        with anyio.move_on_after(seconds):
            return await self._followed(url, deadline)
        raise _failed(url, _late(self._limits), "timeout")

    async def _followed(self, asked: str, deadline: float) -> Downloaded:
        if asked[:5].lower() == "data:":
            return _of_data_url(asked)
        url = asked
        for _ in range(self._limits.redirects + 1):
            target = _target(url)
            addresses = await self._checked(url, target)
            found = await self._got(target.geturl(), addresses, deadline)
            if isinstance(found, Downloaded):
                return found
            url = urljoin(url, found)
            if target.scheme == "https" and url.startswith("http:"):
                raise _failed(asked, "it redirects from https to http")
        raise _failed(asked, f"it redirects more than {self._limits.redirects} times")

    async def _checked(self, url: str, target: SplitResult) -> tuple[str, ...]:
        """The addresses of a host, each of which may be reached.

        Raises:
            ModelError: one may not.
        """
        host = target.hostname or ""
        port = target.port or (443 if target.scheme == "https" else 80)
        try:
            if BLOCKING.get():
                found = self._resolve(host, port)
            else:
                found = await anyio.to_thread.run_sync(
                    self._resolve, host, port, abandon_on_cancel=True
                )
            addresses = tuple(found)
            parsed = [parsed_address(text) for text in addresses]
        except (OSError, ValueError) as error:  # no such name, or no name at all
            problem = f"its host cannot be resolved ({type(error).__name__})"
            kind: ModelErrorKind = "connection" if isinstance(error, OSError) else "bad-request"
            raise _failed(url, problem, kind) from None
        if not parsed:
            raise _failed(url, "its host has no address", "connection")
        for address in parsed:
            if is_in(address, self._allowed):
                continue
            if is_local_name(host) or not is_public(address):
                problem = (
                    "it leads into a network that is not public; "
                    "if it shall, allow that to download_files"
                )
                raise _failed(url, problem)
        return addresses

    async def _got(self, url: str, addresses: tuple[str, ...], deadline: float) -> Downloaded | str:
        """What the server gives, or where it redirects to.

        Raises:
            ModelError: it gives neither.
        """
        try:
            request = HttpRequest("GET", url, _HEADERS)
            async with open_stream(request, self._connections(addresses)) as response:
                found = await self._read(response, deadline)
        except ModelError as error:
            raise _failed(url, error.reason.message, error.reason.kind) from None
        except UsageError:  # addresses that an HTTP client cannot write down
            raise _failed(url, "it is no address") from None
        if isinstance(found, _Fault):
            raise _failed(url, found.problem, found.kind)
        return found

    async def _read(
        self, response: StreamedResponse, deadline: float
    ) -> "Downloaded | str | _Fault":
        location = response.header("location")
        if response.status in _REDIRECTS and location is not None:
            return location
        if not 200 <= response.status < 300:
            later = response.status >= 500 or response.status in _AGAIN_LATER
            problem = f"the server answered {response.status}"
            return _Fault(problem, "server" if later else "bad-request")
        size = self._limits.size
        too_large = _Fault(f"it is larger than {size} bytes")
        promised = response.header("content-length") or ""
        if promised.isascii() and promised.isdigit() and int(promised[:20]) > size:
            return too_large
        chunks: list[bytes] = []
        async for chunk in response.chunks:
            chunks.append(chunk)
            size -= len(chunk)
            if size < 0:
                return too_large
            if time.monotonic() > deadline:
                return _Fault(_late(self._limits), "timeout")
        return Downloaded(b"".join(chunks), _said_type(response))

    def _connections(self, addresses: tuple[str, ...]) -> HttpConnections:
        from stepfold.transport._pinned_client import PinnedBlockingClient, PinnedClient

        seconds = self._limits.seconds
        return HttpConnections(
            PinnedClient(addresses),
            blocking_client=PinnedBlockingClient(addresses),
            limits=HttpLimits(
                connect=min(10.0, seconds),
                read=seconds,
                # Above our own limit, which is told in other words.
                response_bytes=2 * self._limits.size,
            ),
        )


@final
@frozen(order=False)
class _Fault:
    """Why a server's answer is no file."""

    problem: str
    kind: ModelErrorKind = "bad-request"


def _target(url: str) -> SplitResult:
    """An address taken apart.

    Raises:
        ModelError: it is none of http or https, or holds what must not be sent.
    """
    try:
        target = urlsplit(url)
        host, _ = target.hostname, target.port
    except ValueError:
        raise _failed(url, "it is no address") from None
    if target.scheme not in {"http", "https"}:
        raise _failed(url, "only http, https and data are fetched")
    if not host:
        raise _failed(url, "it names no host")
    if target.username is not None or target.password is not None:
        raise _failed(url, "it holds a user or a password")
    return target


def _of_data_url(url: str) -> Downloaded:
    match parse_data_url(url):
        case Success((media_type, data)):
            return Downloaded(data, media_type)
        case Failure(problem):
            raise _failed("data:…", problem)


def _said_type(response: StreamedResponse) -> str | None:
    said = (response.header("content-type") or "").partition(";")[0].strip().lower()
    return None if not said or said in _SAYS_NOTHING else said


def _late(limits: DownloadLimits) -> str:
    return f"it did not come within {limits.seconds:g} s"


def _failed(url: str, problem: str, kind: ModelErrorKind = "bad-request") -> ModelError:
    message = f"the file at {open_url(url)} cannot be fetched: {problem}"
    return ModelError(ModelErrorReason(kind, message))
