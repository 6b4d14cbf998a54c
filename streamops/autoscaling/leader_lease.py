"""The leader leases of a controller's pools: taken in one batch, fenced by their terms, and nothing done without them."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import msgspec
import structlog

from streamops.autoscaling.decisions import ControllerOptions, resumed
from streamops.autoscaling.policy.state import ScalingState
from streamops.autoscaling.pool_controller import PoolController, Troubles
from streamops.errors import StreamopsError
from streamops.model.pools import Pool
from streamops.wire.pools.leading import (
    LeaderCandidate,
    LeaderLease,
    LeaseRequest,
    keep_learned,
    leave_leases,
    list_pools,
    read_learned,
    take_leases,
)
from streamops.wire.server import Server

NO_LEADS: Final = "no pool can be led"
NO_LEAD: Final = "pool cannot be led"

_LEARNED: Final = msgspec.msgpack.Decoder(ScalingState)


class LeaderLeases:
    """Takes the leader leases of pools, and notices when one is lost.

    Args:
        server: The server that the pools are on.
        pools: The pools.
        options: How the controller works.
        clock: Seconds, ever rising.
    """

    def __init__(
        self,
        server: Server,
        pools: Sequence[PoolController],
        options: ControllerOptions,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._server = server
        self._pools = pools
        self._options = options
        self._candidate = LeaderCandidate(options.holder, options.lease, options.advise)
        self._clock = clock
        self._confirmed = -float("inf")
        self._log = structlog.get_logger("streamops")
        self._troubles = Troubles(self._log)

    async def take(self) -> None:
        """Take or keep the lease of each pool that no other controller has.

        While the server does not answer, whether a lease is still ours is not known, and nothing is done with it; once
        it has run out for certain, no target is asked for anything any more.
        """
        sent = self._clock()
        requests = [LeaseRequest(pool.name, pool.announced()) for pool in self._pools]
        try:
            leases = await take_leases(self._server, self._candidate, requests)
        except StreamopsError as error:
            await self._fail(error)
            return
        self._confirmed = sent
        self._troubles.clear(NO_LEADS)
        taken = [
            pool for pool, lease in zip(self._pools, leases, strict=True) if self._take_over(pool, lease)
        ]
        if taken:
            await self._begin(taken)
        for pool in self._pools:
            if not pool.leads:
                await pool.calls.drop()

    async def remind(self) -> None:
        """List the pools again, lest the list was lost, and keep what was learned. Raises ``StreamopsError``."""
        if led := self._led():
            await list_pools(self._server, led, "controller")
        await self.keep_learned()

    async def keep_learned(self) -> None:
        """Keep what was learned, for the next controller. Raises ``StreamopsError``."""
        led = [pool for pool in self._pools if pool.leads and pool.state.samples]
        if led:
            await keep_learned(self._server, {pool.name: msgspec.msgpack.encode(pool.state) for pool in led})

    async def leave(self) -> None:
        """Give the leases up, so that no candidate has to wait for them. Raises ``StreamopsError``."""
        led = self._led()
        for pool in self._pools:
            pool.leads = False
        if led:
            await leave_leases(self._server, self._options.holder, led)

    def _led(self) -> list[str]:
        return [pool.name for pool in self._pools if pool.leads]

    async def _fail(self, error: StreamopsError) -> None:
        self._troubles.warn_once(NO_LEADS, error.message)
        over = self._clock() - self._confirmed >= self._options.lease.total_seconds()
        for pool in self._pools:
            pool.leads = False
            if over:
                await pool.calls.drop()

    def _take_over(self, pool: PoolController, lease: LeaderLease | StreamopsError) -> bool:
        """Note who leads a pool; whether this controller begins to."""
        led, before = pool.leads, _holder(pool.pool)
        pool.leads = False
        if isinstance(lease, StreamopsError):
            pool.troubles.warn_once(NO_LEAD, lease.message)
            return False
        pool.lease, pool.leads = lease, lease.leads
        holder = _holder(lease.pool)
        if not lease.leads:
            if led:
                self._log.warning("lead lost", pool=pool.name, holder=holder)
            elif holder != before:
                self._log.info("waiting for the lead", pool=pool.name, holder=holder)
            return False
        pool.troubles.clear(NO_LEAD)
        last, pool.term = pool.term, 0 if lease.pool.lead is None else lease.pool.lead.term
        return pool.term != last

    async def _begin(self, pools: Sequence[PoolController]) -> None:
        """Take over: with what the controllers before have learned, if they left that behind."""
        names = [pool.name for pool in pools]
        learned: dict[str, bytes] = {}
        with suppress(StreamopsError):
            await list_pools(self._server, names, "controller")
        with suppress(StreamopsError):
            learned = await read_learned(self._server, names)
        for pool in pools:
            state = ScalingState()
            # What cannot be decoded another version wrote.
            with suppress(msgspec.DecodeError):
                if pool.name in learned and pool.lease is not None:
                    state = resumed(_LEARNED.decode(learned[pool.name]), pool.lease.now.timestamp())
            pool.begin(state)
            self._log.info("lead taken", pool=pool.name, term=pool.term, advise=self._options.advise)


def _holder(pool: Pool) -> str:
    return "" if pool.lead is None else pool.lead.holder
