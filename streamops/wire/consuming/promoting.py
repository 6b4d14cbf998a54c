"""Moving delayed messages to their destinations once they are due."""

import asyncio
import random
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from itertools import cycle
from math import ceil, isinf
from typing import Any, Final

from msgspec import Struct
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import NoPermissionError, RedisError

from streamops.model.authority import tag_of
from streamops.model.text import name_bytes
from streamops.wire.connect import connection_pool
from streamops.wire.keys import (
    bodies_key,
    dead_letter_key,
    delayed_key,
    require_one_slot,
)
from streamops.wire.node import Argument, Reply
from streamops.wire.options import ConnectionOptions
from streamops.wire.replies import decode_name, span
from streamops.wire.script_calls import Call, write_script
from streamops.wire.server import Server

LIMIT: Final = 500
MOST_BYTES: Final = 1 << 18
"""Messages and bytes of bodies, about, that one call moves: a few milliseconds of the server's time."""


class Refusal(Struct, frozen=True):
    """Why messages wait another minute: a key that could not be written to, or a queue that a later version wrote.

    Attributes:
        key: The destination, the dead-letter queue, or the queue itself.
        error: What the server said, or what is wrong with their bodies.
        messages: How many.
    """

    key: str
    error: str
    messages: int


class Passed(Struct, frozen=True):
    """Members at the front of a queue that stay where they are: other programs', or of a later version.

    Attributes:
        count: How many.
        last: The last of them; the script starts over if it is not at its rank any more.
    """

    count: int = 0
    last: str = ""


NOTHING_PASSED: Final = Passed()


class Promotion(Struct, frozen=True):
    """What one call came to.

    Attributes:
        moved: How many messages became entries.
        next_due_ms: When the first of those left is due; None if there is none that ever will be.
        now_ms: The server's clock.
        unknown: Retry streams of due messages that were not declared: call again with them.
        buried: Messages that can never become entries and went to the dead letters: ID and reason.
        refused: Keys that could not be written to.
        strays: Bodies beyond the messages that the queue names; they never come due.
        foreign: Due members that are no delayed messages, and stay untouched.
        passed: Give it to the next call, which then goes on behind these.
    """

    moved: int
    next_due_ms: int | None
    now_ms: int
    unknown: tuple[str, ...] = ()
    buried: tuple[tuple[str, str], ...] = ()
    refused: tuple[Refusal, ...] = ()
    strays: int = 0
    foreign: int = 0
    passed: Passed = NOTHING_PASSED

    @property
    def wait(self) -> timedelta | None:
        """How long until the next message is due, by the server's clock; None if there is no next one."""
        if self.next_due_ms is None:
            return None
        return span(max(0, self.next_due_ms - self.now_ms))


async def promote_due(
    server: Server,
    stream: str,
    destinations: Iterable[str] = (),
    limit: int = LIMIT,
    *,
    queue: str = "",
    dead_letters: str = "",
    passed: Passed = NOTHING_PASSED,
) -> Promotion:
    """Move due messages of one queue, the first due first, by the server's clock.

    One script moves each: who calls it twice, or beside others, moves nothing twice. If the server refuses
    as a whole (out of memory, read-only, no permission) nothing was moved.

    Args:
        server: Where.
        stream: The stream in whose queue they wait; always a destination.
        destinations: Retry streams of its groups: ``unknown`` of an earlier call. Messages that name anything else
            are buried.
        limit: The most messages to move.
        queue: That queue, if it is not the one beside the stream.
        dead_letters: The stream's dead-letter queue, if it is not the one beside it.
        passed: What the call before has passed.

    Raises:
        Forbidden: On a cluster, the keys beside the stream are in other slots than it.
        ServerError: The server did not answer. Calling again is harmless.
    """
    queue = queue or delayed_key(stream)
    dead_letters = dead_letters or dead_letter_key(stream)
    require_one_slot(server.options.mode, stream, queue, dead_letters)
    keys = (bodies_key(queue), dead_letters, *dict.fromkeys((stream, *destinations)))
    arguments: tuple[Argument, ...] = (limit, MOST_BYTES, stream, tag_of(stream), passed.count, passed.last)
    call = Call(queue, arguments, _promoted, keys)
    return await write_script(server, "promote_due", call, f"delayed messages of {stream}")


def _promoted(reply: list[Any]) -> Promotion:
    moved, first, now, unknown, buried, refused, strays, foreign, passed, last = reply
    return Promotion(
        moved,
        _instant(first),
        int(now),
        tuple(map(decode_name, unknown)),
        tuple(zip(map(decode_name, buried[::2]), map(decode_name, buried[1::2]), strict=True)),
        tuple(
            Refusal(decode_name(key), decode_name(error), messages)
            for key, error, messages in zip(refused[::3], refused[1::3], refused[2::3], strict=True)
        ),
        max(0, strays),
        foreign,
        Passed(passed, decode_name(last)),
    )


def _instant(score: bytes) -> int | None:
    """A score as milliseconds, none for what never comes; what is beyond all numbers is long overdue."""
    if not score or score == b"inf":
        return None
    value = float(score)
    return 0 if isinf(value) else ceil(value)


QUIET: Final = 10.0
"""Seconds of silence after which the server is asked for a sign of life: a dead connection is silent too."""

PAUSE: Final = 1.0
"""Seconds, at most, before a lost connection is made again."""

Notice = tuple[str, bytes | None]
"""A channel and what was published there; none once the channel is subscribed to, as what was published before is missed."""


async def listen(
    options: ConnectionOptions, channels: Sequence[str], *, quiet: float = QUIET, pause: float = PAUSE
) -> AsyncGenerator[Notice]:
    """Notices on channels, over a connection of its own that is made again whenever it is lost.

    Ends if the user may not subscribe. A server that is away is waited for and not reported.

    Args:
        options: Which server; in a cluster any node passes on what is published at any other.
        channels: The channels, at least one.
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
                reply = await _next(connection, quiet, options.timeout.total_seconds())
                match reply:
                    case [b"message", bytes(channel), bytes(text)]:
                        yield decode_name(channel), text
                    case [b"subscribe", bytes(channel), int()]:
                        yield decode_name(channel), None
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
