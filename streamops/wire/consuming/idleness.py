"""Whether a group has anything left to do."""

from streamops.wire.batches import Request
from streamops.wire.consuming.asking import answered
from streamops.wire.consuming.reading import group_position
from streamops.wire.consuming.subscription import Subscription
from streamops.wire.server import Server


async def work_left(server: Server, sub: Subscription) -> int:
    """How much a group has to do in its stream and its retry stream: what is pending, and one where any is unread.

    Raises:
        ServerError: The server does not answer, or does not let us.
    """
    unread, pending = 0, 0
    for key in (sub.stream, sub.retries):
        position = (await group_position(server, key, sub.group)).decode()
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
