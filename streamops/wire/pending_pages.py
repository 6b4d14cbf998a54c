"""A group's pending entries page by page, lowest ID first. Never with IDLE, which scans the whole list."""

from collections.abc import AsyncIterator, Sequence
from typing import Final

from streamops.wire.node import Argument, Command, Reply
from streamops.wire.server import Server

PAGE: Final = 1_000
"""Rows of pending entries that one call looks at: about a millisecond of the server's time."""

LAST_ID: Final = b"18446744073709551615-18446744073709551615"

Row = Sequence[Reply]
"""A row as it comes: ID, owner, idle milliseconds, deliveries."""


def pending_command(
    key: Argument, group: Argument, after: str | None, limit: int, consumer: Argument | None = None
) -> Command:
    """XPENDING of the rows after an ID, or of the first ones; of one consumer or of all."""
    owner = () if consumer is None else (consumer,)
    return ("XPENDING", key, group, "-" if after is None else f"({after}", "+", limit, *owner)


async def pending_pages(
    server: Server, key: str, group: Argument, consumer: Argument | None = None
) -> AsyncIterator[list[Row] | Exception]:
    """Every page of rows; the last thing may be the error that the server answered with.

    Raises:
        ServerError: The node did not answer.
    """
    after = None
    while True:
        page = await server.single(key, *pending_command(key, group, after, PAGE, consumer))
        yield page
        if isinstance(page, Exception) or (after := following(page)) is None:
            return


def following(page: Sequence[Row]) -> str | None:
    """The ID that the next page comes after; none where this was the last one."""
    # Nothing can be asked for after the very last ID.
    return page[-1][0].decode() if len(page) == PAGE and page[-1][0] != LAST_ID else None
