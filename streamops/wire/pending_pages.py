"""A group's pending entries page by page, lowest ID first. Never with IDLE, which scans the whole list."""

from collections.abc import AsyncIterator, Sequence
from typing import Final, NamedTuple

from streamops.model.entries import EntryId, PendingEntry
from streamops.wire.batches import Request
from streamops.wire.faults import required
from streamops.wire.node import Command, Decoder, Reply
from streamops.wire.replies import decode_pending_rows
from streamops.wire.server import Server

PAGE: Final = 1_000
"""Rows of pending entries that one call looks at: about a millisecond of the server's time."""

LAST_ID: Final = b"18446744073709551615-18446744073709551615"

Row = Sequence[Reply]
"""A row as it comes: ID, owner, idle milliseconds, deliveries."""


class PendingRange(NamedTuple):
    """A page of a group's pending entries: ``limit`` rows after ``after``, of one consumer or of all."""

    stream: str
    group: str
    after: EntryId | str | None = None
    limit: int = PAGE
    consumer: str | None = None

    @property
    def command(self) -> Command:
        """XPENDING of these rows."""
        first = "-" if self.after is None else f"({self.after}"
        owner = () if self.consumer is None else (self.consumer,)
        return ("XPENDING", self.stream, self.group, first, "+", self.limit, *owner)

    def following(self, rows: Sequence[Row]) -> str | None:
        """The ID that the next page comes after; none where these rows were the last ones."""
        # Nothing can be asked for after the very last ID.
        return rows[-1][0].decode() if len(rows) == self.limit and rows[-1][0] != LAST_ID else None


async def pending_rows(server: Server, page: PendingRange) -> AsyncIterator[list[Row]]:
    """The rows of that page and of those after it, to the last one; raises ``ServerError`` where the group cannot be read."""
    after: EntryId | str | None = page.after
    while True:
        page = page._replace(after=after)
        rows: list[Row] = required(
            await server.single(page.stream, *page.command), f"group {page.stream}/{page.group}"
        )
        if rows:
            yield rows
        if (after := page.following(rows)) is None:
            return


async def pending_pages(server: Server, page: PendingRange) -> AsyncIterator[tuple[PendingEntry, ...]]:
    """The same, decoded."""
    async for rows in pending_rows(server, page):
        yield decode_pending_rows(rows)


def pending_by_id(
    stream: str, group: str, ids: Sequence[EntryId], decode: Decoder | None = None
) -> list[Request]:
    """What asks for the row of each ID: one row, or none where it is not pending."""
    return [Request(stream, ("XPENDING", stream, group, str(one), str(one), 1), decode) for one in ids]
