"""Tending a group: pages of its idle rows, looked at, and dealt with in scripts that judge each row anew."""

from collections import Counter
from datetime import timedelta
from typing import NamedTuple

from msgspec import Struct

from streamops.model.acts.tend import Stuck, TendedRow
from streamops.model.entries import PendingEntry
from streamops.model.ids import EntryId
from streamops.wire.faults import Fault, FaultKind, fault
from streamops.wire.keys import replayed_key
from streamops.wire.node import Argument, Reply
from streamops.wire.replies import decode_name
from streamops.wire.script_calls import Call, run_script, write_script
from streamops.wire.server import Server
from streamops.wire.writes.unhandled import Unhandled

PAGE = 500
"""Rows that one call looks at."""

BATCH = 250
"""Rows that one call deals with at most: about 3 ms of the server's time."""

BATCH_BYTES = 1 << 20
"""Bytes of entries after which a call looks no further."""

NOBODY = "__replay__"
"""Who owns entries that were given back to a group, until one of its consumers claims them."""

SAMPLE = 10


class Tendable(NamedTuple):
    """Which pending entries are tended, and how.

    Attributes:
        stream: The stream.
        group: Its group.
        queue: The dead-letter queue.
        min_idle: Idle for at least so long.
        max_deliveries: Delivered so often, they become dead letters.
        to: Who gets them by a claim; empty where they are added anew.
        others: The stream's other groups, where entries are added anew.
        unhandled: Where entries are noted that were never handled; none where that tells nobody anything.
    """

    stream: str
    group: str
    queue: str
    min_idle: timedelta
    max_deliveries: int
    to: str = ""
    others: tuple[str, ...] = ()
    unhandled: Unhandled | None = None

    @property
    def min_idle_ms(self) -> int:
        """The least idle time as the server wants it, rounded up."""
        return -(-self.min_idle // timedelta(milliseconds=1))


class Tended(Struct, frozen=True):
    """What one call did.

    Attributes:
        last_id: The last ID that was looked at; none where there was none.
        ended: Whether there are no more.
        redelivered: How many are handled again.
        buried: How many became dead letters.
        gone: How many no longer existed, which is on record in the dead-letter queue.
        waiting: How many were left to the consumer that they were given to.
        failed: Those that could not be done, and why.
    """

    last_id: EntryId | None
    ended: bool
    redelivered: int
    buried: int
    gone: int
    waiting: int
    failed: tuple[tuple[str, str], ...]

    @property
    def applied(self) -> int:
        """How many something was done with."""
        return self.redelivered + self.buried + self.gone


class _Count:
    """Rows counted as the pages come in."""

    def __init__(self) -> None:
        self.ended = False
        self.last: bytes = b""
        self._fates: Counter[str] = Counter()
        self._owners: Counter[str] = Counter()
        self._sample: list[TendedRow] = []

    def add(self, page: Reply) -> None:
        last, ended, redeliver, bury, gone, waiting, owners, rows = page
        self.ended = bool(ended)
        self.last = last or self.last
        self._fates.update(redeliver=redeliver, bury=bury, gone=gone, waiting=waiting)
        for name, number in zip(owners[::2], owners[1::2], strict=True):
            self._owners[decode_name(name)] += number
        self._sample += map(_row, rows[: SAMPLE - len(self._sample)])

    def stuck(self) -> Stuck:
        return Stuck(
            **self._fates,
            owners=tuple(self._owners.most_common()),
            sample=tuple(self._sample),
            last_id=EntryId.parse(self.last) if self.last else None,
        )


async def look_at_stuck(server: Server, what: Tendable) -> Stuck | Fault:
    """Count what there is to do, page by page, writing nothing.

    No permission to write is asked for where the server has the read-only form of scripts.
    """
    count, read_only = _Count(), True
    while not count.ended:
        page = await _look(server, what, count.last, read_only=read_only)
        if read_only and _is_unknown(page):
            read_only = False
            continue
        if isinstance(page, Fault):
            return page
        count.add(page)
    return count.stuck()


async def _look(server: Server, what: Tendable, after: bytes, *, read_only: bool) -> Reply:
    """What one call of the script says, or a ``Fault``; raises ``ServerError`` where the node does not answer."""
    start = b"(" + after if after else b"-"
    arguments = (what.group, what.to, what.min_idle_ms, what.max_deliveries, start, PAGE, BATCH_BYTES)
    call = Call(what.stream, arguments, lambda reply: reply)
    answers = await run_script(server, "tend_look", [call], read_only=read_only)
    reply = answers.replies[0]
    if answers.failures and isinstance(reply, Exception):
        raise server.error(reply)
    return fault(reply) if isinstance(reply, Exception) else reply


def _is_unknown(reply: Reply) -> bool:
    """Whether the read-only form is not there: Redis 7.0 brought it, and a user may lack it."""
    return isinstance(reply, Fault) and (reply.kind is FaultKind.UNSUPPORTED or reply.denies_command)


async def tend_page(
    server: Server,
    what: Tendable,
    *,
    after: EntryId | None,
    until: EntryId,
    most: int,
    now: str,
) -> Tended | Fault:
    """Deal with the next page of a group's pending entries.

    Args:
        server: Where.
        what: Which entries, and how.
        after: Begin after this ID; none for the beginning.
        until: Go no further than to this ID.
        most: Deal with no more than so many.
        now: When dead letters say that they died, as they say it.
    """
    arguments: tuple[Argument, ...] = (
        what.group,
        "claim" if what.to else "add",
        what.to,
        what.min_idle_ms,
        what.max_deliveries,
        "-" if after is None else f"({after}",
        str(until),
        most,
        PAGE,
        BATCH_BYTES,
        now,
        what.unhandled.prefix if what.unhandled else "",
        *what.others,
    )
    keys = (what.queue, replayed_key(what.stream), *((what.unhandled.key,) if what.unhandled else ()))
    reply: Tended | Fault = await write_script(server, "tend", Call(what.stream, arguments, _tended, keys))
    return reply


def _row(row: list[Reply]) -> TendedRow:
    ident, owner, idle_ms, deliveries, fate = row
    entry = PendingEntry(
        EntryId.parse(ident), decode_name(owner), timedelta(milliseconds=idle_ms), deliveries
    )
    return TendedRow(entry, fate.decode())


def _tended(reply: list[Reply]) -> Tended:
    last, ended, redelivered, buried, gone, waiting, failed = reply
    return Tended(
        EntryId.parse(last) if last else None,
        bool(ended),
        redelivered,
        buried,
        gone,
        waiting,
        tuple((ident.decode(), decode_name(why)) for ident, why in failed),
    )
