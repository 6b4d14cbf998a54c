"""The leads of a controller's pools: taken in one batch, and nothing done without them."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

import msgspec
import structlog

from streamops.autoscaling.assignment import ControllerOptions
from streamops.autoscaling.backoff import Troubles
from streamops.autoscaling.judging import resumed
from streamops.autoscaling.leads import Bid, Leads, Seat
from streamops.autoscaling.policy.state import ScalingState
from streamops.autoscaling.pool_controller import Duty
from streamops.errors import StreamopsError
from streamops.model.pools import Pool

NO_LEADS: Final = "no pool can be led"
NO_LEAD: Final = "pool cannot be led"

_LEARNED: Final = msgspec.msgpack.Decoder(ScalingState)


class Leadership:
    """Takes the lead of pools, and notices when it is lost.

    Args:
        leads: Asks the server.
        duties: The pools.
        options: How the controller works.
        clock: Seconds, ever rising.
    """

    def __init__(
        self,
        leads: Leads,
        duties: Sequence[Duty],
        options: ControllerOptions,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._leads = leads
        self._duties = duties
        self._options = options
        self._clock = clock
        self._confirmed = -float("inf")
        self._log = structlog.get_logger("streamops")
        self._troubles = Troubles(self._log)

    async def take(self) -> None:
        """Take or keep the lead of each pool that nobody else has.

        Where the server does not answer, whether a lead is still ours is not known, and nothing is done with it; once
        the lease has run out for certain, nobody is asked for anything any more.
        """
        sent = self._clock()
        bids = [Bid(duty.name, duty.announced()) for duty in self._duties]
        try:
            seats = await self._leads.take(bids)
        except StreamopsError as error:
            await self._fail(error)
            return
        self._confirmed = sent
        self._troubles.clear(NO_LEADS)
        taken = [duty for duty, seat in zip(self._duties, seats, strict=True) if self._seated(duty, seat)]
        await self._begin(taken)
        for duty in self._duties:
            if not duty.leads:
                await duty.drop()

    async def remind(self) -> None:
        """List the pools again, lest the list was lost, and keep what was learned. Raises ``StreamopsError``."""
        led = [duty.name for duty in self._duties if duty.leads]
        if led:
            await self._leads.announce(led)
        await self.keep_learned()

    async def keep_learned(self) -> None:
        """Keep what was learned, for whoever comes next. Raises ``StreamopsError``."""
        learned = {
            duty.name: msgspec.msgpack.encode(duty.state)
            for duty in self._duties
            if duty.leads and duty.state.samples
        }
        if learned:
            await self._leads.keep_learned(learned)

    async def leave(self) -> None:
        """Give the leads up, so that nobody has to wait for them. Raises ``StreamopsError``."""
        led = [duty.name for duty in self._duties if duty.leads]
        for duty in self._duties:
            duty.leads = False
        if led:
            await self._leads.leave(led)

    async def _fail(self, error: StreamopsError) -> None:
        self._troubles.tell(NO_LEADS, error.message)
        over = self._clock() - self._confirmed >= self._options.lease.total_seconds()
        for duty in self._duties:
            duty.leads = False
            if over:
                await duty.drop()

    def _seated(self, duty: Duty, seat: Seat | StreamopsError) -> bool:
        """Note who leads a pool; whether this controller begins to."""
        led = duty.leads
        if isinstance(seat, StreamopsError):
            duty.leads = False
            duty.troubles.tell(NO_LEAD, seat.message)
            return False
        before, duty.seat, duty.leads = duty.pool, seat, seat.leads
        term = _term(seat.pool)
        if not seat.leads:
            self._tell_waiting(duty, before, led=led)
            return False
        duty.troubles.clear(NO_LEAD)
        begins = term != duty.term
        duty.term = term
        return begins

    def _tell_waiting(self, duty: Duty, before: Pool, *, led: bool) -> None:
        """That somebody else leads, once."""
        holder = _holder(duty.pool)
        if led:
            self._log.warning("lead lost", pool=duty.name, holder=holder)
        elif holder != _holder(before):
            self._log.info("waiting for the lead", pool=duty.name, holder=holder)

    async def _begin(self, duties: Sequence[Duty]) -> None:
        """Take over: with what the ones before have learned, where they left that behind."""
        if not duties:
            return
        learned: dict[str, bytes] = {}
        with suppress(StreamopsError):
            await self._leads.announce([duty.name for duty in duties])
        with suppress(StreamopsError):
            learned = await self._leads.learned([duty.name for duty in duties])
        for duty in duties:
            duty.begin(_resumed(learned.get(duty.name), duty.seat))
            self._log.info("lead taken", pool=duty.name, term=duty.term, advise=self._options.advise)


def _resumed(learned: bytes | None, seat: Seat | None) -> ScalingState:
    if learned is None or seat is None:
        return ScalingState()
    try:
        return resumed(_LEARNED.decode(learned), seat.now.timestamp())
    except msgspec.DecodeError:
        # Another version wrote it.
        return ScalingState()


def _holder(pool: Pool) -> str:
    return "" if pool.lead is None else pool.lead.holder


def _term(pool: Pool) -> int:
    return 0 if pool.lead is None else pool.lead.term
