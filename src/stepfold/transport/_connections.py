"""Which client a request goes through, and how long it lives.

A model needs no closing, and nothing is left open in an event loop that ends, so a client lives
as long as something that is certain to end. In this order: that of the user; one for a block of
`async with` (or, without an event loop, `with`); one for the run whose model is asked, which the
run closes when it rests; else one for each exchange. Each run has its own, so that none can close
what another uses; a block is there to share one.
"""

from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from threading import Lock
from types import TracebackType
from typing import TYPE_CHECKING, Self, final

from anyio.lowlevel import RunVar
from attrs import define

from stepfold.ports import BLOCKING, KEEPER
from stepfold.transport._client import BlockingHttpClient, HttpClient
from stepfold.transport._messages import DEFAULT_LIMITS, HttpLimits
from stepfold.values import UsageError

if TYPE_CHECKING:
    from stepfold.transport._own_client import OwnBlockingClient, OwnClient


def _own_client() -> "OwnClient":
    from stepfold.transport._own_client import OwnClient

    return OwnClient()


def _own_blocking_client() -> "OwnBlockingClient":
    from stepfold.transport._own_client import OwnBlockingClient

    return OwnBlockingClient()


@define(eq=False)
class _Kept:
    """A client that is kept, and by how many blocks."""

    client: "OwnClient"
    users: int = 1


@define(eq=False)
class _KeptBlocking:
    client: "OwnBlockingClient"
    users: int = 1


# Per event loop, since an async client belongs to the loop that it was first used in.
_kept_here: RunVar[dict["HttpConnections", _Kept]] = RunVar("stepfold_http_connections")


def _kept_by_loop() -> dict["HttpConnections", _Kept]:
    try:
        return _kept_here.get()
    except LookupError:
        kept: dict[HttpConnections, _Kept] = {}
        _kept_here.set(kept)
        return kept


@final
class HttpConnections:
    """How requests reach their servers: through the user's client, a kept one, or one each.

    A client that was given is used as it is and never closed; its own timeouts hold unless
    `limits` are given too. May be entered and used, several times at once, from any number of
    tasks, event loops and threads.
    """

    def __init__(
        self,
        client: HttpClient | None = None,
        *,
        blocking_client: BlockingHttpClient | None = None,
        limits: HttpLimits | None = None,
    ) -> None:
        self._client = client
        self._blocking_client = blocking_client
        self._kept_blocking: _KeptBlocking | None = None
        self._lock = Lock()
        self.limits: HttpLimits = limits or DEFAULT_LIMITS
        self.keeps_timeouts: bool = client is not None and limits is None
        self.keeps_blocking_timeouts: bool = blocking_client is not None and limits is None

    @asynccontextmanager
    async def lease(self) -> AsyncGenerator[HttpClient]:
        """The client for one exchange on this event loop."""
        if self._client is not None:
            yield self._client
            return
        kept = _kept_by_loop().get(self)
        if kept is not None:
            yield kept.client
            return
        keeper = KEEPER.get()
        of_run = None if keeper is None else keeper.keep(self, _own_client)
        if of_run is not None:
            yield of_run
            return
        client = _own_client()
        try:
            yield client
        finally:
            await client.aclose()

    @contextmanager
    def lease_blocking(self) -> Generator[BlockingHttpClient]:
        """The client for one exchange without an event loop.

        Raises:
            UsageError: if only an async client was given; it may hold proxies and certificates
                that another one would lack.
        """
        if self._blocking_client is not None:
            yield self._blocking_client
            return
        if self._client is not None:
            raise UsageError(
                "a run without an event loop cannot use the async HTTP client that was given; "
                "give a sync one too: blocking_client=httpx.Client(...)"
            )
        kept = self._kept_blocking
        if kept is not None:
            yield kept.client
            return
        keeper = KEEPER.get()
        of_run = None if keeper is None else keeper.keep(self, _own_blocking_client)
        if of_run is not None:
            yield of_run
            return
        client = _own_blocking_client()
        try:
            yield client
        finally:
            client.close()

    async def __aenter__(self) -> Self:
        """Keep connections open on this event loop until the block is left."""
        if BLOCKING.get():
            return self.__enter__()
        kept = _kept_by_loop()
        if self in kept:
            kept[self].users += 1
        elif self._client is None:
            kept[self] = _Kept(_own_client())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close what was kept, when the last block of this event loop is left."""
        if BLOCKING.get():
            self.__exit__(kind, error, traceback)
            return
        kept = _kept_by_loop()
        mine = kept.get(self)
        if mine is not None:
            mine.users -= 1
            if mine.users == 0:
                del kept[self]
                await mine.client.aclose()

    def __enter__(self) -> Self:
        """Keep connections of runs without an event loop open until the block is left."""
        with self._lock:
            if self._kept_blocking is not None:
                self._kept_blocking.users += 1
            elif self._client is None and self._blocking_client is None:
                self._kept_blocking = _KeptBlocking(_own_blocking_client())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close what was kept, when the last block is left."""
        with self._lock:
            kept = self._kept_blocking
            if kept is None:
                return
            kept.users -= 1
            if kept.users > 0:
                return
            self._kept_blocking = None
        kept.client.close()


ONE_CLIENT_EACH = HttpConnections()
