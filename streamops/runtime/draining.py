"""What a worker does with what it holds when it stops: confirm it, hand it back, say goodbye."""

import asyncio
import time
from collections.abc import Callable, Collection, Iterable
from typing import Final

from streamops.errors import ServerError
from streamops.runtime.acknowledger import Acknowledger
from streamops.runtime.entry import Entry, Side
from streamops.runtime.events import Event, Troubled
from streamops.wire.consuming.hearts import WORKER_PREFIX
from streamops.wire.consuming.leases import leave, release, release_all
from streamops.wire.server import Server

FAREWELLS: Final = 3
"""How often a worker that leaves tries to say so."""
PAUSE: Final = 0.1
GLANCE: Final = 0.005


class Drain:
    """Hands back what one worker holds on one server.

    Nothing here raises where the server is away: what could not be handed back is found by others, by and by.
    """

    def __init__(self, server: Server, emit: Callable[[Event], None]) -> None:
        self._server = server
        self._emit = emit
        self._handed_back: dict[Side, list[bytes]] = {}

    async def flush(self, acknowledgers: Iterable[Acknowledger], deadline: float) -> None:
        """Send the last acknowledgements, as long as there is time on the monotonic clock."""
        for acknowledger in acknowledgers:
            while acknowledger.unconfirmed:
                try:
                    await acknowledger.flush()
                except ServerError as error:
                    self._emit(Troubled(acknowledger.key, error))
                    if time.monotonic() > deadline:
                        return
                    await asyncio.sleep(PAUSE)
                else:
                    # What another task has under way is confirmed by that one.
                    await asyncio.sleep(GLANCE)

    async def hand_back(self, entries: Iterable[Entry], *, unstarted: bool) -> None:
        """Let others have entries at once; those that nobody ever started as if they had not been delivered."""
        for side, ids in by_side(entries).items():
            # First of all, so that they are renewed no more. A renewal under way is undone when the worker leaves.
            for raw_id in ids:
                side.in_flight.pop(raw_id, None)
            if not unstarted:
                self._handed_back[side] = ids
            try:
                await release(
                    self._server, side.subscription, retries=side.retries, ids=ids, unstarted=unstarted
                )
            except ServerError as error:
                self._emit(Troubled(side.key, error))

    async def leave(self, sides: Iterable[Side], kept: Iterable[Entry]) -> None:
        """Hand back whatever else is pending under our name, known or not; delete the consumer where nothing is.

        What was delivered into a reply that did not come before the reading ended counts as never delivered.

        Args:
            sides: What the worker reads.
            kept: Entries that something still works on, which nobody else may begin meanwhile.
        """
        ids = by_side(kept)
        for side in sides:
            for _ in range(FAREWELLS):
                if await self._left(side, ids.get(side, ())):
                    break
                await asyncio.sleep(PAUSE)

    async def _left(self, side: Side, kept: Collection[bytes]) -> bool:
        """Whether the server has heard that we leave one side."""
        sub = side.subscription
        came = {*side.in_flight, *self._handed_back.get(side, ())} - set(kept)
        # Under a name that others may have had before, older entries may be theirs.
        seen = b"0-0" if sub.consumer.startswith(WORKER_PREFIX) else side.last_seen
        try:
            await release_all(self._server, sub, retries=side.retries, keep=kept, came=came, seen=seen)
            await leave(self._server, sub, retries=side.retries)
        except ServerError as error:
            self._emit(Troubled(side.key, error))
            return False
        return True


def by_side(entries: Iterable[Entry]) -> dict[Side, list[bytes]]:
    """The IDs of entries, by where they come from."""
    ids: dict[Side, list[bytes]] = {}
    for entry in entries:
        if not entry.superseded:
            ids.setdefault(entry.side, []).append(entry.raw_id)
    return ids


async def cancel(tasks: Iterable[asyncio.Task[None]], limit: float | None = None) -> set[asyncio.Task[None]]:
    """Cancel tasks and wait for them to end; those that have not after so many seconds."""
    cancelled = [task for task in tasks if not task.done()]
    for task in cancelled:
        task.cancel()
    done, living = await asyncio.wait(cancelled, timeout=limit) if cancelled else (set(), set())
    for task in done:
        if not task.cancelled():
            task.exception()
    return living
