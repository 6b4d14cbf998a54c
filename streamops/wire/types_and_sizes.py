"""Reads of what stands beside streams: the memory that they take, and pools that are paused."""

from collections.abc import Sequence

from streamops.wire.batches import Request
from streamops.wire.faults import Fault, fault
from streamops.wire.keys import pool_key
from streamops.wire.replies import decode_name
from streamops.wire.server import Server

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
