"""Acknowledgements, gathered by number and time, and sent until the server has confirmed them.

An entry stays in hand until then: what is acknowledged twice does no harm, and what is not acknowledged is
handled again. Entries whose lease is fresh are acknowledged plainly; for all others a script looks first whether
they are still ours, so that nothing is acknowledged behind a new owner's back. So it does for entries of a primary that
was replaced, or of a slot that another node has by now: there they may be somebody else's.
"""

import asyncio
from collections.abc import Callable
from itertools import chain, groupby
from typing import Final

from streamops.errors import ServerError
from streamops.runtime.counts import Histogram
from streamops.runtime.entry import Entry, Side
from streamops.wire.consuming.acknowledging import AckRow, acknowledge_checked, acknowledge_plain
from streamops.wire.server import Server

MOST: Final = 1000
"""Acknowledgements of one command."""
ENOUGH: Final = 100
"""How many are sent without waiting for more."""
PATIENCE: Final = 0.005
"""Seconds that fewer wait for more."""
PAUSE: Final = 0.2


def _millisecond(entry: Entry) -> bytes:
    """The first part of an entry's ID."""
    return entry.raw_id.partition(b"-")[0]


class Acknowledger:
    """Acknowledges the entries of one side of a subscription.

    Attributes:
        finished: Entries that were handled and are not acknowledged yet.
        acknowledged: How many were, by the server's word.
    """

    def __init__(
        self,
        server: Server,
        side: Side,
        *,
        lease: float,
        clock: Callable[[], float],
        troubled: Callable[[ServerError], None],
        confirmed: Callable[[], None],
        latencies: Histogram,
    ) -> None:
        self._server = server
        self._side = side
        self._lease = lease
        self._clock = clock
        self._troubled = troubled
        self._confirmed = confirmed
        self._latencies = latencies
        self._wake = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._sent_at = 0.0
        self.finished: list[Entry] = []
        self._under_way: list[list[Entry]] = []
        self.acknowledged = 0

    def add(self, entry: Entry) -> None:
        """An entry was handled."""
        finished = self.finished
        finished.append(entry)
        if len(finished) == 1 or len(finished) == ENOUGH:
            self._arrange()

    def _arrange(self) -> None:
        """See to it that what there is will be sent: at once where the last time is long ago, else with others."""
        wait = self._sent_at + PATIENCE - self._clock()
        if wait <= 0 or len(self.finished) >= ENOUGH:
            self._wake.set()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(wait, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._wake.set()

    async def run(self) -> None:
        """Send what there is, for ever."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self._flush_or_pause()
            # What has come in meanwhile waits for more, unless it is enough already.
            if self.finished:
                self._arrange()

    async def flush(self) -> None:
        """Send everything; raises ``ServerError`` where the server does not answer."""
        while self.finished:
            await self._flush()

    @property
    def key(self) -> str:
        """The stream of its entries."""
        return self._side.key

    @property
    def unconfirmed(self) -> list[Entry]:
        """Entries that were handled and that the server has not confirmed."""
        return [*self.finished, *chain.from_iterable(self._under_way)]

    async def _flush_or_pause(self) -> None:
        try:
            await self._flush()
        except ServerError as error:
            self._troubled(error)
            await asyncio.sleep(PAUSE)

    async def _flush(self) -> None:
        batch, self.finished = self.finished[:MOST], self.finished[MOST:]
        self._sent_at = self._clock()
        # Two may be under way: the last ones of a worker that drains do not wait for those before them.
        self._under_way.append(batch)
        try:
            await self._send(batch)
        except BaseException:
            # What became of them is not known: next time a script looks first.
            for entry in batch:
                entry.leased_at = float("-inf")
            self.finished = batch + self.finished
            raise
        finally:
            self._under_way.remove(batch)
        in_flight = self._side.in_flight
        for entry in batch:
            if not entry.superseded:
                in_flight.pop(entry.raw_id, None)
        self._confirmed()
        self._observe(batch)

    def _observe(self, batch: list[Entry]) -> None:
        """Count how old entries had become; for those of a retry stream, since their last try alone."""
        now_ms = self._side.now_ms()
        # Many in a row were born in the same millisecond.
        for ms, born in groupby(batch, _millisecond):
            age = now_ms - int(ms) if ms.isdigit() else 0.0
            self._latencies.observe(max(0.0, age) / 1000, sum(1 for _ in born))

    async def _send(self, batch: list[Entry]) -> None:
        handovers, fresh = self._server.handovers, self._clock() - self._lease / 2
        plain: list[bytes] = []
        checked: list[AckRow] = []
        retries = self._side.retries
        for entry in batch:
            if entry.superseded:
                continue
            is_ours = entry.leased_at > fresh and entry.handovers == handovers
            if is_ours and not (retries or entry.marks or entry.payload_key):
                plain.append(entry.raw_id)
            else:
                digest = entry.digest if self._server.replaceable else ""
                checked.append(AckRow(entry.raw_id, entry.payload_key, digest))
        subscription = self._side.subscription
        if plain:
            self.acknowledged += await acknowledge_plain(self._server, subscription, plain, handovers)
        if checked:
            done = await acknowledge_checked(self._server, subscription, retries=retries, rows=checked)
            self.acknowledged += done.acknowledged
