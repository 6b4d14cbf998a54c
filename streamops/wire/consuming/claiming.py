"""Claims pending entries: of a dead consumer, of any consumer once they are idle, and our own that a lost reply carried.

Each call is one script of bounded work, with a cursor that only moves forward. It counts a delivery; entries that were
deleted while they were pending are reported once and removed from the pending entries list.
"""

from collections.abc import Collection, Container
from datetime import timedelta
from typing import Final

import msgspec

from streamops.model.deliveries import RecoveredPage, TakenEntry
from streamops.model.streams import Consumer as GroupConsumer
from streamops.wire.consuming.subscription import Subscription, answered, key_of, mark_prefix, run_for_group
from streamops.wire.node import Argument, Reply
from streamops.wire.pending import PAGE, PendingRange
from streamops.wire.replies import decode_consumers
from streamops.wire.script_calls import Call
from streamops.wire.server import Server

START: Final = "-"
"""The cursor of a new pass."""
MOST: Final = 500
"""Entries that one call takes over at most, whatever the limit: a few milliseconds of the server's time."""
MOST_BYTES: Final = 4 << 20
"""About this many bytes of names and values one call takes over, and always one entry."""

MOST_DIGITS: Final = 9
"""More are no number of marks."""

_MILLISECOND: Final = timedelta(milliseconds=1)
_ZERO: Final = timedelta()


async def recover_own(
    server: Server,
    sub: Subscription,
    *,
    retries: bool,
    in_flight: Container[bytes],
    limit: int,
    min_idle: timedelta = _ZERO,
    after: str = START,
    most_bytes: int = MOST_BYTES,
) -> RecoveredPage:
    """Claim entries that are pending under our own name and not in flight: the reply that delivered them was lost.

    The comparison is done here, a page at a time: otherwise all IDs in flight would have to be sent.

    Args:
        server: Where.
        sub: Whose.
        retries: From the retry stream, not the stream.
        in_flight: IDs to leave alone; looked at after the server has answered.
        limit: How many at most; never more than ``MOST``.
        min_idle: For how long they must have been idle.
        after: What the last call said comes next.
        most_bytes: How many bytes at most, about.

    Raises:
        ServerError: The server did not answer, or refused.
    """
    key = key_of(sub, retries=retries)
    rows = PendingRange(key, sub.group, None if after == START else after, consumer=sub.consumer)
    page = answered(await server.single(key, *rows.command), sub, key)
    if page is None:
        return RecoveredPage()
    least = min_idle // _MILLISECOND
    orphans = [row[0] for row in page if row[0] not in in_flight and row[2] >= least]
    asked = orphans[: min(limit, MOST)]
    next_page = rows.following(page) or ""
    if not asked:
        return RecoveredPage(next=next_page)
    recovered = await _take(
        server, sub, (2, sub.consumer, least, len(asked), most_bytes, 0, START), asked, retries=retries
    )
    if not recovered.next:
        rest = asked[-1].decode() if len(asked) < len(orphans) else next_page
        recovered = msgspec.structs.replace(recovered, next=rest)
    return recovered


async def take_idle(
    server: Server,
    sub: Subscription,
    *,
    retries: bool,
    min_idle: timedelta,
    limit: int,
    owner: str = "",
    after: str = START,
    most_bytes: int = MOST_BYTES,
) -> RecoveredPage:
    """Claim entries of one other consumer, or of all others, that are idle for long enough; never our own ones.

    Not with XAUTOCLAIM, which claims the claimer's own entries too, and cannot be bounded by bytes. A lost reply leaves
    entries pending under our name that are not in flight: ``recover_own`` finds them.

    Args:
        server: The server.
        sub: The subscription to claim for.
        retries: Whether to claim from the retry stream.
        min_idle: The least idle time.
        limit: How many at most, within ``MOST``.
        owner: The present owner; empty for every other consumer.
        after: The cursor that the last call returned.
        most_bytes: About how many bytes at most.

    Raises:
        ServerError: The server did not answer, or refused.
    """
    look = min(PAGE, limit) if owner else PAGE
    what = (int(bool(owner)), owner, min_idle // _MILLISECOND, min(limit, MOST), most_bytes, look, after)
    return await _take(server, sub, what, (), retries=retries)


async def group_consumers(server: Server, sub: Subscription, *, retries: bool) -> tuple[GroupConsumer, ...]:
    """The group's consumers, those without anything pending too; none if there is no such group.

    Raises:
        ServerError: The server did not answer, or refused.
    """
    key = key_of(sub, retries=retries)
    reply = await server.single(key, "XINFO", "CONSUMERS", key, sub.group)
    return decode_consumers(answered(reply, sub, key) or ())


async def _take(
    server: Server,
    sub: Subscription,
    what: tuple[Argument, ...],
    named: Collection[bytes],
    *,
    retries: bool,
) -> RecoveredPage:
    arguments = (sub.group, sub.consumer, *what, mark_prefix(retries=retries), sub.owners_kept_ms, *named)
    call = Call(key_of(sub, retries=retries), arguments, _claimed_page, (sub.attempts, sub.unhandled))
    recovered: RecoveredPage | None = await run_for_group(server, sub, "consume_claim", call)
    return RecoveredPage() if recovered is None else recovered


def _claimed_page(reply: Reply) -> RecoveredPage:
    rows, marks, gone, after = reply
    return RecoveredPage(
        tuple(
            TakenEntry(id, fields, deliveries, _marks(mark))
            for (id, fields, deliveries), mark in zip(rows, marks, strict=True)  # noqa: A001 - an entry's ID
        ),
        tuple(zip(gone[::2], map(int, gone[1::2]), strict=True)),
        after.decode(),
    )


def _marks(text: bytes | None) -> int:
    """How many marks there are; 0 if they are no number, as the script that adds one has it."""
    return int(text) if text and text.isdigit() and len(text) <= MOST_DIGITS else 0


__all__ = [
    "START",
    "GroupConsumer",
    "RecoveredPage",
    "TakenEntry",
    "group_consumers",
    "recover_own",
    "take_idle",
]
