"""Reads on demand: a screen says what to read and who takes it; the app reads it in the background."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from pathlib import Path
from typing import Any, Final

from textual.message import Message
from textual.widget import Widget

from streamops.errors import StreamopsError, Unreachable
from streamops.monitor.pools import ServerWorkers
from streamops.present.topic_rows import read_topic_rows
from streamops.present.topics import TopicRow
from streamops.settings.topics import list_topics
from streamops.tui.source import Source


class Fetch(Message):
    """Read something, and hand it over.

    Attributes:
        asker: Whose it is: the read ends with it.
        read: Reads it; raises ``StreamopsError``.
        take: Takes what was read.
        failed: Takes the reason why it could not be read.
    """

    def __init__(
        self,
        asker: Widget,
        read: Callable[[Source], Awaitable[Any]],
        take: Callable[[Any], object],
        failed: Callable[[StreamopsError], object],
    ) -> None:
        super().__init__()
        self.asker = asker
        self.read = read
        self.take = take
        self.failed = failed


async def fetch(message: Fetch, source: Source | None) -> None:
    """Read what is asked for, and hand it over, or the reason why it could not be read."""
    try:
        if source is None:
            raise Unreachable("not connected", "wait for the connection, then press r")
        found = await message.read(source)
    except StreamopsError as error:
        message.failed(error)
        return
    taken = message.take(found)
    if isawaitable(taken):
        await taken


def problem(error: StreamopsError) -> str:
    """What is wrong, and what to do about it: which permission is missing, for one."""
    return ". ".join(part.rstrip(".") for part in (error.message, error.hint) if part)


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
