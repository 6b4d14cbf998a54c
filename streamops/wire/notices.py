"""Hearing what is published on channels, for as long as the server lets us."""

import asyncio
import random
from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import cycle
from typing import Final

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import NoPermissionError, RedisError

from streamops.model.text import name_bytes
from streamops.wire.connect import connection_pool
from streamops.wire.node import Reply
from streamops.wire.options import ConnectionOptions
from streamops.wire.replies import decode_name

QUIET: Final = 10.0
"""Seconds of silence after which the server is asked for a sign of life: a dead connection is silent too."""

PAUSE: Final = 1.0
"""Seconds, at most, before a lost connection is made again."""

Heard = Callable[[str, bytes | None], None]
"""Called with a channel and what was published there; with none once the channel is listened to, since what was
published before then is missed."""


async def listen(
    options: ConnectionOptions,
    channels: Sequence[str],
    heard: Heard,
    *,
    quiet: float = QUIET,
    pause: float = PAUSE,
) -> None:
    """Listen until cancelled, over a connection of its own that is made again whenever it is lost.

    Returns where the user may not listen. Notices are a courtesy: a server that is away is not reported.

    Args:
        options: Which server; in a cluster any node passes on what is published at any other.
        channels: The channels, at least one.
        heard: What to do; it must not raise.
        quiet: Seconds of silence after which a sign of life is asked for.
        pause: Seconds, at most, before a lost connection is made again.
    """
    for address in cycle(options.addresses or (None,)):
        pool = connection_pool(options, address)
        try:
            async with asyncio.timeout(options.timeout.total_seconds()):
                connection = await pool.get_connection()  # type: ignore[no-untyped-call] # redis-py has no types here
                names = [name_bytes(channel) for channel in channels]
                await connection.send_command("SUBSCRIBE", *names)
            while True:
                _pass_on(await _next(connection, quiet, options.timeout.total_seconds()), heard)
        except NoPermissionError:
            return
        except (RedisError, OSError, TimeoutError):
            pass
        finally:
            await pool.aclose()
        await asyncio.sleep(pause * random.uniform(0.5, 1))  # noqa: S311 - so that workers come back one by one


async def _next(connection: AbstractConnection, quiet: float, patience: float) -> Reply:
    """What comes next; after a while of silence a sign of life is asked for, and comes as a reply of its own."""
    with suppress(TimeoutError):
        async with asyncio.timeout(quiet):
            return await connection.read_response(disconnect_on_error=False)
    await connection.send_command("PING", check_health=False)
    async with asyncio.timeout(patience):
        return await connection.read_response(disconnect_on_error=False)


def _pass_on(reply: Reply, heard: Heard) -> None:
    match reply:
        case [b"message", bytes(channel), bytes(text)]:
            heard(decode_name(channel), text)
        case [b"subscribe", bytes(channel), int()]:
            heard(decode_name(channel), None)
