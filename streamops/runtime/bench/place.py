"""Where a benchmark writes: keys of its own under one hash tag, gone at its end, and soon after wherever it is killed."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from secrets import token_hex
from typing import Final

from streamops.errors import ServerError
from streamops.wire.consuming.benching import open_streams, remove_keys, renew_keys
from streamops.wire.consuming.hearts import stop_beating
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.options import ConnectionOptions
from streamops.wire.pools.roster import clock_out
from streamops.wire.server import Server

PREFIX: Final = "streamops-bench"
GROUP: Final = "bench"
POOL: Final = "bench"
KEPT: Final = timedelta(minutes=2)
"""How long keys stay where nobody renews them any more."""

KEPT_ON_REQUEST: Final = timedelta(hours=1)
RENEWED: Final = 0.5


class Place:
    """The keys of one benchmark.

    Attributes:
        server: Where they are.
        tag: What all of them begin with.
    """

    def __init__(self, server: Server, tag: str) -> None:
        self.server = server
        self.tag = tag
        self._keys: list[str] = []
        self._workers: list[str] = []

    async def stream(self, name: str) -> str:
        """An empty stream of this benchmark, with its group, which stands at the beginning.

        It is made here, and not with its first entry, so that there is no moment in which it would stay for ever;
        the same for the retry stream. The keys that the runtime keeps beside it go with it.
        """
        stream = self.key(name)
        beside = keys_beside(stream)
        self._keys += beside
        await open_streams(self.server, [stream, beside[0]], GROUP, KEPT)
        return stream

    def key(self, name: str) -> str:
        """Another key of this benchmark."""
        key = f"{self.tag}:{name}"
        self._keys.append(key)
        return key

    async def drop(self, stream: str) -> None:
        """Remove a stream, and what is beside it."""
        await remove_keys(self.server, [stream, *keys_beside(stream)])

    async def renew(self) -> None:
        """Put off the end of the keys."""
        await renew_keys(self.server, self._keys, KEPT)

    def note_workers(self, ids: Iterable[str]) -> None:
        """Have the heartbeats of killed workers removed as well."""
        self._workers += ids

    async def renew_for_ever(self) -> None:
        """Put off the end of the keys, until cancelled."""
        while True:
            if self._keys:
                with suppress(ServerError):
                    await self.renew()
            await asyncio.sleep(RENEWED)

    async def clear(self, *, keep: bool) -> None:
        """Remove all keys, or let them go in an hour."""
        for worker in self._workers:
            await stop_beating(self.server, worker)
            await clock_out(self.server, POOL, worker)
        if not self._keys:
            return
        if keep:
            await renew_keys(self.server, self._keys, KEPT_ON_REQUEST)
        else:
            await remove_keys(self.server, self._keys)


def new_tag() -> str:
    """What the keys of a new benchmark begin with."""
    return f"{{{PREFIX}:{token_hex(4)}}}"


def keys_beside(stream: str) -> list[str]:
    """What the runtime may keep beside a stream, as it is used here; the retry stream first."""
    sub = Subscription(stream, GROUP, "")
    return [sub.retries, sub.attempts, sub.delayed, sub.bodies, sub.dead_letters]


@asynccontextmanager
async def bench_place(options: ConnectionOptions, tag: str, *, keep: bool) -> AsyncIterator[Place]:
    """A place that is cleared however the block ends; raises ``ServerError`` where the server does not answer."""
    server = await Server.connect(options)
    try:
        place = Place(server, tag)
        keeper = asyncio.create_task(place.renew_for_ever())
        try:
            yield place
        finally:
            keeper.cancel()
            await asyncio.wait([keeper])
            # A server that is gone must not hide why; the keys go by themselves.
            with suppress(ServerError):
                await place.clear(keep=keep)
    finally:
        await server.close()
