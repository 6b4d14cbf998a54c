"""Which node of a cluster serves which slots, as CLUSTER SLOTS tells it. Pure."""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, NamedTuple

from redis.crc import key_slot

Address = tuple[str, int]


class SlotRange(NamedTuple):
    """Slots ``first`` to ``last``, both inclusive, and the address and node ID of their primary."""

    first: int
    last: int
    primary: Address
    ident: bytes = b""


class SlotMap:
    """The slots of a cluster by their primaries; a slot that is not served belongs to none.

    Attributes:
        ranges: Which slots are whose, in order.
        primaries: The addresses of all primaries.
    """

    def __init__(self, ranges: Sequence[SlotRange] = ()) -> None:
        self.ranges = sorted(ranges)
        self.primaries: tuple[Address, ...] = tuple(sorted({one.primary for one in ranges}))

    def primary_of(self, key: bytes) -> Address | None:
        """The address of the primary that serves a key; none if none does."""
        slot = key_slot(key)
        at = bisect_right(self.ranges, slot, key=lambda one: one.first) - 1
        return self.ranges[at].primary if at >= 0 and slot <= self.ranges[at].last else None


def decode_slots(reply: Sequence[Any], asked: str) -> SlotMap:
    """The reply of CLUSTER SLOTS.

    Args:
        reply: Rows of first slot, last slot, primary, replicas.
        asked: The host that was asked: a node that does not know its own name means this one.
    """
    return SlotMap(
        [
            SlotRange(first, last, _address(primary, asked), *primary[2:3])
            for first, last, primary, *_replicas in reply
        ]
    )


def _address(node: Sequence[Any], asked: str) -> Address:
    host, port = node[0], node[1]
    return asked if host in {None, b"", b"?"} else host.decode(), int(port)
