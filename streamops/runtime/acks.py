"""Acknowledgements, gathered by number and time, and sent until the server has confirmed them.

An entry stays in hand until then: what is acknowledged twice does no harm, and what is not acknowledged is
handled again. Entries whose lease is fresh are acknowledged plainly; for all others a script looks first whether
they are still ours, so that nothing is acknowledged behind a new owner's back.
"""

import asyncio
from collections.abc import Callable
from typing import Final

from streamops.errors import ServerError
from streamops.runtime.entry import Entry, Side
from streamops.runtime.tally import Histogram
from streamops.wire.consuming.acknowledging import AckRow, acknowledge_checked, acknowledge_plain
from streamops.wire.server import Server

MOST: Final = 1000
"""Acknowledgements of one command."""
ENOUGH: Final = 100
"""How many are sent without waiting for more."""
PATIENCE: Final = 0.005
"""Seconds that fewer wait for more."""
PAUSE: Final = 0.2


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
        latencies: Histogram,
    ) -> None:
        self._server = server
        self._side = side
        self._lease = lease
        self._clock = clock
        self._troubled = troubled
        self._latencies = latencies
        self._wake = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self.finished: list[Entry] = []
        self._under_way: list[Entry] = []
        self.acknowledged = 0

    def add(self, entry: Entry) -> None:
        """An entry was handled."""
        finished = self.finished
        finished.append(entry)
        if len(finished) >= ENOUGH:
            self._wake.set()
        elif self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(PATIENCE, self._ring)

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
            if len(self.finished) >= ENOUGH:
                self._wake.set()
            elif self.finished and self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(PATIENCE, self._ring)

    async def flush(self) -> None:
        """Send everything; raises ``ServerError`` where the server does not answer."""
        while self.finished:
            await self._flush()

    @property
    def waiting(self) -> int:
        """How many are not confirmed."""
        return len(self.finished) + len(self._under_way)

    async def _flush_or_pause(self) -> None:
        try:
            await self._flush()
        except ServerError as error:
            self._troubled(error)
            await asyncio.sleep(PAUSE)

    async def _flush(self) -> None:
        batch, self.finished = self.finished[:MOST], self.finished[MOST:]
        self._under_way = batch
        try:
            await self._send(batch)
        except BaseException:
            # What became of them is not known: next time a script looks first.
            for entry in batch:
                entry.leased_at = float("-inf")
            self.finished = batch + self.finished
            raise
        finally:
            self._under_way = []
        in_hand, now_ms = self._side.in_hand, self._side.now_ms()
        observe = self._latencies.observe
        for entry in batch:
            raw_id = entry.raw_id
            in_hand.pop(raw_id, None)
            # For an entry of a retry stream this is the time of its last try alone.
            observe(max(0.0, now_ms - int(raw_id[: raw_id.index(b"-")])) / 1000)

    async def _send(self, batch: list[Entry]) -> None:
        fresh = self._clock() - self._lease / 2
        plain: list[bytes] = []
        checked: list[AckRow] = []
        retries = self._side.retries
        for entry in batch:
            if entry.leased_at > fresh and not retries and not entry.marks and entry.payload is None:
                plain.append(entry.raw_id)
            else:
                checked.append(AckRow(entry.raw_id, entry.payload_key))
        subscription = self._side.subscription
        if plain:
            self.acknowledged += await acknowledge_plain(self._server, subscription, plain)
        if checked:
            done = await acknowledge_checked(self._server, subscription, retries=retries, rows=checked)
            self.acknowledged += done.acknowledged
