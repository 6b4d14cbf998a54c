"""The lead of pools, and what their controllers write down."""

from collections.abc import Mapping, Sequence

from streamops.errors import StreamopsError
from streamops.monitor.context import Place
from streamops.wire.pools.leading import (
    Bid,
    Bidder,
    Seat,
    Told,
    Written,
    keep_learned,
    leave_leads,
    list_pools,
    read_learned,
    take_leads,
    write_decisions,
)

__all__ = ["Bid", "Bidder", "Leads", "Seat", "Told", "Written"]


class Leads:
    """What one controller leads, asked and told in one batch for all its pools.

    Args:
        place: The server that the pools are on.
        bidder: The controller.
    """

    def __init__(self, place: Place, bidder: Bidder) -> None:
        self._server = place.server
        self._bidder = bidder

    async def take(self, bids: Sequence[Bid]) -> list[Seat | StreamopsError]:
        """Take or keep the lead of each pool that nobody else has; errors of single pools are among the answers.

        Raises:
            StreamopsError: No node answers.
        """
        return await take_leads(self._server, self._bidder, bids)

    async def announce(self, pools: Sequence[str]) -> None:
        """Note that these pools have a controller, so that they are found. Raises ``StreamopsError``."""
        await list_pools(self._server, pools, "controller")

    async def leave(self, pools: Sequence[str]) -> None:
        """Give leads up, so that nobody has to wait for them. Raises ``StreamopsError``."""
        await leave_leads(self._server, self._bidder.holder, pools)

    async def write_down(self, told: Sequence[Told]) -> list[Written]:
        """Write decisions down; the problem of each is a ``StalePlan`` where somebody else leads its pool now.

        Raises:
            StreamopsError: No node answers.
        """
        return await write_decisions(self._server, self._bidder.holder, told)

    async def learned(self, pools: Sequence[str]) -> dict[str, bytes]:
        """What the controllers before kept of what they learned, where something is left of it."""
        return await read_learned(self._server, pools)

    async def keep_learned(self, learned: Mapping[str, bytes]) -> None:
        """Keep what was learned, for whoever takes over."""
        await keep_learned(self._server, learned)
