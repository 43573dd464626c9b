"""Which addresses are of the open internet, whatever way they are spelt."""

import pytest

from stepfold.transport._addresses import (
    is_in,
    is_local_name,
    is_public,
    networks_of,
    parsed_address,
)
from stepfold.values import UsageError


@pytest.mark.parametrize(
    "text",
    [
        "93.184.216.34",
        "8.8.8.8",
        "2606:2800:220:1::1",
        "::ffff:8.8.8.8",  # mapped
        "64:ff9b::808:808",  # translated
    ],
)
def test_addresses_of_the_open_internet_are_public(text: str) -> None:
    """Also where a gateway translates them."""
    assert is_public(parsed_address(text))


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1",
        "127.8.8.8",
        "0.0.0.0",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",  # where clouds hand out keys
        "100.64.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "::",
        "::1",
        "::7f00:1",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "2001:db8::1",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "64:ff9b:1::1",
        "2002:7f00:1::",  # a tunnel to 127.0.0.1
        "2002:808:808::",  # a tunnel to wherever
        "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        "4000::1",
    ],
)
def test_all_others_are_not(text: str) -> None:
    """This machine, its neighbours, what is reserved, and what leads there."""
    assert not is_public(parsed_address(text))


@pytest.mark.parametrize(
    ("host", "is_local"),
    [
        ("localhost", True),
        ("LOCALHOST.", True),
        ("a.localhost", True),
        ("printer.local", True),
        ("metadata.google.internal", True),
        ("nas.home.arpa", True),
        ("example.org", False),
        ("local.example.org", False),
        ("mylocalhost", False),
    ],
)
def test_names_of_ones_own_network_are_known(host: str, is_local: bool) -> None:
    """Whatever they resolve to."""
    assert is_local_name(host) is is_local


def test_networks_are_allowed_by_their_notation() -> None:
    """An address that is mapped is in the network of the one that it spells."""
    networks = networks_of(["10.1.0.0/16", "::1"])

    assert is_in(parsed_address("10.1.2.3"), networks)
    assert is_in(parsed_address("::ffff:10.1.2.3"), networks)
    assert is_in(parsed_address("::1"), networks)
    assert not is_in(parsed_address("10.2.0.1"), networks)
    assert not is_in(parsed_address("fe80::1"), networks)
    with pytest.raises(UsageError, match=r"allowed_networks: expected networks such as"):
        networks_of(["10.1.0.1/16"])
