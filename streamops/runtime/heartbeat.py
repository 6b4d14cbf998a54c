"""The heartbeat: a thread that tells the server that this worker lives, and renews the leases of what it holds.

It has an event loop and a connection of its own, so that neither a handler that blocks nor a busy moment stops it.
But a worker that hangs for good must not keep its entries for ever: where the main loop has not turned for
``hang``, the thread stops, and others take over.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from math import inf
from typing import Final, NamedTuple

from streamops.errors import ServerError
from streamops.model.ids import EPOCH
from streamops.model.pools import PoolMode, RosterWorker
from streamops.model.workers import WorkerHeartbeat, WorkerState
from streamops.runtime.entry import Entry, Side
from streamops.wire.consuming.hearts import beat, stop_beating
from streamops.wire.consuming.leases import Renewed, renew
from streamops.wire.options import ConnectionOptions
from streamops.wire.pools.roster import clock_in, clock_out
from streamops.wire.server import Server

CHUNK: Final = 500
STALLED: Final = 3.0
"""Seconds without a turn of the main loop after which a worker says that it is stalled."""


class Clock:
    """The server's clock, as an offset to this machine's monotonic one."""

    def __init__(self) -> None:
        self._offset_ms: float | None = None

    def learn(self, server_ms: float, at: float) -> None:
        """The server said ``server_ms`` when the monotonic clock showed ``at`` seconds."""
        self._offset_ms = server_ms - at * 1000

    def now_ms(self) -> float:
        """Milliseconds since the epoch on the server's clock; this machine's before it was ever asked."""
        if self._offset_ms is None:
            return time.time_ns() / 1e6
        return time.monotonic() * 1000 + self._offset_ms


class Watch(NamedTuple):
    """Who is told of what happens to leases: always in the event loop that started the thread.

    Attributes:
        overran: Of how many entries others have taken over.
        deleted: Of entries that are in hand, and in their stream no more.
        bereft: That the group of a side was destroyed, and all that was pending in it.
        troubled: That leases could not be renewed.
    """

    overran: Callable[[Side, int], None]
    deleted: Callable[[Side, Sequence[Entry]], None]
    group_lost: Callable[[Side], None]
    troubled: Callable[[Side, ServerError], None]


class Heartbeat:
    """The thread.

    Attributes:
        clock: The server's clock, learnt with every beat.
        pulse: When the main loop last turned, on the monotonic clock; it sets this itself.
        paused: Whether the worker's pool was told to pause.
        failure: What ended the thread; none while all is well.
    """

    def __init__(
        self,
        options: ConnectionOptions,
        *,
        every: timedelta,
        hang: timedelta,
        payload_of: Callable[[WorkerState | None], WorkerHeartbeat],
        holdings: Callable[[], Iterable[tuple[Side, timedelta]]],
        watch: Watch,
        company: Server | None = None,
    ) -> None:
        self.clock = Clock()
        self.pulse = time.monotonic()
        self.paused = False
        self.failure: BaseException | None = None
        self._heard = self._since = -inf
        self._options = options
        self._every = every.total_seconds()
        self._hang = hang.total_seconds()
        self._payload_of = payload_of
        self._holdings = holdings
        self._watch = watch
        self._company = company
        self._main_loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._main, name="streamops-beat", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._started = threading.Event()

    def start(self) -> None:
        """Start beating; what there is to tell is told in the event loop that runs now."""
        self._main_loop = asyncio.get_running_loop()
        self._thread.start()
        self._started.wait()

    def is_steady(self) -> bool:
        """Whether the server has heard all beats of late.

        Where it has not, it or this machine was away, and others may not have been heard either though they live.
        """
        now = time.monotonic()
        return now - self._heard < 2 * self._every and now - self._since > 3 * self._every

    def stop(self) -> None:
        """Stop; the heartbeat's key is removed. Blocks for as long as the server takes to hear of it."""
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            # It may end by itself just now.
            with suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._stop.set)
        if self._thread.ident is not None:
            self._thread.join()

    def _main(self) -> None:
        try:
            asyncio.run(self._run())
        except BaseException as error:  # noqa: BLE001 - the worker raises it: nothing renews its leases any more
            self.failure = error
        finally:
            # Whoever waits for a thread that could not begin would wait for ever.
            self._started.set()

    async def _run(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._started.set()
        server = Server(self._options, company=self._company)
        try:
            while not self._stop.is_set():
                pause = await self._turn(server)
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._stop.wait()
            await self._leave(server)
        finally:
            await server.close()

    async def _turn(self, server: Server) -> float:
        """Beat and renew once; seconds until the next time."""
        silent = time.monotonic() - self.pulse
        shortest = min((lease.total_seconds() for _, lease in self._holdings()), default=self._every)
        pause = min(self._every, shortest / 6)
        if silent > self._hang:
            return pause
        try:
            await self._beat(server, silent)
        except ServerError:
            # The server is away; the entries' leases may run out, and that is what leases are for.
            return min(pause, 1.0)
        for side, lease in self._holdings():
            try:
                await self._renew(server, side, lease.total_seconds())
            except ServerError as error:
                # What one stream suffers from must not cost the others their leases.
                self._tell(self._watch.troubled, side, error)
        return pause

    async def _beat(self, server: Server, silent: float) -> None:
        payload_of = self._payload_of(WorkerState.STALLED if silent > STALLED else None)
        asked = time.monotonic()
        server_ms = await beat(server, payload_of, timedelta(seconds=self._every * 3))
        heard = time.monotonic()
        self.clock.learn(server_ms, (asked + heard) / 2)
        if heard - self._heard > 2 * self._every and self._heard > -inf:
            self._since = heard
        self._heard = heard
        self.paused = await clock_in(server, payload_of.pool, _on_roster(payload_of)) == PoolMode.PAUSED

    async def _renew(self, server: Server, side: Side, lease: float) -> None:
        """Renew what has been in hand for a third of its lease."""
        # A copy is made in one step; the main loop goes on changing the original.
        held = side.in_flight.copy()
        asked = time.monotonic()
        old = [
            entry
            for entry in held.values()
            if entry.leased_at < asked - lease / 3 and not entry.lost and not entry.gone
        ]
        for start in range(0, len(old), CHUNK):
            chunk = old[start : start + CHUNK]
            ids = [entry.raw_id for entry in chunk]
            renewed = await renew(server, side.subscription, retries=side.retries, ids=ids)
            # What was not renewed in time others may have taken over and acknowledged, and then removed this consumer.
            since = max(self._since, asked - lease) if renewed.group_lost else inf
            self._note(side, chunk, renewed, asked, since)

    def _note(self, side: Side, chunk: Iterable[Entry], renewed: Renewed, asked: float, since: float) -> None:
        """Note what became of leases; what is lost though it was leased since then is nobody else's."""
        lost, gone = {*renewed.lost}, {*renewed.gone}
        deleted, overrun, group_lost = [], 0, False
        for entry in chunk:
            if entry.raw_id in gone:
                entry.gone = True
                deleted.append(entry)
            elif entry.raw_id not in lost:
                entry.leased_at = asked
            elif entry.leased_at > since:
                group_lost = True
            elif entry.raw_id in side.in_flight:
                entry.lost = True
                overrun += 1
        if group_lost:
            self._tell(self._watch.group_lost, side)
        if deleted:
            self._tell(self._watch.deleted, side, deleted)
        if overrun:
            self._tell(self._watch.overran, side, overrun)

    def _tell(self, watcher: Callable[..., None], *told: object) -> None:
        """Have the main loop told; one that has ended needs to know nothing."""
        if self._main_loop is not None:
            with suppress(RuntimeError):
                self._main_loop.call_soon_threadsafe(watcher, *told)

    async def _leave(self, server: Server) -> None:
        try:
            payload_of = self._payload_of(None)
            await stop_beating(server, payload_of.id)
            await clock_out(server, payload_of.pool, payload_of.id)
        except ServerError:
            # It ends by itself.
            return


def _on_roster(payload_of: WorkerHeartbeat) -> RosterWorker:
    """What the roster of its pool says of a worker; the server puts its clock in."""
    return RosterWorker(
        id=payload_of.id,
        at=EPOCH,
        slots=payload_of.slots,
        busy=payload_of.busy,
        worked=payload_of.worked,
        state=payload_of.state,
    )
