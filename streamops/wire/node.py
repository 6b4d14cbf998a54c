"""One server process, asked in batches."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError, ResponseError

from streamops.wire.pool import Pool

try:
    import hiredis
except ImportError:
    hiredis = None  # type: ignore[assignment]  # an optional extra

Argument = str | bytes | int
Command = tuple[Argument, ...]
Reply = Any
"""A raw reply: bytes, int, none, a list of replies, or a ``ResponseError`` where the server answered one."""

Decoder = Callable[[Reply], Any]
"""Makes a noun of a raw reply that is no error."""

BREATH = 256
"""Replies decoded between two turns of the event loop, so that a screen stays responsive."""


class Node:
    """One server process and the connections to it.

    Attributes:
        label: Its address in words.
    """

    def __init__(self, pool: Pool, label: str, timeout: float) -> None:
        self.label = label
        self._pool = pool
        self._timeout = timeout

    async def batch(
        self, commands: Sequence[Command], decoders: Sequence[Decoder | None] = ()
    ) -> list[Reply]:
        """Send all commands in one pipeline and return their replies in order.

        Replies are decoded as they come in, while the server works on the next ones. The time limit is one
        of silence, not of the whole: it starts anew while replies keep coming.

        Args:
            commands: What to send.
            decoders: What to make of each reply, errors excepted; raw replies where it is shorter or none.

        Raises:
            redis.exceptions.RedisError: The connection failed, or was refused.
            TimeoutError: The server was silent for longer than the limit.
        """
        if not commands:
            return []
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._timeout) as patience:
            # The event loop must hear of connections that the server closed before the pool hands out one.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            connection = await self._pool.get_connection()  # type: ignore[no-untyped-call] # redis-py has no types here
            try:
                await connection.send_packed_command(_packed(connection, commands), check_health=False)
                replies: list[Reply] = []
                for number, (_, decode) in enumerate(zip_longest(commands, decoders)):
                    if number % BREATH == 0:
                        patience.reschedule(loop.time() + self._timeout)
                        await asyncio.sleep(0)
                    reply = await _reply(connection)
                    replies.append(reply if decode is None or isinstance(reply, Exception) else decode(reply))
            except BaseException:
                # Replies still on their way would be taken for those of the next batch.
                await connection.disconnect(nowait=True)
                raise
            finally:
                await self._pool.release(connection)
        return replies

    async def close(self) -> None:
        """Close all connections, without a pause; batches from now on fail."""
        await self._pool.aclose()


async def _reply(connection: AbstractConnection) -> Reply:
    try:
        return await connection.read_response()
    except RedisError as error:
        if not isinstance(error, ResponseError):
            raise
        return error


def _packed(connection: AbstractConnection, commands: Sequence[Command]) -> list[bytes]:
    """Commands as they go over the wire; redis-py packs asyncio commands in Python, hiredis does it in C."""
    encoded = [_encoded(command) for command in commands]
    if hiredis is None:
        return connection.pack_commands(encoded)
    pack: Callable[[tuple[bytes | int, ...]], bytes] = hiredis.pack_command  # type: ignore[assignment]  # its stub says one-tuple
    return [b"".join(map(pack, encoded))]


def _encoded(command: Command) -> tuple[bytes | int, ...]:
    """Names were read as UTF-8 with surrogate escapes; they go back as the bytes they were."""
    return tuple(
        part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part for part in command
    )
