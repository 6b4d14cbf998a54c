"""Addresses: where a server listens, and what is written as an address."""

from ipaddress import IPv4Address, IPv6Address, ip_address

from streamops.errors import SettingsError

Address = IPv4Address | IPv6Address


def as_address(host: str) -> Address | None:
    """A host that is written as an address; None if it is a name."""
    try:
        return ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return None


def parse_listen(written: str) -> tuple[str, int]:
    """Host and port of ``HOST:PORT`` or ``[V6]:PORT``; raises ``SettingsError``."""
    host, colon, port = written.rpartition(":")
    plain = host.removeprefix("[").removesuffix("]")
    if not colon or not plain or not (port.isascii() and port.isdigit()) or int(port) > 65535:  # noqa: PLR2004 - ports
        raise SettingsError("listen: not HOST:PORT", 'Write "127.0.0.1:8787", or "[::1]:8787".')
    return plain, int(port)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens at a host."""
    address = as_address(host)
    return host == "localhost" if address is None else address.is_loopback
