"""Whether an address is this machine's own, whatever network it is of."""

import socket
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Final

DISCARD: Final = 9
"""A port, of which none is asked: a datagram socket that is connected sends nothing."""


def is_own_address(address: IPv4Address | IPv6Address) -> bool:
    """Whether an interface of this machine has an address, now.

    The kernel goes from an address to itself where it is its own, and from another one of its own to any other.
    """
    family = socket.AF_INET if isinstance(address, IPv4Address) else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as prober:
            prober.connect((str(address), DISCARD))
            source = prober.getsockname()[0]
    except (OSError, ValueError):
        # No way leads there.
        return False
    return ip_address(source.partition("%")[0]) == address
