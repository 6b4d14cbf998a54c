"""What a worker does with what is in flight when it stops: confirm it, hand it back, leave."""

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
"""How often a worker that leaves tries to say so."""
PAUSE: Final = 0.1
GLANCE: Final = 0.005


class Drain:
    """Hands back what is in flight in one worker.

    Nothing here raises where the server is away: what could not be handed back is found by others, by and by.
    """

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._handed_back: dict[ConsumerStream, list[bytes]] = {}

    async def flush(self, streams: Iterable[ConsumerStream], deadline: float) -> None:
        """Send the last acknowledgements, as long as there is time on the monotonic clock."""
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
                    # What another task has under way is confirmed by that one.
                    await asyncio.sleep(GLANCE)

    async def hand_back(self, entries: Iterable[Entry], *, unstarted: bool) -> None:
        """Let others have entries at once; those that were never started as if they had not been delivered."""
        for stream, some in by_stream(entries).items():
            ids = [entry.raw_id for entry in some]
            # First of all, so that they are renewed no more. A renewal under way is undone when the worker leaves.
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
        """Hand back whatever else is pending under our name, known or not; delete the consumer where nothing is.

        What was delivered into a reply that did not come before the reading ended counts as never delivered.

        Args:
            streams: What the worker reads.
            kept: Entries that something still works on, which no other worker may begin.
        """
        held = by_stream(kept)
        for stream in streams:
            ids = [entry.raw_id for entry in held.get(stream, ())]
            for _ in range(GOODBYES):
                if await self._left(stream, ids):
                    break
                await asyncio.sleep(PAUSE)

    async def _left(self, stream: ConsumerStream, kept: Collection[bytes]) -> bool:
        """Whether the server has heard that we leave one stream."""
        server, sub, retries = self._context.server, stream.subscription, stream.retries
        came = {*stream.in_flight, *self._handed_back.get(stream, ())} - set(kept)
        # Under a name that others may have had before, older entries may be theirs.
        seen = b"0-0" if sub.consumer.startswith(WORKER_PREFIX) else stream.last_seen
        try:
            await release_all(server, sub, retries=retries, keep=kept, came=came, seen=seen)
            await leave(server, sub, retries=retries)
        except ServerError as error:
            self._context.events.emit(Troubled(stream.key, error))
            return False
        return True
