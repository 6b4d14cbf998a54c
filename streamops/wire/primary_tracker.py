"""The last known primary, shared by all clients of one process."""

from collections.abc import Sequence
from typing import NamedTuple

from redis.exceptions import ConnectionError as LostConnection


class PrimaryReplacedError(LostConnection):
    """Another server is the primary than before; it may lack entries of the former one."""


class NamedPrimary(NamedTuple):
    """The primary that a Sentinel names.

    Attributes:
        epoch: The number of the failover that made it the primary; lower at a Sentinel that has not heard of the last one.
        address: Its host and port.
    """

    epoch: int
    address: tuple[str, int]


class PrimaryTracker:
    """The last known primary: once one client learns of a failover, none sends to the former primary.

    Attributes:
        last: The primary that a Sentinel named last; none before the first answer.
        moves: How often a slot of a cluster has moved to another node.
    """

    def __init__(self) -> None:
        self.last: NamedPrimary | None = None
        self.moves = 0
        self._agreed: tuple[tuple[str, int], float] | None = None

    def is_newer_than(self, named: NamedPrimary) -> bool:
        """Whether the last known primary is later than this one."""
        return self.last is not None and self.last.epoch > named.epoch

    def follow(self, named: NamedPrimary) -> None:
        """Accept a primary."""
        self.last = named
        self._agreed = None

    def doubt(self) -> None:
        """Restart the count of ``agreed_for``: a Sentinel may know of a later primary."""
        self._agreed = None

    def agreed_for(self, late: Sequence[NamedPrimary], now: float) -> float:
        """Seconds for which Sentinels with an older epoch have agreed on one primary, since the last ``doubt``."""
        addresses = {named.address for named in late}
        if len(addresses) != 1:
            self.doubt()
            return 0.0
        (address,) = addresses
        if self._agreed is None or self._agreed[0] != address:
            self._agreed = address, now
        return now - self._agreed[1]
