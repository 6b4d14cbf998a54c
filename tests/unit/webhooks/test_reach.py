"""Which hosts may be called."""

from ipaddress import ip_address
from itertools import product

import pytest

from streamops.errors import SettingsError
from streamops.service.addresses import as_address
from streamops.webhooks.reach import Reach
from tests.support.tables import table


def refuses(reach: Reach, host: str, address: str | None = None) -> str:
    """What is said of a host in a URL, and of the address that it resolves to."""
    return reach.refuses_host(host) or (reach.refuses_address(ip_address(address), host) if address else "")


@table(
    "host",
    [
        "127.0.0.1",
        "127.8.9.1",
        "0.0.0.0",  # noqa: S104 - refused
        "::1",
        "[::1]",
        "::",
        "::ffff:127.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::7f00:1",
        "2002:7f00:0001::",
        "169.254.169.254",
        "fe80::1",
        "fe80::1%eth0",
        "fd00:ec2::254",
        "100.100.100.200",
        "192.0.0.192",
        "224.0.0.1",
        "ff02::1",
        "255.255.255.255",
        "localhost",
        "LOCALHOST.",
        "a.localhost",
    ],
)
def test_what_only_this_machine_reaches_is_refused(host: str) -> None:
    assert refuses(Reach(), host)


@table("host", ["93.184.216.34", "2606:2800::1", "10.0.0.5", "192.168.1.1", "hooks.example.net"])
def test_hosts_on_networks_are_not_refused(host: str) -> None:
    assert not refuses(Reach(), host)


@table("address", ["127.0.0.1", "::1", "169.254.169.254", "::ffff:7f00:1"])
def test_a_name_that_resolves_to_this_machine_is_refused(address: str) -> None:
    assert refuses(Reach(), "rebound.example.net", address)


@table(
    ("hosts", "host", "address", "allowed"),
    [
        (["hooks.example.net"], "hooks.example.net", "93.184.216.34", True),
        (["hooks.example.net"], "HOOKS.example.net.", "93.184.216.34", True),
        (["hooks.example.net"], "evil.example.net", "93.184.216.34", False),
        (["hooks.example.net"], "93.184.216.34", None, False),
        (["*.example.net"], "a.b.example.net", "10.0.0.1", True),
        (["*.example.net"], "example.net", "10.0.0.1", False),
        (["*.example.net"], "evilexample.net", "10.0.0.1", False),
        (["10.0.0.0/8"], "10.1.2.3", None, True),
        (["10.0.0.0/8"], "11.1.2.3", None, False),
        (["10.0.0.0/8"], "inner.example.net", "10.1.2.3", True),
        (["10.0.0.0/8"], "inner.example.net", "11.1.2.3", False),
        (["10.0.0.0/8"], "::ffff:10.1.2.3", None, True),
        (["127.0.0.1"], "localhost", "127.0.0.1", True),
        (["127.0.0.1"], "localhost", "127.0.0.2", False),
        (["localhost"], "localhost", "127.0.0.1", True),
    ],
)
def test_a_list_is_all_there_is(hosts: list[str], host: str, address: str | None, allowed: bool) -> None:  # noqa: FBT001 - a table
    assert (not refuses(Reach(hosts), host, address)) is allowed


PRIVATE = [
    "10.0.0.5",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "198.18.0.1",
    "fd12:3456::1",
    "fec0::1",
    "2001:0:5ef5:79fb::1",
    "::ffff:10.0.0.5",
    "64:ff9b::a00:5",
    "2002:0a00:0005::",
    "127.0.0.1",
    "::1",
    "169.254.169.254",
]


@table(("address", "hosts"), product(PRIVATE, [[], ["*.example.net"]]))
def test_private_networks_can_be_denied(address: str, hosts: list[str]) -> None:
    reach = Reach(hosts, deny_private=True)
    assert reach.refuses_address(ip_address(address), "inner.example.net")
    assert refuses(reach, address)


def test_what_is_public_or_listed_by_its_address_stays_open() -> None:
    for address in ("93.184.216.34", "2606:2800::1"):
        assert not refuses(Reach(deny_private=True), "hooks.example.net", address)
        assert not refuses(Reach(["*.example.net"], deny_private=True), "hooks.example.net", address)
    opened = Reach(["10.0.0.0/8"], deny_private=True)
    assert not refuses(opened, "inner.example.net", "10.1.2.3")
    assert not refuses(opened, "::ffff:10.1.2.3")
    assert refuses(opened, "inner.example.net", "192.168.1.1")


@table("host", ["", "*", "*.*", "http://h", "h/path", "h:80", "user@h", "a b", "10.0.0.0/33"])
def test_a_pattern_that_is_no_host_is_refused(host: str) -> None:
    with pytest.raises(SettingsError, match="neither a host"):
        Reach([host])


def test_names_of_hosts_are_no_addresses() -> None:
    assert as_address("example.net") is None
    assert as_address("127.1") is None
