"""Reads on demand: a screen says what to read and who takes it; the app reads it in the background."""

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any

from textual.message import Message
from textual.widget import Widget

from streamops.errors import StreamopsError, Unreachable
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
