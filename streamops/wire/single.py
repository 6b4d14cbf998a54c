"""A standalone server, and the primary behind Sentinels."""

import time
from collections.abc import Iterable
from typing import Final

from redis.asyncio.sentinel import MasterNotFoundError
from redis.exceptions import RedisError

from streamops.wire.connect import connection_pool
from streamops.wire.node import Node
from streamops.wire.options import ConnectionOptions
from streamops.wire.primary_tracker import PrimaryReplacedError, PrimaryTracker
from streamops.wire.sentinel import SentinelPool

LOOK_EVERY: Final = 1.0
"""Seconds after which the Sentinels are asked again, by the next caller that sends something."""

LONGEST_LOOK: Final = 0.5
"""Seconds that a caller waits for the Sentinels at most."""

LET_BE: Final = 10.0
"""The same where none of them answered: the primary may be well all the same, and no caller is to wait for them."""


class Single:
    """One server; to its callers, a cluster of one node.

    Attributes:
        nodes: The node.
        ready: Whether commands can be sent without ``prepare``.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self.nodes = (node,)

    @property
    def changes(self) -> int:
        """How often the primary was replaced: never."""
        return 0

    @property
    def ready(self) -> bool:
        """Always."""
        return True

    async def prepare(self) -> None:
        """Do nothing: the server is known."""

    def distrust(self, troubled: Iterable[Node] = ()) -> None:
        """Do nothing: there is no other server."""

    def on_slot_moved(self) -> None:
        """Do nothing: redirects are not followed."""

    def node_of(self, key: str) -> Node:  # noqa: ARG002 - one node serves every key
        """The node."""
        return self._node

    def node_at(self, host: str, port: int, referrer: Node) -> None:
        """Return none: redirects of a cluster member that is used as a standalone server are not followed."""

    async def close(self) -> None:
        """Close all connections, without a pause; batches from now on fail."""
        await self._node.close()


class SentinelPrimary(Single):
    """The primary that the Sentinels name, who are asked at every connection, and every second besides.

    A primary that was replaced takes writes for some ten seconds more, until the Sentinels tell it; all of them are
    lost. Clients connected to it before would go on with it. Those that share a tracker do not once one has heard:
    what was read from the new one would be acknowledged at the former one, and come again.
    """

    def __init__(self, node: Node, pool: SentinelPool, tracker: PrimaryTracker) -> None:
        super().__init__(node)
        self._pool = pool
        self._tracker = tracker
        self._known: tuple[str, int] | None = None
        self._failed = False
        self._look_at = 0.0

    @property
    def changes(self) -> int:
        """How often the primary was replaced."""
        return self._pool.changes

    @property
    def ready(self) -> bool:
        """Whether the Sentinels were asked within ``LOOK_EVERY``, and no client has learned of another primary since."""
        return time.monotonic() < self._look_at and self._news() is None

    async def prepare(self) -> None:
        """Ask the Sentinels if the last answer is older than ``LOOK_EVERY``.

        Raises:
            PrimaryReplacedError: They name another primary, which may know less than the one before: once.
        """
        if self.ready:
            return
        # Before anything is awaited: one asks, and other callers need not wait.
        self._look_at = time.monotonic() + LOOK_EVERY
        self._known = self._believed
        if self._known is None:
            # The first connection will ask.
            return
        if news := self._news():
            await self._go_on_with(news)
            return
        try:
            now = await self._pool.look(LONGEST_LOOK)
        except MasterNotFoundError:
            # It is down, they say, and a moment later there will be another one.
            return
        except (RedisError, OSError, TimeoutError):
            self._look_at = time.monotonic() + LET_BE
            return
        await self._go_on_with(now)

    async def _go_on_with(self, address: tuple[str, int]) -> None:
        # Before anything is awaited: of many that send something now one is told.
        known, self._known = self._known, address
        failed, self._failed = self._failed, False
        await self._pool.follow(address)
        if address != known and not failed:
            raise PrimaryReplacedError("the Sentinels name another primary than a moment ago")

    @property
    def _believed(self) -> tuple[str, int] | None:
        """The current primary; none before the first connection."""
        return self._known or self._pool.master_address

    def _news(self) -> tuple[str, int] | None:
        """The primary that another client of the tracker has learned of, if it differs."""
        last, known = self._tracker.last, self._believed
        return last.address if last and known and last.address != known else None

    def distrust(self, troubled: Iterable[Node] = ()) -> None:  # noqa: ARG002 - there is one
        """Note that the primary failed: the caller has an error already, so a replaced primary raises none."""
        self._failed = True


def single_server(options: ConnectionOptions, tracker: PrimaryTracker) -> Single:
    """The server of these options, or of their Sentinels, and of what others have heard of them."""
    pool = connection_pool(options, tracker=tracker)
    node = Node(pool, options.label, options.timeout.total_seconds())
    return SentinelPrimary(node, pool, tracker) if isinstance(pool, SentinelPool) else Single(node)
