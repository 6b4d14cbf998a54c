"""One server: always the same, or whichever one the Sentinels name."""

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
        nodes: The one.
        ready: Whether nothing has to be learned before something is sent.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self.nodes = (node,)

    @property
    def changes(self) -> int:
        """How often another server has become the one: never."""
        return 0

    @property
    def ready(self) -> bool:
        """Always."""
        return True

    async def prepare(self) -> None:
        """Nothing to learn first."""

    def distrust(self, troubled: Iterable[Node] = ()) -> None:
        """Nothing to learn anew."""

    def on_slot_moved(self) -> None:
        """Nothing to heed: what it says has moved is not looked for elsewhere."""

    def node_of(self, key: str) -> Node:  # noqa: ARG002 - one node serves every key
        """The one."""
        return self._node

    def node_at(self, host: str, port: int, referrer: Node) -> None:
        """None: a member of a cluster that is asked as if it were alone must not send us elsewhere."""

    async def close(self) -> None:
        """Close all connections, without a pause; batches from now on fail."""
        await self._node.close()


class SentinelPrimary(Single):
    """The primary that the Sentinels name, who are asked at every connection, and every second besides.

    A primary that was replaced takes writes for some ten seconds more, until the Sentinels tell it; all of them are
    lost. Clients connected to it before would go on with it. Those that share a tracker do not once one has heard:
    what was read from the new one would be acknowledged at the former one, and come again.
    """

    def __init__(self, node: Node, pool: SentinelPool, succession: PrimaryTracker) -> None:
        super().__init__(node)
        self._pool = pool
        self._succession = succession
        self._known: tuple[str, int] | None = None
        self._failed = False
        self._look_at = 0.0

    @property
    def changes(self) -> int:
        """How often another server has become the one."""
        return self._pool.changes

    @property
    def ready(self) -> bool:
        """Whether the Sentinels were asked a moment ago, and none has heard otherwise since."""
        return time.monotonic() < self._look_at and self._news() is None

    async def prepare(self) -> None:
        """Ask the Sentinels, where it is time to.

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
        """Whom this one goes on with; none before the first connection."""
        return self._known or self._pool.master_address

    def _news(self) -> tuple[str, int] | None:
        """The primary that another client of the tracker has heard of, if it is another one."""
        last, known = self._succession.last, self._believed
        return last.address if last and known and last.address != known else None

    def distrust(self, troubled: Iterable[Node] = ()) -> None:  # noqa: ARG002 - there is one
        """Whoever was asked failed, and was told so: another primary is no news then."""
        self._failed = True


def single_server(options: ConnectionOptions, succession: PrimaryTracker) -> Single:
    """The server of these options, or of their Sentinels, and of what others have heard of them."""
    pool = connection_pool(options, succession=succession)
    node = Node(pool, options.label, options.timeout.total_seconds())
    return SentinelPrimary(node, pool, succession) if isinstance(pool, SentinelPool) else Single(node)
