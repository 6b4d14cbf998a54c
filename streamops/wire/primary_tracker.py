"""Who serves what another server served before, as far as anybody of a company has heard."""

from collections.abc import Sequence
from typing import NamedTuple

from redis.exceptions import ConnectionError as LostConnection


class PrimaryReplacedError(LostConnection):
    """Another server is the primary than the one that was asked so far, and may know less."""


class NamedPrimary(NamedTuple):
    """Whom a Sentinel names.

    Attributes:
        epoch: The number of the failover that made it the primary; a Sentinel that was told late has a lower one.
        address: Its host and port.
    """

    epoch: int
    address: tuple[str, int]


class PrimaryTracker:
    """Who the primary is, as far as anybody of a company has heard: none of them goes on with a former one then.

    Attributes:
        last: Whom the Sentinels named last; none before they were asked.
        moves: How often a slot of a cluster was seen to be another node's than before.
    """

    def __init__(self) -> None:
        self.last: NamedPrimary | None = None
        self.moves = 0
        self._agreed: tuple[tuple[str, int], float] | None = None

    def is_newer_than(self, named: NamedPrimary) -> bool:
        """Whether a later primary was heard of."""
        return self.last is not None and self.last.epoch > named.epoch

    def follow(self, named: NamedPrimary) -> None:
        """Somebody is believed."""
        self.last = named
        self._agreed = None

    def doubt(self) -> None:
        """There is a Sentinel that may know better than those that were told late."""
        self._agreed = None

    def agreed_for(self, late: Sequence[NamedPrimary], now: float) -> float:
        """Seconds for which those that were told late have named one and the same, without a doubt meanwhile."""
        addresses = {named.address for named in late}
        if len(addresses) != 1:
            self.doubt()
            return 0.0
        (address,) = addresses
        if self._agreed is None or self._agreed[0] != address:
            self._agreed = address, now
        return now - self._agreed[1]
