"""Entries of a group: reading what is new, and acknowledging what is done; the group itself, and what is left to do.

Entries are acknowledged plainly while their lease is fresh, otherwise with a look at who has them. One for which messages were
published is acknowledged by the script that adds them.
"""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from redis.exceptions import ResponseError

from streamops.errors import NotFound, PublishError, Refused
from streamops.model.deliveries import Acknowledged, AckRow, Settled
from streamops.wire.batches import Request
from streamops.wire.consuming.publishing import portions, refused
from streamops.wire.consuming.subscription import (
    Subscription,
    answered,
    is_own_payload,
    key_of,
    mark_prefix,
    run_for_group,
)
from streamops.wire.faults import Fault, FaultKind, fault
from streamops.wire.node import Argument, Command, Reply
from streamops.wire.replies import decode_groups
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server

RawEntry = tuple[bytes, list[bytes]]
"""An entry as it comes: its ID, then names and values in turn."""


async def ensure_group(server: Server, stream: str, group: str, start: str) -> bool:
    """Create a group, and the stream if there is none; whether there was no such group.

    Args:
        server: Where.
        stream: The stream.
        group: The group.
        start: Where it begins: ``0``, ``$`` or an ID.

    Raises:
        NotFound: The key is of another type.
        Refused: A permission is missing.
        ServerError: The server does not answer, or is out of memory.
    """
    reply = await server.single(stream, "XGROUP", "CREATE", stream, group, start, "MKSTREAM")
    if not isinstance(reply, Exception):
        return True
    if "BUSYGROUP" in str(reply):
        return False
    problem = fault(reply)
    if problem.kind is FaultKind.WRONG_TYPE:
        raise NotFound(f"{stream} is not a stream", "Give the handler another stream, or rename that key.")
    raise problem.error(f"stream {stream}")


async def group_position(server: Server, stream: str, group: str) -> str:
    """The last ID that a group was given; ``0-0`` if there is no such group.

    Raises:
        ServerError: The server does not answer, or does not let us.
    """
    reply = await server.single(stream, "XINFO", "GROUPS", stream)
    if isinstance(reply, Exception):
        problem = fault(reply)
        if problem.kind is FaultKind.MISSING:
            return "0-0"
        raise problem.error(f"stream {stream}")
    found = (one for one in decode_groups(reply) if one.name == group)
    return next((str(one.last_delivered_id) for one in found), "0-0")


async def restore_group(server: Server, stream: str, group: str, last_seen: str) -> str | None:
    """Create a destroyed group again; where it begins, or None if it is there again.

    It begins at the last ID that the caller saw of it, so that nothing is left out, and at ``0`` where the stream
    itself is another one by now.

    Raises:
        ServerError: The server does not answer, or does not let us.
    """
    call = Call(stream, (group, last_seen), _text_or_none)
    return await write_script(server, "consume_restore_group", call, f"group {group} of stream {stream}")


async def read_new(
    server: Server, subscription: Subscription, count: int, block: timedelta
) -> list[tuple[bytes, list[RawEntry]]] | Fault:
    """Read entries that were not delivered to the group yet, from the stream and from its retry stream.

    Never repeated automatically: a lost reply leaves entries pending under this consumer's name.

    Args:
        server: Where; its limit of silence is longer than ``block``.
        subscription: Whose.
        count: How many entries of each at most.
        block: How long to wait for the first; none at zero.

    Returns:
        Key and entries of each that had any; or a fault, of kind ``MISSING`` where the group is gone.

    Raises:
        ServerError: The server did not answer. It may have delivered entries all the same.
    """
    sub = subscription
    blocking = ("BLOCK", round(block.total_seconds() * 1000)) if block else ()
    words: Command = ("XREADGROUP", "GROUP", sub.group, sub.consumer, "COUNT", count, *blocking)
    # A retry stream holds what failed before: entries of its group are not retried without acknowledgements.
    streams = (
        ("NOACK", "STREAMS", sub.stream, ">") if sub.noack else ("STREAMS", sub.stream, sub.retries, ">", ">")
    )
    reply = await server.single(sub.stream, *words, *streams)
    if isinstance(reply, Exception):
        return fault(reply)
    return reply or []


def _text_or_none(reply: bytes | None) -> str | None:
    return reply.decode() if reply else None


async def work_left(server: Server, sub: Subscription) -> int:
    """How much a group has to do in its stream and its retry stream: what is pending, and one where any is unread.

    Raises:
        ServerError: The server does not answer, or does not let us.
    """
    unread, pending = 0, 0
    for key in (sub.stream, sub.retries):
        position = await group_position(server, key, sub.group)
        asked = [
            Request(key, ("XRANGE", key, f"({position}", "+", "COUNT", 1)),
            Request(key, ("XPENDING", key, sub.group)),
        ]
        after, summary = (answered(reply, sub, key) for reply in (await server.batch(asked)).replies)
        unread += len(after or ())
        pending += summary[0] if summary else 0
    return unread + pending


async def delayed_left(server: Server, sub: Subscription) -> int:
    """How many messages of the stream wait for their time.

    Raises:
        ServerError: The server does not answer, or does not let us.
    """
    return int(answered(await server.single(sub.delayed, "ZCARD", sub.delayed), sub, sub.delayed) or 0)


async def hasten(server: Server, sub: Subscription) -> None:
    """Make all messages that wait for their time due now, as if it had come.

    Raises:
        ServerError: The server does not answer, or does not let us.
    """
    ids = answered(await server.single(sub.delayed, "ZRANGE", sub.delayed, 0, -1), sub, sub.delayed) or ()
    for number, ident in enumerate(ids):
        # In the order in which they would have been due.
        words = ("ZADD", sub.delayed, "XX", number + 1, ident)
        answered(await server.single(sub.delayed, *words), sub, sub.delayed)


ACKED_AT_ONCE: Final = 500
"""Entries that one call acknowledges."""

PUBLISHING_AT_ONCE: Final = 100
"""Entries with messages that one call acknowledges, or fewer where they are large."""

_FIRST_PAYLOAD: Final = 5
_FIRST_TARGET: Final = 4


async def acknowledge_plain(server: Server, sub: Subscription, ids: Sequence[bytes], handovers: int) -> int:
    """Acknowledge entries of the stream, of any consumer; how many were pending.

    For entries that no other consumer can own by now, that were not marked and have no payload. Repeated after a lost
    reply it does no harm as long as no other consumer can own them then.

    Args:
        server: Where to.
        sub: Whose entries.
        ids: The entries.
        handovers: How often another server had taken over when they came; on a later one they may be another consumer's.

    Raises:
        ServerError: The server did not answer, or refused, or is another one by now.
    """
    reply = await server.single(sub.stream, "XACK", sub.stream, sub.group, *ids, handovers=handovers)
    acknowledged: int = answered(reply, sub, sub.stream) or 0
    return acknowledged


async def acknowledge_checked(
    server: Server, sub: Subscription, *, retries: bool, rows: Sequence[AckRow]
) -> Acknowledged:
    """Acknowledge those entries that are still pending under our name.

    With them go their marks, their entries where they are in the retry stream, and their payloads where no other group
    is on the stream; a payload that is another stream's, or no payload by its key, is left to its TTL.

    Called again after a lost reply it does no harm: what the first call acknowledged is ``lost`` then. From ``lost`` a
    caller may conclude that there is nothing left to do for it, but not whether the entry counts as done or runs again
    elsewhere; unless all its calls for that entry were answered, when another consumer took or acknowledged it.

    Raises:
        ServerError: The server did not answer, or refused. Some of many may have been acknowledged.
    """
    parts = [
        await _acknowledge(server, sub, rows[at : at + ACKED_AT_ONCE], retries=retries)
        for at in range(0, len(rows), ACKED_AT_ONCE)
    ]
    return Acknowledged(
        sum(part.acknowledged for part in parts), tuple(one for part in parts for one in part.lost)
    )


async def _acknowledge(
    server: Server, sub: Subscription, rows: Sequence[AckRow], *, retries: bool
) -> Acknowledged:
    key, payloads = key_of(sub, retries=retries), list[str]()
    arguments: list[Argument] = [sub.group, sub.consumer, int(retries), mark_prefix(retries=retries)]
    for row in rows:
        number = 0
        if row.payload_key and is_own_payload(sub, row.payload_key):
            number = _FIRST_PAYLOAD + len(payloads)
            payloads.append(row.payload_key)
        arguments += [row.id, number, row.digest]
    call = Call(key, tuple(arguments), _acknowledged, (sub.attempts, sub.stream, sub.unhandled, *payloads))
    done: Acknowledged | None = await run_for_group(server, sub, "consume_ack", call)
    # Without a group nothing is pending.
    return Acknowledged(0, tuple(row.id for row in rows)) if done is None else done


async def publish_and_acknowledge(
    server: Server, sub: Subscription, *, retries: bool, rows: Sequence[AckRow]
) -> list[Settled | PublishError]:
    """Acknowledge entries that are still pending under our name, each together with its messages; what became of each.

    An error is why its messages cannot be added: nothing of that entry was done, and asking again will not help. A call
    that is repeated after a lost reply adds nothing twice: what the first one acknowledged is not ours then.

    Args:
        server: Where to.
        sub: Whose entries.
        retries: Whether they are in the retry stream.
        rows: The entries, each with a message at least; in a cluster all streams are in the slot of the group's.

    Raises:
        ServerError: The server did not answer, or is out of memory. Some of many may have been acknowledged.
    """
    became: list[Settled | PublishError] = []
    for batch in portions(rows, PUBLISHING_AT_ONCE):
        became += await _publish(server, sub, batch, retries=retries)
    return became


async def _publish(
    server: Server, sub: Subscription, rows: Sequence[AckRow], *, retries: bool
) -> list[Settled | PublishError]:
    streams = list(dict.fromkeys(message.stream for row in rows for message in row.messages))
    numbers = {stream: number for number, stream in enumerate(streams, _FIRST_TARGET)}
    payloads = [row.payload_key for row in rows if is_own_payload(sub, row.payload_key)]
    numbers |= {key: number for number, key in enumerate(payloads, _FIRST_TARGET + len(streams)) if key}
    arguments: list[Argument] = [sub.group, sub.consumer, int(retries), mark_prefix(retries=retries)]
    for row in rows:
        arguments += [row.id, numbers.get(row.payload_key or "", 0), row.digest, len(row.messages)]
        for message in row.messages:
            cap = "" if message.maxlen is None else message.maxlen
            arguments += [numbers[message.stream], cap, len(message.parts), *message.parts]

    def decode(reply: Reply) -> list[Settled | PublishError]:
        return [_published(answer, streams) for answer in reply]

    keys = (sub.attempts, sub.stream, *streams, *(key for key in payloads if key))
    call = Call(key_of(sub, retries=retries), tuple(arguments), decode, keys)
    try:
        became: list[Settled | PublishError] | None = await run_for_group(
            server, sub, "consume_publish", call
        )
    except Refused as error:
        # One stream that may not be written to is a matter of those entries alone that publish to it.
        if len(rows) == 1:
            return [PublishError(error.message, error.hint)]
        return [one for row in rows for one in await _publish(server, sub, [row], retries=retries)]
    return [Settled.GROUP_GONE for _ in rows] if became is None else became


def _published(answer: Reply, streams: Sequence[str]) -> Settled | PublishError:
    word, *why = answer
    if not why:
        return Settled(word.decode())
    number, text = why
    error = refused(streams[number - _FIRST_TARGET], fault(ResponseError(text.decode())))
    return PublishError(error.message, error.hint)


def _acknowledged(reply: Reply) -> Acknowledged:
    return Acknowledged(reply[0], tuple(reply[1]))


__all__ = [
    "AckRow",
    "Acknowledged",
    "acknowledge_checked",
    "acknowledge_plain",
    "publish_and_acknowledge",
]
