"""Reads on many keys at once, each a constant number of round trips a node."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple

from streamops.model.dead_letters import DeadLetterCounts, DeadLetterKind, ordered_kinds
from streamops.model.entries import EntryId, StreamEntry
from streamops.model.streams import Members
from streamops.wire.batches import Request
from streamops.wire.faults import Fault, fault, required, with_faults
from streamops.wire.keys import pool_key
from streamops.wire.node import Command, Node
from streamops.wire.replies import (
    ConsumersDecoder,
    decode_clock,
    decode_entries,
    decode_name,
)
from streamops.wire.script_calls import Call, read_script, run_script
from streamops.wire.server import Server

FIRST_STEP = 16
"""Entries that a script takes at first: a stream may hold larger ones than it begins and ends with."""

DEAD_LETTERS_AT_ONCE = 500
DEAD_LETTER_BYTES = 1 << 20
"""Dead letters and bytes that one call of the script looks at: a few milliseconds."""

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
        group: The group that the entries wait for: if some are gone, what waits for it at that instant is counted too.
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
        last_id: The last one's ID; if there was none, the one to begin after.
        walked: Bytes of payload that they have.
        complete: Whether the end of the range was reached.
        gone: Entries that the stream had lost by then, of those it had; None if that was not asked or is not known.
        now: What waited for the group at that very instant; None if that was not needed or is not known.
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
    """The clock of the node that serves a stream; None if it may not be asked, or does not answer."""
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
    return with_faults((await server.batch(requests)).replies)


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
    return with_faults((await server.batch(requests)).replies)


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


async def read_by_id(server: Server, stream: str, ids: Sequence[EntryId]) -> list[StreamEntry]:
    """Those of the IDs that are entries of the stream, in their order; raises if it cannot be read."""
    requests = [
        Request(stream, ("XRANGE", stream, str(one), str(one), "COUNT", 1), decode_entries) for one in ids
    ]
    return [entry for page in await read_each(server, requests, f"stream {stream}") for entry in page]


async def read_existing(server: Server, stream: str, ids: Sequence[EntryId]) -> set[EntryId]:
    """Which of the IDs are entries of the stream; their payloads are shipped. Raises if it cannot be read."""
    return {entry.id for entry in await read_by_id(server, stream, ids)}


async def read_each(server: Server, requests: Sequence[Request], what: str) -> list[Any]:
    """Replies to many small requests, sent in batches that do not block the server; raises for an error, said of ``what``."""
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
    return with_faults((await run_script(server, "count_range", calls, read_only=read_only)).replies)


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


async def count_dead_letters(
    server: Server, queue: str, after: EntryId, last: EntryId, limit: int
) -> DeadLetterCounts:
    """Count dead letters after one ID and up to another by kind, at most ``limit`` of them, without shipping them.

    Raises:
        ServerError: They cannot be read.
    """
    kinds: Counter[DeadLetterKind] = Counter()
    count, payloads, last_id, ended = 0, 0, None, 0
    while not ended and count < limit:
        most = min(DEAD_LETTERS_AT_ONCE, limit - count)
        arguments = (str(last_id or after), str(last), most, DEAD_LETTER_BYTES, FIRST_STEP)
        call = Call(queue, arguments, tuple)
        counted, last_counted, _, ended, referring, flat = await read_script(
            server, "count_dead_letters", call, f"queue {queue}"
        )
        count += counted
        payloads += referring
        last_id = EntryId.parse(last_counted) if counted else last_id
        for at in range(0, len(flat), 4):
            kinds[DeadLetterKind(*map(decode_name, flat[at : at + 3]))] += flat[at + 3]
    return DeadLetterCounts(count, ordered_kinds(kinds), payloads, last_id)


async def scan_keys(node: Node, kind: str, cursor: int, pattern: str | None, count: int) -> ScanPage | Fault:
    """One SCAN for keys of a type: ``stream``, ``zset``; raises redis-py's errors where the node does not answer."""
    match: Command = () if pattern is None else ("MATCH", pattern)
    reply = (await node.batch([("SCAN", cursor, *match, "COUNT", count, "TYPE", kind)]))[0]
    if isinstance(reply, Exception):
        return fault(reply)
    return ScanPage(int(reply[0]), [decode_name(name) for name in reply[1]])


def _count(reply: tuple[Any, ...]) -> Count:
    entries, last_id, walked, complete, *meanwhile = reply
    return Count(entries, EntryId.parse(last_id), walked, bool(complete), *meanwhile)


PAUSED = b"paused"


async def read_types(server: Server, keys: Sequence[str]) -> list[str | Fault]:
    """The types of keys as the server calls them: ``stream``, ``zset``, ``none`` for no such key.

    Raises:
        ServerError: No node answers.
    """
    replies = (await server.batch([Request(key, ("TYPE", key)) for key in keys])).replies
    return [decode_name(reply) if isinstance(reply, bytes) else reply for reply in with_faults(replies)]


async def read_memory(server: Server, streams: Sequence[str]) -> list[int | Fault | None]:
    """Bytes that each stream takes, as the server estimates it; None if there is no such key.

    Raises:
        ServerError: No node answers.
    """
    requests = [Request(stream, ("MEMORY", "USAGE", stream)) for stream in streams]
    return with_faults((await server.batch(requests)).replies)


async def read_paused(server: Server, pools: Sequence[str]) -> dict[str, bool]:
    """Whether pools were asked to pause; those that were never told anything, or cannot be read, are left out.

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
