"""Reading a stream for a group: the group itself, what is new in the stream and in its retry stream, and what is left."""

from datetime import timedelta

from streamops.errors import NotFound
from streamops.wire.batches import Request
from streamops.wire.consuming.subscription import Subscription, answered
from streamops.wire.faults import Fault, FaultKind, fault
from streamops.wire.node import Command
from streamops.wire.replies import decode_groups
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server

RawEntry = tuple[bytes, list[bytes]]
"""An entry as it comes: its ID, then names and values in turn."""


async def ensure_group(server: Server, stream: str, group: str, start: str) -> bool:
    """Create a group, and the stream where there is none; whether there was no such group.

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
    """The last ID that a group was given; ``0-0`` where there is no such group.

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
    """Create a destroyed group anew; where it begins, or none where it is there again.

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
    """Read what the group has not given to anybody, from the stream and from its retry stream.

    Never repeated by itself: a lost reply leaves entries pending under this consumer's name.

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
