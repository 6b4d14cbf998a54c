"""Which hosts callbacks may go to, so that no URL makes a worker talk to what only it can reach. Pure."""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from streamops.errors import SettingsError
from streamops.service.addresses import Address, as_address

Network = IPv4Network | IPv6Network

METADATA: Final = frozenset(map(ip_address, ("100.100.100.200", "192.0.0.192", "fd00:ec2::254")))
"""Where clouds serve a machine's credentials, apart from the link-local 169.254.169.254."""

THIS_MACHINE: Final = "this machine itself"
NAT64: Final = IPv6Network("64:ff9b::/96")


class Reach:
    """The hosts that may be called.

    Without a list these are all but the machine itself (loopback, and each of its own addresses), its link (link-local, where clouds keep their
    metadata), multicast and addresses that are none. With a list, only what it names may be called.
    Where private networks are denied, a name must lead to a public address too, listed or not; only an address or a
    network that is listed opens one of them.
    """

    def __init__(
        self,
        hosts: Sequence[str] = (),
        *,
        deny_private: bool = False,
        is_own: Callable[[Address], bool] = lambda _: False,
    ) -> None:
        """Read a list of names, patterns of names (``*.example.com``), addresses and networks.

        Args:
            hosts: The list; empty for none.
            deny_private: Whether addresses are refused that are not of the public internet.
            is_own: Whether an address is one of this machine's interfaces, now.

        Raises:
            SettingsError: One of them is none of these.
        """
        self._names: list[str] = []
        self._networks: list[Network] = []
        self._deny_private = deny_private
        self._is_own = is_own
        for host in hosts:
            try:
                self._networks.append(ip_network(host))
            except ValueError:
                self._names.append(_pattern(host))

    @cached_property
    def _listed(self) -> bool:
        return bool(self._names or self._networks)

    def refuses_host(self, host: str) -> str:
        """Why a host in a URL may not be called, by its name alone; empty if it may."""
        address = as_address(host)
        if address is not None:
            return self.refuses_address(address, host)
        name = host.lower().rstrip(".")
        if self._allows_name(name) or not self._listed or self._networks:
            # Where networks are listed, what the name resolves to decides.
            return "" if self._listed or not _is_local(name) else f"{host} is {THIS_MACHINE}"
        return f"{host} is not among the hosts that may be called"

    def refuses_address(self, address: Address, host: str) -> str:
        """Why an address that a host's name resolved to may not be called; empty if it may."""
        plain = _unwrapped(address)
        if any(plain in network for network in self._networks):
            return ""
        if self._listed and not self._allows_name(host.lower().rstrip(".")):
            return f"{host} ({plain}) is not among the hosts that may be called"
        kind = self._kind(plain) if self._deny_private or not self._listed else ""
        if not kind and self._deny_private and _is_private(plain):
            kind = "of a private network"
        return f"{host} ({plain}) is {kind}" if kind else ""

    def _kind(self, address: Address) -> str:
        return _kind(address) or (THIS_MACHINE if self._is_own(address) else "")

    def _allows_name(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self._names)


def _pattern(host: str) -> str:
    name = host.lower().rstrip(".")
    if not name or not set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-._*") or name.strip("*.") == "":
        raise SettingsError(
            f"{host!r}: neither a host, nor a pattern of hosts, nor a network",
            'Write "hooks.example.com", "*.example.com", "10.0.0.0/8" or "127.0.0.1".',
        )
    return name


def _is_private(address: Address) -> bool:
    # Site-local is out of use since 2004, and still routed in some networks.
    return not address.is_global or (isinstance(address, IPv6Address) and address.is_site_local)


def _is_local(name: str) -> bool:
    return name == "localhost" or name.endswith(".localhost")


def _unwrapped(address: Address) -> Address:
    """The IPv4 address inside an IPv6 one that is but another way of writing it."""
    if isinstance(address, IPv4Address):
        return address
    inner = address.ipv4_mapped or address.sixtofour
    if inner is None and address in NAT64:
        inner = IPv4Address(int(address) & 0xFFFFFFFF)
    return inner or address


def _kind(address: Address) -> str:
    """What an address is that no callback goes to unless it is listed; empty for an ordinary one."""
    if address.is_loopback or address.is_unspecified:
        return THIS_MACHINE
    if address.is_link_local or address in METADATA:
        return "an address of this machine's link, where clouds keep credentials"
    # Networks of ranges set aside; private ones are where services that are called mostly live.
    return "no address of a host" if address.is_multicast or address.is_reserved else ""
