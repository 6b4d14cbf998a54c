"""What a stopping worker does with entries in flight: acknowledge them, or hand them back; then remove its consumers."""

import asyncio
import time
from collections.abc import Collection, Iterable
from typing import Final

from streamops.errors import ServerError
from streamops.runtime.context import WorkerContext
from streamops.runtime.entry import HANDED_BACK, ConsumerStream, Entry, by_stream
from streamops.runtime.events import Troubled
from streamops.wire.consuming.heartbeats import WORKER_PREFIX
from streamops.wire.consuming.leases import leave, release, release_all

GOODBYES: Final = 3
"""How often a leaving worker tries to reach the server."""
PAUSE: Final = 0.1
GLANCE: Final = 0.005


class Drain:
    """Hands back the entries in flight of one worker.

    It raises nothing if the server does not answer: other workers claim the entries once their leases expire.
    """

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._handed_back: dict[ConsumerStream, list[bytes]] = {}

    async def flush(self, streams: Iterable[ConsumerStream], deadline: float) -> None:
        """Send the last acknowledgements, until ``deadline`` on the monotonic clock."""
        for stream in streams:
            while stream.unconfirmed:
                try:
                    await stream.flush()
                except ServerError as error:
                    self._context.events.emit(Troubled(stream.key, error))
                    if time.monotonic() > deadline:
                        return
                    await asyncio.sleep(PAUSE)
                else:
                    # Another task may have a batch under way.
                    await asyncio.sleep(GLANCE)

    async def hand_back(self, entries: Iterable[Entry], *, unstarted: bool) -> None:
        """Let other workers claim entries immediately; those never started count as never delivered."""
        for stream, some in by_stream(entries).items():
            ids = [entry.raw_id for entry in some]
            # First, so that their leases are not renewed. A renewal under way is undone when the worker leaves.
            for entry in some:
                stream.drop(entry, HANDED_BACK)
            if not unstarted:
                self._handed_back[stream] = ids
            sub, server = stream.subscription, self._context.server
            try:
                await release(server, sub, retries=stream.retries, ids=ids, unstarted=unstarted)
            except ServerError as error:
                self._context.events.emit(Troubled(stream.key, error))

    async def leave(self, streams: Iterable[ConsumerStream], kept: Iterable[Entry]) -> None:
        """Hand back all other entries pending under our name, known or not; delete consumers without pending entries.

        Entries of a reply that did not arrive before reading stopped count as never delivered.

        Args:
            streams: The streams that the worker reads.
            kept: Entries whose handlers still run, which no other worker may start.
        """
        held = by_stream(kept)
        for stream in streams:
            ids = [entry.raw_id for entry in held.get(stream, ())]
            for _ in range(GOODBYES):
                if await self._left(stream, ids):
                    break
                await asyncio.sleep(PAUSE)

    async def _left(self, stream: ConsumerStream, kept: Collection[bytes]) -> bool:
        """Hand back one stream's entries and delete the consumer; whether the server answered."""
        server, sub, retries = self._context.server, stream.subscription, stream.retries
        came = {*stream.in_flight, *self._handed_back.get(stream, ())} - set(kept)
        # Under a configured name, entries from before this worker's first read may be a former worker's.
        seen = b"0-0" if sub.consumer.startswith(WORKER_PREFIX) else stream.last_seen
        try:
            await release_all(server, sub, retries=retries, keep=kept, came=came, seen=seen)
            await leave(server, sub, retries=retries)
        except ServerError as error:
            self._context.events.emit(Troubled(stream.key, error))
            return False
        return True
