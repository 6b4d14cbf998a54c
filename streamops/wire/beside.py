"""Reads of what stands beside streams: queues of delayed messages, counted, and the memory that streams take."""

from collections.abc import Sequence
from datetime import datetime

from streamops.model.extras import QueueCount
from streamops.wire.batches import Request
from streamops.wire.delayed import milliseconds, moment
from streamops.wire.faults import Fault, fault
from streamops.wire.keys import pool_key
from streamops.wire.node import Reply
from streamops.wire.server import Server

PAUSED = b"paused"


async def count_queues(server: Server, queues: Sequence[str], now: datetime) -> list[QueueCount | Fault]:
    """Queues of delayed messages by their keys, counted in one round trip; empty ones too.

    Raises:
        ServerError: No node answers.
    """
    until = milliseconds(now)
    requests = [
        Request(queue, command)
        for queue in queues
        for command in (
            ("ZCARD", queue),
            ("ZCOUNT", queue, "-inf", until),
            ("ZRANGE", queue, 0, 0, "WITHSCORES"),
        )
    ]
    replies = (await server.batch(requests)).replies
    return [_count(queue, *replies[3 * at : 3 * at + 3]) for at, queue in enumerate(queues)]


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


def _count(queue: str, members: Reply, due: Reply, first: Reply) -> QueueCount | Fault:
    for reply in (members, due, first):
        if isinstance(reply, Exception):
            return fault(reply)
    return QueueCount(queue, members, due, moment(first[1]) if first else None)
