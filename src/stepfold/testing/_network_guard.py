"""A guard that lets no test reach the network.

What is guarded is Python's own `socket`, below asyncio, trio, anyio, httpx and every other client
that is written in Python: the connections and datagrams of IP sockets, and the resolution of names.
While a guard is up, these are replaced; the last guard that comes down puts back what it found.
"""

import socket
from collections.abc import Callable
from ipaddress import IPv6Address, ip_address
from threading import Lock
from types import TracebackType
from typing import Protocol, Self, cast, final

from typing_extensions import ParamSpec, TypeVar

from stepfold.values import UsageError

P = ParamSpec("P")
A = TypeVar("A")
T = TypeVar("T")


@final
class NetworkBlocked(UsageError):
    """A test reached for the network; `address` is the host, and the port if one was named."""

    __module__ = "stepfold.testing"

    def __init__(self, address: str, *, loopback: bool = True) -> None:
        opened = "serve it on localhost" if loopback else "let loopback=True open localhost"
        super().__init__(
            f"{address}: expected a test that stays on this machine, got a call over the network, "
            f"which no_network() forbids: use a ScriptedModel, mock the tool, or {opened}"
        )
        self.address: str = address


@final
class _Watch:
    """What one guard allows, and what it refused."""

    def __init__(self, *, loopback: bool) -> None:
        self._loopback = loopback
        self.blocked: list[str] = []

    def refusal(self, host: str, port: object) -> NetworkBlocked | None:
        """Note what is forbidden, and say so; `None` for what is allowed."""
        if self._loopback and is_local(host):
            return None
        shown = f"[{host}]" if ":" in host else host
        address = shown if port in {None, "", 0} else f"{shown}:{port}"
        self.blocked.append(address)
        return NetworkBlocked(address, loopback=self._loopback)


@final
class NetworkGuard:
    """What `no_network` gives: a context manager, up for as long as its block.

    `blocked` lists what was refused, in order, also where the error was caught on its way (a
    failing tool is told to the model, for instance).
    """

    def __init__(self, *, loopback: bool) -> None:
        self._watch = _Watch(loopback=loopback)

    @property
    def blocked(self) -> tuple[str, ...]:
        """The addresses that were asked for and refused, in order."""
        return tuple(self._watch.blocked)

    def __enter__(self) -> Self:
        """Forbid the network to the whole process."""
        global _originals, _up  # noqa: PLW0603 (so is what is replaced)
        with _lock:
            if not _up:
                _originals = _replaced()
            _up = (*_up, self._watch)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        """Come down; with the last guard all is as before."""
        global _originals, _up  # noqa: PLW0603
        with _lock:
            place = _up.index(self._watch)
            _up = (*_up[:place], *_up[place + 1 :])
            if not _up:
                _restore(_originals)
                _originals = {}


def no_network(*, loopback: bool = True) -> NetworkGuard:
    """Forbid the network to this process, for the length of a `with` block.

        with no_network():
            run = agent.generate_sync("Hello")

    Every connection to another machine, every datagram to one and every resolution of its name
    raises `NetworkBlocked`, whichever thread or event loop it is made in. Addresses of this machine
    stay open (`localhost`, 127.0.0.0/8, ::1, and the unspecified ones that servers listen on),
    unless `loopback=False` (an event loop on Windows needs them). Sockets that are no IP sockets
    are left alone, as are connections that are open already.

    Guards can be nested and can overlap in threads: what any of them forbids is forbidden. Code
    that goes around Python's `socket` is not seen: uvloop, and libraries in C such as libpq.

    With pytest there is a fixture and a marker of the same name. For a whole test suite:

        @pytest.fixture(autouse=True)
        def offline() -> Iterator[None]:
            with no_network():
                yield

    A client that tries addresses in a task group of its own raises `NetworkBlocked` inside an
    `ExceptionGroup`; anyio does so for hosts that are written as numbers.
    """
    return NetworkGuard(loopback=loopback)


def is_local(host: str) -> bool:
    """Whether a host is this machine, as far as can be said without asking anyone."""
    name = host.lower().removesuffix(".")
    if not name or name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ip_address(name)
    except ValueError:
        return False
    if isinstance(address, IPv6Address):
        address = address.ipv4_mapped or address
    return address.is_loopback or address.is_unspecified


# --- what is replaced -------------------------------------------------------------------------


class _Method(Protocol):
    def __call__(self, bare: socket.socket, /, *arguments: object) -> object: ...


_lock = Lock()
_up: tuple[_Watch, ...] = ()
_originals: dict[str, object] = {}

_IP = frozenset({socket.AF_INET, socket.AF_INET6})
# Where the address is among the arguments of a method.
_METHODS = {"connect": 0, "connect_ex": 0, "sendto": -1, "sendmsg": 3}
_LOOKUPS = ("gethostbyname", "gethostbyname_ex", "gethostbyaddr")


def _replaced() -> dict[str, object]:
    """Put the guarded in place, and give what was there."""
    found: dict[str, object] = {}
    for name, place in _METHODS.items():
        original = cast("_Method | None", getattr(socket.socket, name, None))
        if original is not None:  # not every system has each
            found[f"socket.{name}"] = vars(socket.socket).get(name)
            setattr(socket.socket, name, _guarded_method(original, place))
    for name in (*_LOOKUPS, "getaddrinfo", "getnameinfo"):
        found[name] = getattr(socket, name)
    for name in _LOOKUPS:
        setattr(socket, name, _guarded_lookup(cast("Callable[[str], object]", found[name])))
    socket.getaddrinfo = _guarded_getaddrinfo(socket.getaddrinfo)
    socket.getnameinfo = _guarded_getnameinfo(socket.getnameinfo)
    return found


def _restore(originals: dict[str, object]) -> None:
    for name, original in originals.items():
        where, _, method = name.rpartition(".")
        if not where:
            setattr(socket, name, original)
        elif original is None:  # inherited: there was none of its own
            delattr(socket.socket, method)
        else:
            setattr(socket.socket, method, original)


def _guarded_method(original: _Method, place: int) -> _Method:
    def guarded(bare: socket.socket, /, *arguments: object) -> object:
        address = arguments[place] if place < len(arguments) else None
        if bare.family in _IP and isinstance(address, tuple):
            _refuse(*cast("tuple[object, ...]", address)[:2])
        return original(bare, *arguments)

    return guarded


def _guarded_lookup(original: Callable[[str], object]) -> Callable[[str], object]:
    def guarded(host: str, /) -> object:
        _refuse(host)
        return original(host)

    return guarded


def _guarded_getaddrinfo(original: Callable[P, T]) -> Callable[P, T]:
    def guarded(*arguments: P.args, **named: P.kwargs) -> T:
        given = {**dict(zip(("host", "port"), arguments, strict=False)), **named}
        _refuse(given.get("host"), given.get("port"))
        return original(*arguments, **named)

    return guarded


def _guarded_getnameinfo(original: Callable[[A, int], T]) -> Callable[[A, int], T]:
    def guarded(address: A, flags: int, /) -> T:
        if not flags & socket.NI_NUMERICHOST:  # with that flag nobody is asked
            _refuse(*cast("tuple[object, ...]", address)[:2])
        return original(address, flags)

    return guarded


def _refuse(host: object = None, port: object = None) -> None:
    name = host.decode("ascii", "replace") if isinstance(host, bytes | bytearray) else host
    told = name if isinstance(name, str) else ""
    refusals = [watch.refusal(told, port) for watch in _up]  # each of them keeps its list
    for refusal in refusals:
        if refusal is not None:
            raise refusal
