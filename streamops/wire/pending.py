"""A group's pending entries: pages, rows by their IDs, those that can be claimed, those that are no longer in their stream.

Pages are in the order of IDs and never asked for with IDLE, which scans the whole list.
"""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from datetime import timedelta
from typing import Final, NamedTuple

from msgspec import Struct

from streamops.model.entries import EntryId, PendingEntry
from streamops.model.pending import DeletedPending, PendingSelection, Unfit
from streamops.model.text import name_bytes
from streamops.wire.batches import Request
from streamops.wire.faults import Fault, FaultKind, fault, required, with_faults
from streamops.wire.node import Command, Decoder, Reply
from streamops.wire.reads import read_each
from streamops.wire.replies import decode_name, decode_pending_rows
from streamops.wire.script_calls import Call, run_script
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
        """The ID that the next page comes after; None if these rows were the last ones."""
        # Nothing can be asked for after the very last ID.
        return rows[-1][0].decode() if len(rows) == self.limit and rows[-1][0] != LAST_ID else None


async def read_pending(
    server: Server, ranges: Sequence[PendingRange]
) -> list[tuple[PendingEntry, ...] | Fault]:
    """XPENDING of each range."""
    requests = [Request(page.stream, page.command, decode_pending_rows) for page in ranges]
    return with_faults((await server.batch(requests)).replies)


async def read_pending_page(server: Server, page: PendingRange) -> tuple[PendingEntry, ...]:
    """One such page; raises ``ServerError`` if the group cannot be read."""
    (rows,) = await read_pending(server, [page])
    return required(rows, f"group {page.stream}/{page.group}")


async def pending_rows(server: Server, page: PendingRange) -> AsyncIterator[list[Row]]:
    """The rows of that page and of those after it, to the last one; raises ``ServerError`` if the group cannot be read."""
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
    """Requests for the row of each ID; the reply to each is a list of one row, or an empty one if it is not pending."""
    return [Request(stream, ("XPENDING", stream, group, str(one), str(one), 1), decode) for one in ids]


async def read_pending_by_id(
    server: Server, stream: str, group: str, ids: Sequence[EntryId]
) -> list[PendingEntry]:
    """The rows of those IDs that are pending, in their order; raises where the group cannot be read."""
    requests = pending_by_id(stream, group, ids, decode_pending_rows)
    return [row for rows in await read_each(server, requests, f"group {stream}/{group}") for row in rows]


async def read_pending_summary(
    server: Server, stream: str, group: str
) -> tuple[int, EntryId | None, EntryId | None, tuple[tuple[str, int], ...]]:
    """XPENDING's summary: how many, smallest and greatest ID, and pending entries by consumer; raises ``ServerError``."""
    reply = required(await server.single(stream, "XPENDING", stream, group), f"group {stream}/{group}")
    pending, smallest, greatest, consumers = reply
    return (
        pending,
        EntryId.parse(smallest) if smallest else None,
        EntryId.parse(greatest) if greatest else None,
        tuple((decode_name(name), int(count)) for name, count in consumers or ()),
    )


async def read_pending_at_once(
    server: Server, page: PendingRange
) -> tuple[dict[str, int], tuple[PendingEntry, ...]] | None:
    """Read the rows after an ID, and how many rows each consumer has, at one instant; none if either is refused.

    Args:
        server: The server.
        page: The rows.

    Raises:
        ServerError: The node did not answer.
    """
    commands: list[Command] = [("MULTI",), ("XPENDING", page.stream, page.group), page.command, ("EXEC",)]
    *_, replies = await server.pipeline(page.stream, commands)
    if not isinstance(replies, list) or any(isinstance(reply, Exception) for reply in replies):
        return None
    summary, rows = replies
    return {decode_name(name): int(count) for name, count in summary[3] or ()}, decode_pending_rows(rows)


BYTES_PER_CALL: Final = 1 << 20
"""Bytes of entries that one call of the script copies inside the server, about: a few milliseconds."""

SEARCHED_BYTES: Final = 256 << 20
"""Bytes of entries, about, that one search copies inside the server."""

SAMPLE: Final = 10
ID, OWNER, IDLE = 0, 1, 2


class Deleted(Struct, frozen=True):
    """Which entries of a list are no longer in their stream.

    Attributes:
        looked: How many were looked for, from the first on; 0 where no script may be run.
        gone: The places in the list of those that are not there.
    """

    looked: int = 0
    gone: tuple[int, ...] = ()


async def look_for_deleted(server: Server, pages: Sequence[tuple[str, Sequence[EntryId]]]) -> list[Deleted]:
    """Look for entries by their IDs, given for each stream; answers each list as far as about a megabyte of entries goes."""
    calls = [Call(stream, (BYTES_PER_CALL, *map(str, ids)), _deleted) for stream, ids in pages]
    found: list[Reply] = []
    # Redis 7.0 brought the form that needs no permission to write.
    for read_only in (True, False):
        found = (await run_script(server, "deleted_rows", calls, read_only=read_only)).replies
        if not any(isinstance(one, Exception) and fault(one).kind in _NO_SCRIPTS for one in found):
            break
    return [Deleted() if isinstance(one, Exception) else one for one in found]


def _deleted(reply: Reply) -> Deleted:
    looked, *numbers = reply
    return Deleted(looked, tuple(number - 1 for number in numbers))


_NO_SCRIPTS: Final = frozenset({FaultKind.UNSUPPORTED, FaultKind.DENIED})


class GoneSearch:
    """Counts pending entries that are no longer in their stream.

    Attributes:
        found: What was found so far.

    Args:
        server: Where.
        stream: The stream.
        entry_bytes: Bytes of one of its entries, about.
    """

    def __init__(self, server: Server, stream: str, entry_bytes: int) -> None:
        self._server = server
        self._stream = stream
        self._weight = max(1, entry_bytes)
        self.found = DeletedPending()

    async def look_at(self, ids: Sequence[EntryId]) -> None:
        """Look for some entries, lowest first, unless too much was copied already."""
        while ids and self.found.looked * self._weight < SEARCHED_BYTES:
            (seen,) = await look_for_deleted(self._server, [(self._stream, ids)])
            if not seen.looked:
                return
            found, gone = self.found, [ids[at] for at in seen.gone]
            sample = (*found.sample, *gone)[:SAMPLE]
            self.found = DeletedPending(found.looked + seen.looked, found.count + len(gone), sample)
            ids = ids[seen.looked :]


class Claimable(NamedTuple):
    """Which pending rows can be claimed.

    Attributes:
        stream: The stream.
        group: Its group.
        to: The new owner, whose own rows are left out.
        source: Whose rows alone; none for those of all others.
        min_idle: Idle for at least so long.
    """

    stream: str
    group: str
    to: str
    source: str | None
    min_idle: timedelta

    @property
    def min_idle_ms(self) -> int:
        """The least idle time as the server wants it, rounded up."""
        return -(-self.min_idle // timedelta(milliseconds=1))


async def read_claimable(
    server: Server,
    what: Claimable,
    *,
    most: int | None,
    search: GoneSearch | None = None,
) -> PendingSelection:
    """Count rows, lowest first, at most this many.

    Args:
        server: Where.
        what: Which rows.
        most: Count no more than this many.
        search: Looks at the entries of the rows counted.
    """
    tally = _ClaimableCounts()
    to, least = name_bytes(what.to), what.min_idle_ms
    async for page in pending_rows(server, PendingRange(what.stream, what.group, consumer=what.source)):
        rows = tally.add([row for row in page if row[IDLE] >= least and row[OWNER] != to], most)
        if search is not None and rows:
            await search.look_at([EntryId.parse(row[ID]) for row in rows])
        if tally.count == most:
            break
    return tally.selection()


async def read_claimable_ids(
    server: Server,
    what: Claimable,
    ids: Sequence[EntryId],
    *,
    most: int | None,
    search: GoneSearch | None = None,
) -> tuple[PendingSelection, Unfit, bytes]:
    """Count those of the IDs that can be claimed, lowest first, at most this many; and those that cannot.

    Returns:
        Both counts, and of each ID whether it was selected: 1 or 0.
    """
    tally, chosen, unfit = _ClaimableCounts(), bytearray(), Counter[str]()
    for at in range(0, len(ids), PAGE):
        rows: list[Row] = []
        for reply in await _rows(server, what, ids[at : at + PAGE]):
            why = _objection(what, reply)
            unfit[why] += 1
            fits = not why and (most is None or tally.count + len(rows) < most)
            chosen.append(fits)
            if fits:
                rows.append(reply[0])
        tally.add(rows, None)
        if search is not None and rows:
            await search.look_at([EntryId.parse(row[ID]) for row in rows])
    return tally.selection(), Unfit(unfit["absent"], unfit["elsewhere"], unfit["busy"]), bytes(chosen)


async def _rows(server: Server, what: Claimable, ids: Sequence[EntryId]) -> list[Reply]:
    answers = await server.batch(pending_by_id(what.stream, what.group, ids))
    return [required(reply, f"group {what.stream}/{what.group}") for reply in answers.replies]


def _objection(what: Claimable, reply: Sequence[Row]) -> str:
    """Why a row cannot be claimed; empty if it can."""
    if not reply:
        return "absent"
    owner = reply[0][OWNER]
    if owner == name_bytes(what.to) or (what.source is not None and owner != name_bytes(what.source)):
        return "elsewhere"
    return "busy" if reply[0][IDLE] < what.min_idle_ms else ""


class _ClaimableCounts:
    def __init__(self) -> None:
        self.count = 0
        self._owners: Counter[bytes] = Counter()
        self._sample: list[Row] = []
        self._longest: Row | None = None
        self._last: bytes | None = None

    def add(self, rows: list[Row], most: int | None) -> list[Row]:
        """Count rows, as far as there is room; those that were counted."""
        if most is not None:
            rows = rows[: most - self.count]
        if not rows:
            return rows
        self.count += len(rows)
        self._owners.update([row[OWNER] for row in rows])
        self._sample += rows[: SAMPLE - len(self._sample)]
        longest = max(rows, key=lambda row: row[IDLE])
        if self._longest is None or longest[IDLE] > self._longest[IDLE]:
            self._longest = longest
        self._last = rows[-1][ID]
        return rows

    def selection(self) -> PendingSelection:
        """What was counted."""
        return PendingSelection(
            self.count,
            tuple((decode_name(owner), count) for owner, count in self._owners.most_common()),
            decode_pending_rows(self._sample),
            decode_pending_rows([self._longest])[0] if self._longest else None,
            EntryId.parse(self._last) if self._last else None,
        )
