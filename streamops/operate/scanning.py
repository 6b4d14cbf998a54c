"""Going through all keys of one type on a node, in steps that stay out of the way."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from typing import Final

from streamops.wire.faults import Fault, RedisError
from streamops.wire.node import Node
from streamops.wire.reads import ScanPage, scan_keys
from streamops.wire.server import Server

KEYS_PER_STEP: Final = 1_000


async def scan_node(
    server: Server, node: Node, kind: str, pattern: str | None = None, *, share: float = 1.0
) -> AsyncIterator[Sequence[str]]:
    """Names of keys of a type, step by step; a name may come twice.

    Args:
        server: The server.
        node: Which of its processes.
        kind: The type: ``stream``, ``zset``, ``hash``.
        pattern: A glob pattern that the server matches.
        share: Share of the time that this may keep the node busy; the rest is pause.

    Raises:
        ServerError: It cannot be scanned.
    """
    cursor = 0
    while True:
        started = time.monotonic()
        page = await _step(server, node, kind, cursor, pattern)
        yield page.names
        cursor = page.cursor
        if cursor == 0:
            return
        await asyncio.sleep((time.monotonic() - started) * (1 / share - 1))


async def _step(server: Server, node: Node, kind: str, cursor: int, pattern: str | None) -> ScanPage:
    problem = None
    try:
        page = await scan_keys(node, kind, cursor, pattern, KEYS_PER_STEP)
    except (RedisError, OSError, TimeoutError) as error:
        problem = server.error(error)
    # Outside the handler, so that the error does not carry redis-py's along as its context.
    if problem is not None:
        raise problem
    if isinstance(page, Fault):
        raise page.error(f"the keyspace cannot be scanned for {NAMES[kind]}")
    return page


NAMES: Final = {"stream": "streams", "zset": "queues of delayed messages", "hash": "heartbeats"}
