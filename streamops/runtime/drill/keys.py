"""Where a drill writes: keys of its own under one hash tag, gone at its end, and soon after wherever it is killed."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from secrets import token_hex
from typing import Final

from streamops.errors import ServerError
from streamops.wire.consuming.drilling import open_streams, remove_keys, renew_keys
from streamops.wire.consuming.heartbeats import stop_beating
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.options import ConnectionOptions
from streamops.wire.pools.registry import clock_out
from streamops.wire.server import Server

PREFIX: Final = "streamops-drill"
GROUP: Final = "drill"
KEPT: Final = timedelta(minutes=2)
"""How long keys stay once they are not renewed."""
RENEWED: Final = 0.5


class DrillKeys:
    """The keys of one drill.

    Attributes:
        tag: What all of them begin with.
        pool: The pool of its workers.
        sub: Its stream and group.
        handled: The ledger: a bit for each event that was handled.
        repeated: How often one was handled again.
        workers: The IDs of all workers that ever were ready, whose heartbeats are removed at the end.
    """

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.pool = f"drill-{tag.strip('{}').rpartition(':')[2]}"
        self.sub = Subscription(f"{tag}:events", GROUP, "")
        self.handled, self.repeated = f"{tag}:handled", f"{tag}:repeated"
        self.workers: set[str] = set()

    @property
    def all(self) -> list[str]:
        """Every key of the drill, and what the runtime may keep beside its stream."""
        sub = self.sub
        beside = [sub.retries, sub.attempts, sub.delayed, sub.bodies, sub.dead_letters]
        return [sub.stream, self.handled, self.repeated, *beside]


def is_drill_pool(name: str) -> bool:
    """Whether a pool's name is one that a drill made."""
    return re.fullmatch(r"drill-[0-9a-f]{8}", name) is not None


def new_tag() -> str:
    """What the keys of a new drill begin with."""
    return f"{{{PREFIX}:{token_hex(4)}}}"


@asynccontextmanager
async def opened(options: ConnectionOptions, keys: DrillKeys) -> AsyncIterator[Server]:
    """An empty stream, renewed until the block ends and removed then; raises ``ServerError``.

    The stream is made here, and not with its first entry, so that there is no moment in which it would stay for ever;
    the same for the retry stream.
    """
    server = await Server.connect(options)
    try:
        renewing = asyncio.create_task(renew_for_ever(server, keys))
        try:
            await open_streams(server, [keys.sub.stream, keys.sub.retries], GROUP, KEPT)
            yield server
        finally:
            renewing.cancel()
            await asyncio.wait([renewing])
            # A server that is gone must not hide why; the keys go by themselves.
            with suppress(ServerError):
                for worker in keys.workers:
                    await stop_beating(server, worker)
                    await clock_out(server, keys.pool, worker)
                await remove_keys(server, keys.all)
    finally:
        await server.close()


async def renew_for_ever(server: Server, keys: DrillKeys) -> None:
    """Put off the end of the keys, until cancelled."""
    while True:
        with suppress(ServerError):
            await renew_keys(server, keys.all, KEPT)
        await asyncio.sleep(RENEWED)
