"""Which addresses a download may reach: those of the open internet, and those that were allowed.

A prompt comes from outside, and so do the addresses in it. Whoever writes one must not reach what
only this machine can: itself, its neighbours, or the service of a cloud that hands out keys.
"""

from collections.abc import Iterable
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)
from typing import Final, TypeAlias

from stepfold.values import UsageError

Network: TypeAlias = IPv4Network | IPv6Network
Address: TypeAlias = IPv4Address | IPv6Address

_LOCAL_NAMES: Final = ("localhost", "local", "internal", "home.arpa")
_GLOBAL_UNICAST: Final = IPv6Network("2000::/3")
_TRANSLATED: Final = IPv6Network("64:ff9b::/96")  # an IPv4 address in the last 32 bits


def networks_of(given: Iterable[str]) -> tuple[Network, ...]:
    """Networks by their notation, such as `10.1.0.0/16` or a single address.

    Raises:
        UsageError: one is none.
    """
    networks: list[Network] = []
    for text in given:
        try:
            networks.append(ip_network(text))
        except ValueError as error:
            msg = f"allowed_networks: expected networks such as '10.1.0.0/16': {error}"
            raise UsageError(msg) from None
    return tuple(networks)


def is_local_name(host: str) -> bool:
    """Whether a name is one of this machine, or of its own network, whatever it resolves to."""
    name = host.rstrip(".").lower()
    return any(name == local or name.endswith(f".{local}") for local in _LOCAL_NAMES)


def parsed_address(text: str) -> Address:
    """An address as a resolver gives it, without the name of an interface.

    Raises:
        ValueError: it is none.
    """
    return ip_address(text.partition("%")[0])


def is_in(address: Address, networks: tuple[Network, ...]) -> bool:
    """Whether an address, or the IPv4 address that it spells, is in one of the networks."""
    spelt = _spelt(address)
    return any(
        one.version == network.version and one in network
        for one in (address, *((spelt,) if spelt else ()))
        for network in networks
    )


def is_public(address: Address) -> bool:
    """Whether an address, or the IPv4 address that it spells, is one of the open internet.

    Those of tunnels are not: they lead to an IPv4 address that may be any.
    """
    spelt = _spelt(address)
    if spelt is not None:
        return is_public(spelt)
    if isinstance(address, IPv6Address) and (
        address not in _GLOBAL_UNICAST or address.sixtofour or address.teredo
    ):
        return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def _spelt(address: Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address is another spelling of: mapped, or translated."""
    if not isinstance(address, IPv6Address):
        return None
    if address in _TRANSLATED:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped
