"""The heartbeat: a thread that registers the worker as alive, and renews the leases of its entries in flight.

It has its own event loop and connection, so that neither a blocking handler nor high load stops it. But a worker that
hangs must not keep its entries forever: once the main loop has been blocked for ``hang``, the thread stops renewing,
and other workers claim them.
"""

import asyncio
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from math import inf
from typing import Final

from streamops.errors import ServerError
from streamops.model.entries import EPOCH
from streamops.model.pools import PoolMode, RegisteredWorker, WorkerHeartbeat, WorkerState
from streamops.runtime.context import WorkerContext
from streamops.runtime.entry import ConsumerStream, Entry
from streamops.runtime.events import Event, Lost, Overran, Troubled
from streamops.runtime.groups import Groups
from streamops.wire.consuming.heartbeats import stop_beating, write_heartbeat
from streamops.wire.consuming.leases import Renewed, renew
from streamops.wire.pools.registry import clock_in, clock_out
from streamops.wire.server import Server

CHUNK: Final = 500
STALLED: Final = 3.0
"""Seconds without a turn of the main loop after which the heartbeat's state is ``stalled``."""


class Heartbeat:
    """The thread.

    Args:
        context: Its clock is set here; its events are emitted in the event loop that started the heartbeat.
        hang: How long the main loop may be blocked.
        payload: Makes the content of a heartbeat, with another state than the worker's if given.
        streams: The streams whose leases it renews.
        groups: Restores a group that was destroyed.

    Attributes:
        pulse: When the main loop last turned, on the monotonic clock; set by the main loop.
        paused: Whether the worker's pool is paused.
        failure: The exception that ended the thread; None while it runs.
    """

    def __init__(
        self,
        context: WorkerContext,
        hang: timedelta,
        payload: Callable[[WorkerState | None], WorkerHeartbeat],
        streams: Sequence[ConsumerStream],
        groups: Groups,
    ) -> None:
        self.pulse = time.monotonic()
        self.paused = False
        self.failure: BaseException | None = None
        self._context = context
        self._every = context.interval.total_seconds()
        self._hang = hang.total_seconds()
        self._payload = payload
        self._streams = streams
        self._groups = groups
        self._main_loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._main, name="streamops-heartbeat", daemon=True)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._started = threading.Event()

    def start(self) -> None:
        """Start the thread; events are emitted in the event loop that runs now."""
        self.pulse = time.monotonic()
        self._main_loop = asyncio.get_running_loop()
        self._thread.start()
        self._started.wait()

    def stop(self) -> None:
        """Stop the thread and remove the heartbeat's key; blocks until the server has answered."""
        if self._loop is not None and self._stop is not None and self._thread.is_alive():
            # The thread may end at this moment.
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
            # `start` waits for this also if the thread could not begin.
            self._started.set()

    async def _run(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        self._started.set()
        server = Server(self._context.server.options, tracker=self._context.server.tracker)
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
        """Write the heartbeat and renew leases once; seconds until the next time."""
        still = time.monotonic() - self.pulse
        shortest = min((stream.lease.total_seconds() for stream in self._streams), default=self._every)
        pause = min(self._every, shortest / 6)
        if still > self._hang:
            return pause
        try:
            await self._write_heartbeat(server, still)
        except ServerError:
            # The server does not answer; leases may expire, which is what they are for.
            return min(pause, 1.0)
        for stream in self._streams:
            try:
                await self._renew(server, stream)
            except ServerError as error:
                # An error of one stream must not cost the others their leases.
                self._emit(Troubled(stream.key, error))
        return pause

    async def _write_heartbeat(self, server: Server, still: float) -> None:
        payload = self._payload(WorkerState.STALLED if still > STALLED else None)
        asked = time.monotonic()
        server_ms = await write_heartbeat(server, payload, timedelta(seconds=self._every * 3))
        self._context.clock.learn(server_ms, asked, time.monotonic())
        self.paused = await clock_in(server, payload.pool, _registration(payload)) == PoolMode.PAUSED

    async def _renew(self, server: Server, stream: ConsumerStream) -> None:
        """Renew entries that have been in flight for a third of their lease."""
        # A copy is made in one step; the main loop goes on changing the original.
        held, asked, lease = stream.in_flight.copy(), time.monotonic(), stream.lease.total_seconds()
        old = [
            entry
            for entry in held.values()
            if entry.leased_at < asked - lease / 3 and not entry.lost and not entry.deleted
        ]
        for start in range(0, len(old), CHUNK):
            chunk = old[start : start + CHUNK]
            ids = [entry.raw_id for entry in chunk]
            renewed = await renew(server, stream.subscription, retries=stream.retries, ids=ids)
            # Entries not renewed in time may have been claimed and acknowledged by others, who then removed this consumer.
            since = max(self._context.clock.steady_since, asked - lease) if renewed.group_lost else inf
            self._note(stream, chunk, renewed, asked, since)

    def _note(
        self, stream: ConsumerStream, chunk: Iterable[Entry], renewed: Renewed, asked: float, since: float
    ) -> None:
        """Record the result of a renewal; an entry that is not pending though leased after ``since`` means a lost group."""
        sub, lost, gone = stream.subscription, {*renewed.lost}, {*renewed.gone}
        overrun, group_lost = 0, False
        for entry in chunk:
            if entry.raw_id in gone:
                entry.deleted = True
                self._emit(Lost(sub.stream, sub.group, entry.id, entry.deliveries))
            elif entry.raw_id not in lost:
                entry.leased_at = asked
            elif entry.leased_at > since:
                group_lost = True
            elif entry.raw_id in stream.in_flight:
                entry.lost = True
                overrun += 1
        if group_lost:
            self._in_main_loop(self._groups.group_lost, stream)
        if overrun:
            self._emit(Overran(sub.stream, sub.group, overrun))

    def _emit(self, event: Event) -> None:
        self._in_main_loop(self._context.events.emit, event)

    def _in_main_loop(self, call: Callable[..., None], *arguments: object) -> None:
        """Call a function in the main loop, unless that has ended."""
        if self._main_loop is not None:
            with suppress(RuntimeError):
                self._main_loop.call_soon_threadsafe(call, *arguments)

    async def _leave(self, server: Server) -> None:
        try:
            payload = self._payload(None)
            await stop_beating(server, payload.id)
            await clock_out(server, payload.pool, payload.id)
        except ServerError:
            # Its key expires.
            return


def _registration(payload: WorkerHeartbeat) -> RegisteredWorker:
    """A worker's row in the registry of its pool; the server fills in the time."""
    return RegisteredWorker(
        id=payload.id,
        at=EPOCH,
        slots=payload.slots,
        busy=payload.busy,
        worked=payload.worked,
        state=payload.state,
    )
