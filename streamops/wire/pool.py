"""A pool that leaves no connection open, whatever else ends while it is closed.

redis-py closes every connection of a pool in a task of its own, and lets a closed pool make new ones. Where
an event loop ends, those tasks are cancelled before they begin, and what was just being connected stays open.

It also hands out an idle connection without redis-py's ceremony, which costs as much as the command itself.
"""

import select

from redis.asyncio.connection import AbstractConnection, ConnectionPool
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import RedisError


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
        """A connection that can be used as it is; none where ``get_connection`` has to make or mend one first."""
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
            # Whoever mends it will see.
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
    writer = connection._writer  # noqa: SLF001 - redis-py has no other way to its socket
    if writer is None or writer.is_closing() or await connection.can_read():
        return False
    # The event loop has not heard yet of what came since its last turn.
    poll = select.poll()
    poll.register(writer.get_extra_info("socket"), select.POLLIN)
    return not poll.poll(0)


async def _hang_up(connection: AbstractConnection) -> None:
    """Close a connection at once: nothing is awaited, neither a TLS farewell nor a server that takes no more."""
    writer = connection._writer  # noqa: SLF001 - redis-py itself would wait for the farewell, or leave it open
    await connection.disconnect(nowait=True)
    if writer is not None:
        writer.transport.abort()
