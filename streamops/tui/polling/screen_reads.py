"""Reads that several screens make; apart from the first screen, which needs none of what they import."""

import asyncio
import os
from pathlib import Path
from typing import Final

from streamops.monitor.pools import ServerWorkers
from streamops.resources.topics import TopicRow, read_topic_rows
from streamops.settings.topics import list_topics
from streamops.tui.source import Source

SHARE: Final = 0.25
"""Share of the time that going through all keys may keep a node busy."""


async def read_topics(source: Source, in_use: str | None) -> list[TopicRow]:
    """Every topic, of the configuration and of Redis.

    Args:
        source: Where to read.
        in_use: The context that the console is in; none if it is no configured one.
    """
    configured = await asyncio.to_thread(list_topics, os.environ, Path.cwd())
    return await read_topic_rows(source.topics, configured, in_use)


async def read_workers(source: Source, known: ServerWorkers | None = None) -> ServerWorkers:
    """Workers and pools: those of ``known`` again, else all there are, which goes through all keys."""
    return await (source.workers.with_pools(SHARE) if known is None else source.workers.again(known))
