"""Every use of names that redis-py keeps to itself, and of what it lets its subclasses override.

A bound on one reply; a socket that is written to and read from in batches; a pool that leaves no connection open, whatever else
ends while it is closed. ``tests/unit/wire/test_redis_internals.py`` names the versions of redis-py that this holds for.
"""
# ruff: noqa: SLF001 - what this module is for

import asyncio
import select
from collections.abc import Awaitable, Callable
from typing import Any, Final

from redis._parsers import _AsyncHiredisParser, _AsyncRESP2Parser
from redis.asyncio.connection import (
    AbstractConnection,
    ConnectionPool,
    SSLConnection,
    UnixDomainSocketConnection,
)
from redis.asyncio.sentinel import SentinelManagedSSLConnection
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import RedisError
from redis.utils import HIREDIS_AVAILABLE

try:
    from redis._parsers.hiredis import NOT_ENOUGH_DATA
except ImportError:
    NOT_ENOUGH_DATA = object()  # without hiredis, an optional extra

MOST_VALUE: Final = 512 << 20
"""Bytes of one value that are read: what servers take (``proto-max-bulk-len``) unless configured otherwise."""

MOST_REPLY: Final = 1 << 30
"""Bytes of one reply: what servers take in one command (``client-query-buffer-limit``), so that no entry is larger. What is
asked for in pages is far smaller, by its count."""

VALUE_BYTES: Final = 200
"""What Python takes for a value of a few bytes."""

LINE: Final = 1 << 16
"""Bytes of a line; asyncio's own bound."""

FEW: Final = 1 << 20
"""Bytes of a reply up to which its values are not counted."""


class ReplyTooLargeError(RedisError):
    """A reply is larger than any that was asked for."""

    def __init__(self, what: str, most: int) -> None:
        size = f"{most >> 20} MiB" if most >> 20 else f"{most >> 10} KiB"
        super().__init__(f"it sent a {what} that takes more than {size}")


class ReplyMemory:
    """What a reply that has not come to its end takes of memory, about."""

    __slots__ = ("_bytes",)

    def __init__(self) -> None:
        self._bytes = 0

    def begin(self) -> None:
        """Another reply begins."""
        self._bytes = 0

    def add(self, data: bytes) -> None:
        """More of it has come; raises ``ReplyTooLargeError``."""
        self._bytes += len(data)
        if self._bytes > FEW:
            # Empty lists by the million are a few bytes each on their way here.
            self._bytes += VALUE_BYTES * data.count(b"\r\n")
            if self._bytes > MOST_REPLY:
                raise ReplyTooLargeError("reply", MOST_REPLY)


class BoundedHiredisParser(_AsyncHiredisParser):
    """hiredis' parser with the bound.

    Attributes:
        burden: Of the reply that is awaited; who asks the reader itself says where one begins.
    """

    def __init__(self, socket_read_size: int) -> None:
        super().__init__(socket_read_size)
        self.burden = ReplyMemory()

    async def read_from_socket(self) -> bool:
        """Read some more of a reply."""
        stream: Any = self._stream
        reader: Any = self._reader
        data = await stream.read(self._read_size)
        if not data:
            raise LostConnection("Connection closed by server.")
        self.burden.add(data)
        reader.feed(data)
        # What it has not made a value of yet is the beginning of one.
        if reader.len() > MOST_VALUE:
            raise ReplyTooLargeError("value", MOST_VALUE)
        return True

    async def read_response(self, disable_decoding: bool = False, push_request: bool = False) -> Any:  # noqa: ANN401, FBT001, FBT002 - redis-py's
        """Read one reply."""
        self.burden.begin()
        try:
            return await super().read_response(disable_decoding, push_request)
        except MemoryError:
            raise ReplyTooLargeError("reply", MOST_REPLY) from None


class BoundedParser(_AsyncRESP2Parser):
    """redis-py's own parser with the bound."""

    def __init__(self, socket_read_size: int) -> None:
        super().__init__(socket_read_size)
        self._burden = ReplyMemory()

    async def read_response(self, disable_decoding: bool = False) -> Any:  # noqa: ANN401, FBT001, FBT002 - redis-py's
        """Read one reply."""
        self._burden.begin()
        return await super().read_response(disable_decoding)

    async def _read(self, length: int) -> bytes:
        if length > MOST_VALUE:
            raise ReplyTooLargeError("value", MOST_VALUE)
        data = await super()._read(length)
        self._burden.add(data)
        return data

    async def _readline(self) -> bytes:
        try:
            line = await super()._readline()
        except ValueError:
            raise ReplyTooLargeError("line", LINE) from None
        self._burden.add(line + b"\r\n")
        return line


PARSER: Final = BoundedHiredisParser if HIREDIS_AVAILABLE else BoundedParser


class SocketConnection(UnixDomainSocketConnection):
    """A unix socket that logs in once; redis-py's own logs in while it connects too, and hides why it was refused."""

    async def _connect(self) -> None:
        async with asyncio.timeout(self.socket_connect_timeout):
            self._reader, self._writer = await asyncio.open_unix_connection(path=self.path)


class NamedSSLConnection(SSLConnection):
    """TLS that asks for, and checks, a name of its own choosing (SNI)."""

    def __init__(self, *, server_name: str, **kwargs: Any) -> None:
        self._server_name = server_name
        super().__init__(**kwargs)

    def _connection_arguments(self) -> dict[str, Any]:
        return {**super()._connection_arguments(), "server_hostname": self._server_name}


class NamedSentinelSSLConnection(SentinelManagedSSLConnection, NamedSSLConnection):
    """The same behind Sentinel."""


def writer_of(connection: AbstractConnection) -> asyncio.StreamWriter:
    """What commands are written to; redis-py's own way waits at once until they are sent."""
    writer = connection._writer
    if writer is None:
        raise LostConnection("the connection was closed")
    return writer


def receiving(connection: AbstractConnection, heard: Callable[[], None]) -> Callable[[], Awaitable[Any]]:
    """What receives one reply after the other; error replies are replies too.

    The parser is asked itself: redis-py's connection would wrap each reply in time limits and error handlers that a
    whole batch has once.

    Args:
        connection: Where they come from.
        heard: Called when bytes have come in and there are more to wait for.
    """
    parser: Any = connection._parser
    reader = getattr(parser, "_reader", None)
    if reader is None:
        return _receiving_slowly(connection, heard)
    parsed: Callable[[], Any] = reader.gets
    fetch: Callable[[], Awaitable[object]] = parser.read_from_socket
    waited = False

    async def receive() -> Any:  # noqa: ANN401 - a raw reply
        nonlocal waited
        try:
            # What has come in already needs no waiting for.
            reply = parsed()
            if reply is NOT_ENOUGH_DATA:
                parser.burden.begin()
            while reply is NOT_ENOUGH_DATA:
                if waited:
                    # Not before the first wait: one short reply, the most frequent case, pays nothing.
                    heard()
                waited = True
                await fetch()
                reply = parsed()
        except MemoryError:
            # An array was announced for which there is no room.
            raise ReplyTooLargeError("reply", MOST_REPLY) from None
        if isinstance(reply, LostConnection):
            # The server said that it takes no commands now.
            raise reply
        return reply

    return receive


def _receiving_slowly(
    connection: AbstractConnection, heard: Callable[[], None]
) -> Callable[[], Awaitable[Any]]:
    """The same without hiredis: redis-py's own parser waits for whole values, and tells nothing of their pieces."""
    parser: Any = connection._parser
    stream: Any = connection._reader
    read: Callable[[], Awaitable[Any]] = parser.read_response
    feed: Callable[[bytes], None] = stream.feed_data

    def feed_and_mark(data: bytes) -> None:
        feed(data)
        heard()

    async def receive() -> Any:  # noqa: ANN401 - a raw reply
        stream.feed_data = feed_and_mark
        try:
            return await read()
        finally:
            # The method of its class is in its place again.
            del stream.feed_data

    return receive


class ClosingPool(ConnectionPool):
    """Connections to one server, all of them gone once it is closed.

    Attributes:
        closed: Whether it was closed; no connection is made or handed out any more.
    """

    closed = False

    async def aclose(self) -> None:
        """Close all connections, without a pause in which a cancellation could come between.

        The sockets themselves are closed by the event loop, in its next turn.
        """
        self.closed = True
        for connection in (*self._available_connections, *self._in_use_connections):
            await _hang_up(connection)

    async def take(self) -> AbstractConnection | None:
        """A connection that can be used as it is; None if ``get_connection`` has to make or mend one first."""
        self._check_open()
        if not self._available_connections:
            return None
        connection = self._available_connections.pop()
        # In one of the two places at every moment: what is in neither would never be closed.
        self._in_use_connections.add(connection)
        ready = False
        try:
            ready = await _is_ready(connection)
        except (RedisError, OSError):
            # The next use makes it anew or fails.
            return None
        finally:
            if not ready:
                self.give_back(connection)
        return connection if ready else None

    def give_back(self, connection: AbstractConnection) -> None:
        """Take a connection back, open or not."""
        self._in_use_connections.remove(connection)
        self._available_connections.append(connection)

    def get_available_connection(self) -> AbstractConnection:
        """A connection that is not in use, maybe not connected yet; redis-py's own ways all come by here."""
        self._check_open()
        connection: AbstractConnection = super().get_available_connection()  # type: ignore[no-untyped-call] # redis-py has no types here
        return connection

    async def ensure_connection(self, connection: AbstractConnection) -> None:
        """Connect; what was still being connected when the pool was closed is closed by who connected it."""
        try:
            await super().ensure_connection(connection)
        except Exception:
            # redis-py stumbles over a connection that is closed in its hands, not always with an error of its own.
            self._check_open()
            raise
        finally:
            if self.closed:
                await _hang_up(connection)
        self._check_open()

    def _check_open(self) -> None:
        if self.closed:
            raise LostConnection("the connections were closed")


async def _is_ready(connection: AbstractConnection) -> bool:
    """Whether a connection is open, and nothing came over it that was not asked for: an end, most likely."""
    writer = connection._writer
    if writer is None or writer.is_closing() or await connection.can_read():
        return False
    # The event loop has not heard yet of what came since its last turn.
    poll = select.poll()
    poll.register(writer.get_extra_info("socket"), select.POLLIN)
    return not poll.poll(0)


async def _hang_up(connection: AbstractConnection) -> None:
    """Close a connection at once: nothing is awaited, neither a TLS farewell nor a server that takes no more."""
    writer = connection._writer
    await connection.disconnect(nowait=True)
    if writer is not None:
        writer.transport.abort()
