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
"""Raises if nothing is to be sent after all, now that it is known which connection it goes over."""

UNSENT = "nothing was sent"
"""The note on an error that came before the first command was sent."""

BREATH = 256
"""Replies decoded between two turns of the event loop, so that a screen stays responsive."""


class Node:
    """One server process and the connections to it.

    Attributes:
        label: Its address in words.
        scripts: Digests of scripts that it has run, and so knows unless it has forgotten them.
        takes_digests: Whether the user may name scripts by their digests, as far as is known.
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

        Replies are decoded as they come in, while the server works on the next ones. The time limit is one
        of silence, not of the whole: it starts again whenever bytes come in, within a reply too, so that a slow
        link is no fault. Nothing else limits a batch: a server that sends a byte now and then forever is
        listened to forever, and is trusted not to.

        Args:
            commands: What to send.
            decoders: What to make of each reply, errors excepted; raw replies if it is shorter or none.
            insist: Asked right before something is sent.

        Raises:
            redis.exceptions.RedisError: The connection failed, or was refused.
            TimeoutError: The server was silent for longer than the limit.

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
            # Sent before anything else is done, the time limit included: the server works meanwhile.
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
                    # It is the primary no more; who is, is asked for with the next connection.
                    await connection.disconnect(nowait=True)
                    break
        except BaseException:
            # Replies still on their way would be taken for those of the next batch.
            await connection.disconnect(nowait=True)
            raise
        finally:
            self._pool.give_back(connection)
        return replies

    async def close(self) -> None:
        """Close all connections, without a pause; batches from now on fail."""
        await self._pool.aclose()

    async def _connect(self) -> AbstractConnection:
        """A connection that is new, or was found in order after a closer look."""
        try:
            async with ReadTimeout(self._timeout):
                # The event loop must hear of connections that the server closed before the pool hands out one.
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
    """Commands as they go over the wire; redis-py packs asyncio commands in Python, hiredis does it in C."""
    if hiredis is None:
        return b"".join([b"".join(connection.pack_command(*encoded(one))) for one in commands])
    pack: Callable[[Command], bytes] = hiredis.pack_command  # type: ignore[assignment]  # its stub says one-tuple
    try:
        # It encodes text itself, three times as fast, as long as that is UTF-8.
        return b"".join([pack(one) for one in commands])
    except UnicodeEncodeError:
        return b"".join([pack(encoded(one)) for one in commands])


def encoded(command: Command) -> tuple[bytes | int, ...]:
    """Names were read as UTF-8 with surrogate escapes; they go back as the bytes they were."""
    return tuple(name_bytes(part) if isinstance(part, str) else part for part in command)


LATE: Final = 0.1
"""Seconds by which a timer that is due may be late before this process, and not the server, is what stood still."""


@final
class ReadTimeout:
    """Gives up what is done inside, by a ``TimeoutError``, after so long a silence; used once.

    If this process itself stood still meanwhile (suspended, starved, or busy with a handler that blocks), a reply may
    have come that were not looked at: then the limit starts again, once for each silence.

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
        """Something was heard: the limit starts again."""
        # The timer finds it when it is due: to set one costs more than to read a piece of a reply.
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
