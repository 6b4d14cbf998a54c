"""Topics' streams kept short: what every group has read and acknowledged goes, but for the newest entries."""

import asyncio
import logging
from datetime import timedelta
from typing import Final

from streamops.errors import NotFound, StreamopsError, Unreachable
from streamops.webhooks.registry import TopicRegistry
from streamops.wire.server import Server
from streamops.wire.writes.trim import How, trim_safely

LOG: Final = logging.getLogger("streamops.topics")
EVERY: Final = timedelta(seconds=30)
KEPT: Final = 10_000
"""Entries of a topic's stream that stay to be looked at, if nothing else needs them."""

SLICE: Final = How(most=1_000, exact=False)
MOST_SLICES: Final = 100


async def keep_short(book: TopicRegistry, every: timedelta = EVERY, kept: int = KEPT) -> None:
    """Trim again and again, until cancelled; never what a group has yet to read or to acknowledge."""
    while True:
        await asyncio.sleep(every.total_seconds())
        for listing in [*book.listings.values()]:
            try:
                await _trim(listing.place.server, listing.topic.key, kept)
            except StreamopsError as error:
                # There is no stream before the first message, and the registry reports servers that are away.
                silent = isinstance(error, (NotFound, Unreachable))
                level = logging.DEBUG if silent else logging.WARNING
                LOG.log(level, "%s is not trimmed: %s", listing.topic.key, error.message)


async def _trim(server: Server, stream: str, kept: int) -> None:
    for _ in range(MOST_SLICES):
        done = await trim_safely(server, stream, kept, SLICE)
        if done.removed < SLICE.most // 2:
            return
