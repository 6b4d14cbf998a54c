"""The lead of pools, and what their controllers write down."""

from collections.abc import Mapping, Sequence
from datetime import timedelta

from streamops.model.pools import Pool, PoolDecision
from streamops.operate.acting.place import Place
from streamops.wire.pools.leading import (
    Seat,
    keep_learned,
    leave_lead,
    read_learned,
    take_lead,
    write_decision,
)
from streamops.wire.pools.records import list_pool


class Leads:
    """What one controller leads.

    Args:
        place: The server that the pools are on.
        holder: The controller.
        lease: How long others wait after it was heard of last.
    """

    def __init__(self, place: Place, holder: str, lease: timedelta) -> None:
        self._server = place.server
        self._holder = holder
        self._lease = lease
        self._listed: set[str] = set()

    async def take(self, pool: Pool, announced: Mapping[str, str]) -> Seat:
        """Take or keep the lead of a pool, unless somebody else has it. Raises ``StreamopsError``."""
        if pool.name not in self._listed:
            await list_pool(self._server, pool.name, "controller")
            self._listed.add(pool.name)
        return await take_lead(self._server, pool.name, self._holder, self._lease, announced)

    async def leave(self, pools: Sequence[str]) -> None:
        """Give leads up, so that nobody has to wait for them. Raises ``StreamopsError``."""
        for pool in pools:
            await leave_lead(self._server, pool, self._holder)

    async def write_down(self, pool: Pool, decision: PoolDecision, *, log: bool) -> None:
        """Write a decision down.

        Raises:
            StalePlan: Somebody else leads the pool now.
            StreamopsError: It could not be written.
        """
        await write_decision(self._server, pool, self._holder, decision, log=log)

    async def learned(self, pool: str) -> bytes | None:
        """What the controller before kept of what it learned; none where nothing is left of it."""
        return await read_learned(self._server, pool)

    async def keep_learned(self, learned: Mapping[str, bytes]) -> None:
        """Keep what was learned, for whoever takes over."""
        await keep_learned(self._server, learned)
