"""What a guard against the network lets through."""

import socket
from contextlib import suppress
from ipaddress import IPv4Address, IPv6Address

from hypothesis import given
from hypothesis import strategies as st

from stepfold.testing import NetworkBlocked, no_network

PORTS = st.integers(min_value=1, max_value=65535)


def refused(address: str, port: int, *, loopback: bool) -> bool:
    """Whether a guard refuses an address; the resolution of a number asks nobody."""
    with no_network(loopback=loopback):
        try:
            socket.getaddrinfo(address, port)
        except NetworkBlocked:
            return True
    return False


@given(st.ip_addresses(), PORTS)
def test_of_all_addresses_those_of_this_machine_are_open(
    address: IPv4Address | IPv6Address, port: int
) -> None:
    is_here = address.is_loopback or address.is_unspecified
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        is_here = address.ipv4_mapped.is_loopback or address.ipv4_mapped.is_unspecified

    assert refused(str(address), port, loopback=True) is not is_here
    assert refused(str(address), port, loopback=False)


@given(st.ip_addresses(network="127.0.0.0/8"), PORTS)
def test_all_of_loopback_is_this_machine(address: IPv4Address, port: int) -> None:
    assert not refused(str(address), port, loopback=True)
    assert not refused(f"::ffff:{address}", port, loopback=True)


@given(st.lists(st.booleans(), max_size=6), st.permutations(range(6)))
def test_guards_leave_no_trace_in_whatever_order_they_come_down(
    kinds: list[bool], order: list[int]
) -> None:
    before = (socket.getaddrinfo, socket.socket.connect)
    guards = [no_network(loopback=loopback) for loopback in kinds]
    for guard in guards:
        guard.__enter__()
    for place in (place for place in order if place < len(guards)):
        with suppress(NetworkBlocked):
            socket.getaddrinfo("192.0.2.1", 80)
        guards[place].__exit__(None, None, None)

    assert all(guard.blocked for guard in guards)
    assert (socket.getaddrinfo, socket.socket.connect) == before
