"""Reads on many keys at once, each a constant number of round trips a node."""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from streamops.model.entries import EntryId, PendingEntry, StreamEntry
from streamops.model.streams import Members
from streamops.wire.batches import Request
from streamops.wire.faults import Fault, fault, required
from streamops.wire.keys import pool_key
from streamops.wire.node import Command, Node, Reply
from streamops.wire.pending_pages import PendingRange, pending_by_id
from streamops.wire.replies import (
    ConsumersDecoder,
    decode_clock,
    decode_entries,
    decode_name,
    decode_pending_rows,
)
from streamops.wire.script_calls import Call, run_script
from streamops.wire.server import Server

FIRST_STEP = 16
"""Entries that a script takes at first: a stream may hold larger ones than it begins and ends with."""

ASKED_AT_ONCE = 1_000
"""Commands about single entries that are sent in one go."""


class EntryRange(NamedTuple):
    """A page of a stream: at most ``limit`` entries after ``after`` and up to ``until``, oldest first."""

    stream: str
    after: EntryId
    until: EntryId
    limit: int


class CountRange(NamedTuple):
    """Entries to count: after ``after`` and up to ``until``, oldest first.

    Attributes:
        stream: The stream.
        after: Where to begin, exclusive.
        until: Where to stop, inclusive.
        limit: Count at most this many.
        max_bytes: Count no further once this many bytes of payload were walked over.
        entry_bytes: What an entry is expected to weigh, at least 1.
        back: Count from before ``after`` down to ``until`` instead, newest first; with scripts only.
        length: How many entries the stream had when ``until`` was its end, to be told how many of them are gone at
            the instant of counting; with scripts only.
        group: Whom the entries wait for: where some are gone, what waits for it at that instant is counted too.
    """

    stream: str
    after: EntryId
    until: EntryId
    limit: int
    max_bytes: int
    entry_bytes: int
    back: bool = False
    length: int | None = None
    group: str = ""

    @property
    def fitting(self) -> int:
        """Entries that are expected to fit into the bytes, at least one."""
        return max(1, min(self.limit, self.max_bytes // self.entry_bytes))


class Count(NamedTuple):
    """What counting one range found.

    Attributes:
        entries: How many entries.
        last_id: The last one's ID; where there was none, the one to begin after.
        walked: Bytes of payload that they have.
        complete: Whether the end of the range was reached.
        gone: Entries that the stream had lost by then, of those it had; none where that was not asked or is not known.
        now: What waited for the group at that very instant; none where that was not needed or is not known.
        besides: Entries that were counted to tell these two.
        walked_besides: Bytes of payload that those have.
    """

    entries: int
    last_id: EntryId
    walked: int
    complete: bool
    gone: int | None = None
    now: int | None = None
    besides: int = 0
    walked_besides: int = 0


class ScanPage(NamedTuple):
    """One step of SCAN: the next cursor, zero at the end, and the streams it came by."""

    cursor: int
    names: list[str]


async def read_clock(server: Server, stream: str) -> datetime | None:
    """The clock of the node that serves a stream; none where it may not be asked, or does not answer."""
    requests = [Request(stream, ("TIME",)), Request(stream, ("INFO", "server"))]
    return decode_clock(*(await server.batch(requests)).replies)


async def read_consumers(
    server: Server, groups: Sequence[tuple[str, str]], now: int = 0
) -> list[Members | Fault]:
    """XINFO CONSUMERS of each (stream, group), at an instant in milliseconds since the epoch."""
    decoders: defaultdict[Node | None, ConsumersDecoder] = defaultdict(partial(ConsumersDecoder, now))
    requests = [
        Request(stream, ("XINFO", "CONSUMERS", stream, group), decoders[server.node_of(stream)].decode)
        for stream, group in groups
    ]
    return _faults((await server.batch(requests)).replies)


async def read_pending(
    server: Server, ranges: Sequence[PendingRange]
) -> list[tuple[PendingEntry, ...] | Fault]:
    """XPENDING of each range, lowest ID first. Never with IDLE, which scans the whole list."""
    requests = [Request(page.stream, page.command, decode_pending_rows) for page in ranges]
    return _faults((await server.batch(requests)).replies)


async def read_pending_page(server: Server, page: PendingRange) -> tuple[PendingEntry, ...]:
    """One such page; raises ``ServerError`` where the group cannot be read."""
    (rows,) = await read_pending(server, [page])
    return required(rows, f"group {page.stream}/{page.group}")


async def read_entries(server: Server, ranges: Sequence[EntryRange]) -> list[tuple[StreamEntry, ...] | Fault]:
    """XRANGE of each range, payloads included."""
    requests = [
        Request(
            page.stream,
            ("XRANGE", page.stream, f"({page.after}", str(page.until), "COUNT", page.limit),
            decode_entries,
        )
        for page in ranges
    ]
    return _faults((await server.batch(requests)).replies)


async def read_page(
    server: Server,
    stream: str,
    first: EntryId,
    last: EntryId,
    count: int,
    *,
    newest_first: bool = False,
    what: str = "",
) -> tuple[StreamEntry, ...]:
    """XRANGE or XREVRANGE between two IDs, both inclusive, payloads included.

    Raises:
        ServerError: They cannot be read; said of ``what``, or of the stream.
    """
    command: Command = ("XRANGE", stream, str(first), str(last), "COUNT", count)
    if newest_first:
        command = ("XREVRANGE", stream, str(last), str(first), "COUNT", count)
    return decode_entries(required(await server.single(stream, *command), what or f"stream {stream}"))


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


async def read_pending_by_id(
    server: Server, stream: str, group: str, ids: Sequence[EntryId]
) -> list[PendingEntry]:
    """The rows of those IDs that are pending, in their order; raises where the group cannot be read."""
    requests = pending_by_id(stream, group, ids, decode_pending_rows)
    return [row for rows in await _asked(server, requests, f"group {stream}/{group}") for row in rows]


async def read_by_id(server: Server, stream: str, ids: Sequence[EntryId]) -> list[StreamEntry]:
    """Those of the IDs that are entries of the stream, in their order; raises where it cannot be read."""
    requests = [
        Request(stream, ("XRANGE", stream, str(one), str(one), "COUNT", 1), decode_entries) for one in ids
    ]
    return [entry for page in await _asked(server, requests, f"stream {stream}") for entry in page]


async def read_existing(server: Server, stream: str, ids: Sequence[EntryId]) -> set[EntryId]:
    """Which of the IDs are entries of the stream; their payloads are shipped. Raises where it cannot be read."""
    return {entry.id for entry in await read_by_id(server, stream, ids)}


async def _asked(server: Server, requests: Sequence[Request], what: str) -> list[Any]:
    """Replies that must not be errors, asked for in pieces that do not keep the server long."""
    replies: list[Any] = []
    for at in range(0, len(requests), ASKED_AT_ONCE):
        answers = await server.batch(requests[at : at + ASKED_AT_ONCE])
        replies += [required(reply, what) for reply in answers.replies]
    return replies


async def count_entries(
    server: Server, ranges: Sequence[CountRange], *, scripts: bool, read_only: bool
) -> list[Count | Fault]:
    """Count the entries of each range, each as far as its limits go; with scripts the payloads stay on the server."""
    if not scripts:
        return await _count_shipped(server, ranges)
    calls = [
        Call(
            page.stream,
            (
                *(str(page.after), str(page.until), page.limit, page.max_bytes),
                min(FIRST_STEP, page.fitting),
                "back" if page.back else "",
                *(() if page.length is None else (page.length, page.group)),
            ),
            _count,
        )
        for page in ranges
    ]
    return _faults((await run_script(server, "count_range", calls, read_only=read_only)).replies)


async def _count_shipped(server: Server, ranges: Sequence[CountRange]) -> list[Count | Fault]:
    steps = [EntryRange(page.stream, page.after, page.until, page.fitting) for page in ranges]
    counts: list[Count | Fault] = []
    for step, entries in zip(steps, await read_entries(server, steps), strict=True):
        if isinstance(entries, Fault):
            counts.append(entries)
        else:
            last_id = entries[-1].id if entries else step.after
            walked = sum(entry.size for entry in entries)
            counts.append(Count(len(entries), last_id, walked, len(entries) < step.limit))
    return counts


async def scan_keys(node: Node, kind: str, cursor: int, pattern: str | None, count: int) -> ScanPage | Fault:
    """One SCAN for keys of a type: ``stream``, ``zset``; raises redis-py's errors where the node does not answer."""
    match: Command = () if pattern is None else ("MATCH", pattern)
    reply = (await node.batch([("SCAN", cursor, *match, "COUNT", count, "TYPE", kind)]))[0]
    if isinstance(reply, Exception):
        return fault(reply)
    return ScanPage(int(reply[0]), [decode_name(name) for name in reply[1]])


def _faults(replies: list[Any]) -> list[Any]:
    """The replies, with faults in the place of errors."""
    return [fault(reply) if isinstance(reply, Exception) else reply for reply in replies]


def _count(reply: tuple[Any, ...]) -> Count:
    entries, last_id, walked, complete, *meanwhile = reply
    return Count(entries, EntryId.parse(last_id), walked, bool(complete), *meanwhile)


async def read_pending_at_once(
    server: Server, page: PendingRange
) -> tuple[dict[str, int], tuple[PendingEntry, ...]] | None:
    """How many rows each consumer has, and the rows after an ID; none where the server does not tell both together.

    Args:
        server: The server.
        page: The rows that are wanted; ``after`` is given.

    Raises:
        ServerError: The node did not answer.
    """
    commands: list[Command] = [("MULTI",), ("XPENDING", page.stream, page.group), page.command, ("EXEC",)]
    *_, told = await server.pipeline(page.stream, commands)
    return None if _is_refused(told) else _decoded(*told)


def _is_refused(told: Reply) -> bool:
    return not isinstance(told, list) or any(isinstance(part, Exception) for part in told)


def _decoded(
    summary: Sequence[Reply], rows: Sequence[Sequence[Reply]]
) -> tuple[dict[str, int], tuple[PendingEntry, ...]]:
    owners = {decode_name(name): int(count) for name, count in summary[3] or ()}
    return owners, decode_pending_rows(rows)


PAUSED = b"paused"


async def read_types(server: Server, keys: Sequence[str]) -> list[str | Fault]:
    """The types of keys as the server calls them: ``stream``, ``zset``, ``none`` for no such key.

    Raises:
        ServerError: No node answers.
    """
    replies = (await server.batch([Request(key, ("TYPE", key)) for key in keys])).replies
    return [fault(reply) if isinstance(reply, Exception) else decode_name(reply) for reply in replies]


async def read_memory(server: Server, streams: Sequence[str]) -> list[int | Fault | None]:
    """Bytes that each stream takes, as the server estimates it; none where there is no such key.

    Raises:
        ServerError: No node answers.
    """
    requests = [Request(stream, ("MEMORY", "USAGE", stream)) for stream in streams]
    replies = (await server.batch(requests)).replies
    return [fault(reply) if isinstance(reply, Exception) else reply for reply in replies]


async def read_paused(server: Server, pools: Sequence[str]) -> dict[str, bool]:
    """Whether pools were told to pause; those that were never told anything, or cannot be read, are left out.

    Raises:
        ServerError: No node answers.
    """
    keys = [pool_key(pool) for pool in pools]
    replies = (await server.batch([Request(key, ("HGET", key, "mode")) for key in keys])).replies
    return {
        pool: reply == PAUSED
        for pool, reply in zip(pools, replies, strict=True)
        if reply is not None and not isinstance(reply, Exception)
    }
