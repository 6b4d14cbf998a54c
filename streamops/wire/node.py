"""One server process, asked in batches."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import zip_longest
from types import TracebackType
from typing import Any, Final, final

from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from streamops.model.text import name_bytes
from streamops.wire.faults import is_read_only
from streamops.wire.redis_internals import ClosingPool, receiving, writer_of

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

Insist = Callable[[], None]
"""Called once the connection is known, before anything is sent; raises to refuse."""

UNSENT = "nothing was sent"
"""The note on an error that came before the first command was sent."""

BREATH = 256
"""Replies decoded between two turns of the event loop, so that a screen stays responsive."""


class Node:
    """One server process and the connections to it.

    Attributes:
        label: Its address in words.
        scripts: Digests of scripts that it has run, and caches unless it was restarted or flushed.
        takes_digests: Whether the user may run EVALSHA; true until it is denied.
    """

    def __init__(self, pool: ClosingPool, label: str, timeout: float) -> None:
        self.label = label
        self.scripts: set[str] = set()
        self.takes_digests = True
        self._pool = pool
        self._timeout = timeout
        # If all connections are in use, a caller waits for one; redis-py would refuse.
        self._turns = asyncio.Semaphore(pool.max_connections)

    async def batch(
        self,
        commands: Sequence[Command],
        decoders: Sequence[Decoder | None] = (),
        insist: Insist | None = None,
    ) -> list[Reply]:
        """Send all commands in one pipeline and return their replies in order.

        Replies are decoded as they arrive, while the server works on the next ones. The timeout is a read timeout: it
        restarts whenever bytes arrive, also within a reply, so that a slow link is no failure. Nothing limits a batch as a
        whole: a server that sends a byte now and then keeps it open.

        Args:
            commands: What to send.
            decoders: What to make of each reply, errors excepted; raw replies if it is shorter or none.
            insist: Called right before something is sent.

        Raises:
            redis.exceptions.RedisError: The connection failed, or was refused.
            TimeoutError: The server sent nothing for longer than the read timeout.

        ``was_sent`` says of these whether the server may have got anything.
        """
        if not commands:
            return []
        async with self._turns:
            return await self._exchange(commands, decoders, insist)

    async def _exchange(
        self,
        commands: Sequence[Command],
        decoders: Sequence[Decoder | None],
        insist: Insist | None,
    ) -> list[Reply]:
        connection = await self._pool.take() or await self._connect()
        try:
            if insist is not None:
                insist()
            writer = writer_of(connection)
            # Written before the timeout is set up: the server works meanwhile.
            writer.write(_packed(connection, commands))
            async with ReadTimeout(self._timeout) as silence:
                receive = receiving(connection, silence.broken)
                replies: list[Reply] = []
                for number, (_, decode) in enumerate(zip_longest(commands, decoders), start=1):
                    reply = await receive()
                    replies.append(reply if decode is None or isinstance(reply, Exception) else decode(reply))
                    if number % BREATH == 0:
                        silence.broken()
                        await asyncio.sleep(0)
            for reply in replies:
                if isinstance(reply, Exception) and is_read_only(reply):
                    # It is no longer the primary; the next connection asks which server is.
                    await connection.disconnect(nowait=True)
                    break
        except BaseException:
            # Replies still under way would be taken for those of the next batch.
            await connection.disconnect(nowait=True)
            raise
        finally:
            self._pool.give_back(connection)
        return replies

    async def close(self) -> None:
        """Close all connections, without a pause; batches from now on fail."""
        await self._pool.aclose()

    async def _connect(self) -> AbstractConnection:
        """A new connection, or one from the pool that was checked."""
        try:
            async with ReadTimeout(self._timeout):
                # The event loop must notice connections that the server has closed before the pool hands one out.
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                connection: AbstractConnection = await self._pool.get_connection()  # type: ignore[no-untyped-call] # redis-py has no types here
                return connection
        except (RedisError, OSError, TimeoutError) as error:
            error.add_note(UNSENT)
            raise


def was_sent(error: Exception) -> bool:
    """Whether the server may have got commands of the batch that failed with an error."""
    return UNSENT not in getattr(error, "__notes__", ())


def _packed(connection: AbstractConnection, commands: Sequence[Command]) -> bytes:
    """Encode commands; redis-py does it in Python for asyncio, hiredis in C."""
    if hiredis is None:
        return b"".join([b"".join(connection.pack_command(*encoded(one))) for one in commands])
    pack: Callable[[Command], bytes] = hiredis.pack_command  # type: ignore[assignment]  # its stub says one-tuple
    try:
        # It encodes text itself, three times as fast, if that is UTF-8.
        return b"".join([pack(one) for one in commands])
    except UnicodeEncodeError:
        return b"".join([pack(encoded(one)) for one in commands])


def encoded(command: Command) -> tuple[bytes | int, ...]:
    """Encode text, which was read as UTF-8 with surrogate escapes, as the original bytes."""
    return tuple(name_bytes(part) if isinstance(part, str) else part for part in command)


LATE: Final = 0.1
"""Seconds by which a timer may be late before this process, and not the server, counts as stalled."""


@final
class ReadTimeout:
    """Raises ``TimeoutError`` inside if nothing is received for some seconds; used once.

    If this process itself was stalled (suspended, starved, or blocked by a handler), a reply may have arrived that was not
    read yet: then the timeout restarts, once for each silence.

    Args:
        seconds: The limit.
    """

    __slots__ = ("_due", "_excused", "_loop", "_scope", "_seconds", "_timer")

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._scope = asyncio.timeout(None)
        self._excused = False

    async def __aenter__(self) -> "ReadTimeout":
        await self._scope.__aenter__()
        self._loop = asyncio.get_running_loop()
        self._due = self._loop.time() + self._seconds
        self._timer = self._loop.call_at(self._due, self._look)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        await self._scope.__aexit__(kind, error, trace)

    def broken(self) -> None:
        """Restart the timeout, as bytes arrived."""
        # The running timer reads this when it is due: to set a new one costs more than to read a piece of a reply.
        self._due = self._loop.time() + self._seconds
        self._excused = False

    def _look(self) -> None:
        now = self._loop.time()
        if now - self._due > LATE and not self._excused:
            self._excused = True
            self._due = now + self._seconds
        if now < self._due:
            self._timer = self._loop.call_at(self._due, self._look)
        else:
            self._scope.reschedule(now)
