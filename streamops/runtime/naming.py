"""A worker's name of its own: whoever has the same takes the other's entries in hand for what got lost on the way."""

import asyncio
import os
import socket
import time
from typing import Final

from streamops.errors import Refused
from streamops.wire.consuming.hearts import Namesake, read_namesake
from streamops.wire.server import Server

PAUSE: Final = 0.1
LONGEST_WAIT: Final = 60.0
"""Seconds after which the heartbeat of one that was killed has ended, or never will."""


async def require_name(server: Server, worker_id: str) -> None:
    """Insist that no other process lives by this name; one that was killed is waited for, until its heartbeat ends.

    Raises:
        Refused: One does.
        ServerError: The server does not answer.
    """
    deadline = time.monotonic() + LONGEST_WAIT
    first = other = await read_namesake(server, worker_id)
    while other is not None and not _is_this(other):
        if first is None or other.beat_ms != first.beat_ms or time.monotonic() > deadline:
            raise Refused(
                f"{worker_id} is the name of a worker on {other.host}, process {other.pid}, which lives",
                "End that one first, give this one another name, or none: then it makes one of its own.",
            )
        await asyncio.sleep(PAUSE)
        other = await read_namesake(server, worker_id)


def _is_this(other: Namesake) -> bool:
    return other.pid == os.getpid() and other.host == socket.gethostname()
