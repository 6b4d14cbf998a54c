"""The primary: one server, or the one that Sentinels name, and what all clients of a process know of it."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, cast

from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.sentinel import MasterNotFoundError, Sentinel, SentinelConnectionPool
from redis.exceptions import AuthenticationError, RedisError, ResponseError

from streamops.wire.faults import PrimaryReplacedError, SentinelLoginError
from streamops.wire.node import Node
from streamops.wire.redis_internals import ClosingPool

LONGEST_FAILOVER: Final = 30.0
"""Seconds after which every healthy Sentinel has heard of a failover, or the failover has failed."""

LOOK_EVERY: Final = 1.0
"""Seconds after which the next call asks the Sentinels again."""

LONGEST_LOOK: Final = 0.5
"""Seconds that a call waits for the Sentinels at most."""

LET_BE: Final = 10.0
"""Seconds after which they are asked again if none answered: the primary may be healthy, and calls must not wait."""


class NamedPrimary(NamedTuple):
    """The primary that a Sentinel names.

    Attributes:
        epoch: The failover's configuration epoch; lower at a Sentinel that has not heard of the last failover.
        address: Its host and port.
    """

    epoch: int
    address: tuple[str, int]


class PrimaryTracker:
    """The last known primary: once one client learns of a failover, none sends to the former primary.

    Attributes:
        last: The primary that a Sentinel named last; none before the first answer.
        moves: How often a slot of a cluster has moved to another node.
    """

    def __init__(self) -> None:
        self.last: NamedPrimary | None = None
        self.moves = 0
        self._agreed: tuple[tuple[str, int], float] | None = None

    def is_newer_than(self, named: NamedPrimary) -> bool:
        """Whether the last known primary is later than this one."""
        return self.last is not None and self.last.epoch > named.epoch

    def follow(self, named: NamedPrimary) -> None:
        """Accept a primary."""
        self.last = named
        self._agreed = None

    def doubt(self) -> None:
        """Restart the count of ``agreed_for``: a Sentinel may know of a later primary."""
        self._agreed = None

    def agreed_for(self, late: Sequence[NamedPrimary], now: float) -> float:
        """Seconds for which Sentinels with an older epoch have agreed on one primary, since the last ``doubt``."""
        addresses = {named.address for named in late}
        if len(addresses) != 1:
            self.doubt()
            return 0.0
        (address,) = addresses
        if self._agreed is None or self._agreed[0] != address:
            self._agreed = address, now
        return now - self._agreed[1]


class SentinelClient(Sentinel):
    """The Sentinels of one deployment, asked in turn.

    Args:
        pools: Connections to each of them.
        patience: Seconds that each has to answer.
        tracker: The last known primary, shared with other clients.
    """

    def __init__(self, pools: Iterable[ClosingPool], patience: float, tracker: PrimaryTracker) -> None:
        super().__init__([])  # type: ignore[no-untyped-call] # redis-py has no types here
        self._patience = patience
        self._tracker = tracker
        self.sentinels = [Redis.from_pool(pool) for pool in pools]

    async def discover_master(self, service_name: str, within: float | None = None) -> tuple[str, int]:
        """Host and port of the primary. Overridden, as redis-py's error would be a list of client objects.

        A Sentinel that has not heard of the last failover is passed over, unless no other can know of a later one: Sentinels
        that were set up again count epochs from the beginning. One that does not answer, or names no primary, may know of a
        later one; but one that does not answer counts no longer than ``LONGEST_FAILOVER`` if most of the others agree.

        Args:
            service_name: The service.
            within: Seconds that the Sentinels asked first share: as many as may be down, and one more.

        Raises:
            redis.exceptions.RedisError: No Sentinel named a healthy primary: what one of them said, else why the last one could not be asked.
            TimeoutError: The last one did not answer in time.
        """
        problem: RedisError | TimeoutError = MasterNotFoundError("no Sentinel was asked")
        answer: MasterNotFoundError | None = None
        late: list[NamedPrimary] = []
        strangers = 0
        patience = self._share(within)
        # Other lookups may change the order meanwhile.
        for sentinel in tuple(self.sentinels):
            try:
                # Not redis-py's own time limit: its wait_for may swallow that the caller was cancelled.
                async with asyncio.timeout(patience):
                    known, named = await self._ask(sentinel, service_name)
            except (RedisError, TimeoutError) as error:
                problem = SentinelLoginError(str(error)) if isinstance(error, AuthenticationError) else error
                # One that does not answer delays no caller the next time.
                self._put(sentinel, len(self.sentinels))
            else:
                if named and not self._tracker.is_newer_than(named):
                    # A Sentinel that knew is asked first the next time.
                    self._put(sentinel, 0)
                    return self._follow(named)
                if known and not named:
                    self._tracker.doubt()
                late += filter(None, (named,))
                strangers += not known
                reason = "is down and no new primary is elected yet" if known else "is unknown"
                answer = MasterNotFoundError(f"the Sentinels say that the service {service_name!r} {reason}")
        if not late:
            raise answer or problem
        if len(late) + strangers < len(self.sentinels):
            self._outlast(late)
        return self._follow(max(late))

    def _share(self, within: float | None) -> float:
        """Seconds that each Sentinel has to answer."""
        if within is None:
            return self._patience
        return min(self._patience, within / (len(self.sentinels) // 2 + 1))

    def _put(self, sentinel: Redis, at: int) -> None:
        self.sentinels.remove(sentinel)
        self.sentinels.insert(at, sentinel)

    def _outlast(self, late: Sequence[NamedPrimary]) -> None:
        """Raise, unless most Sentinels have agreed for so long that a silent one cannot know of a later failover."""
        most = late if len(late) > len(self.sentinels) // 2 else ()
        if self._tracker.agreed_for(most, time.monotonic()) < LONGEST_FAILOVER:
            raise MasterNotFoundError("the Sentinels that name a primary have not heard of the last failover")

    async def _ask(self, sentinel: Redis, service_name: str) -> tuple[bool, NamedPrimary | None]:
        """Whether a Sentinel knows the service, and which server it names, if a healthy one."""
        state = await _state(sentinel, service_name)
        if state is None:
            return False, None
        address = state["ip"], state["port"]
        if "failover_in_progress" in state["flags"]:
            # The state describes the former primary until all replicas follow the new one, which is named before that.
            promoted = await _promoted(sentinel, service_name)
            if promoted and promoted != address:
                # Read again: the epoch is known only once it was promoted, which may have been a moment ago.
                state = await _state(sentinel, service_name) or state
                return True, NamedPrimary(_epoch(state), promoted)
        is_well = "master" in state["flags"] and not state["flags"] & {"s_down", "o_down"}
        return True, NamedPrimary(_epoch(state), address) if is_well else None

    def _follow(self, named: NamedPrimary) -> tuple[str, int]:
        self._tracker.follow(named)
        return named.address

    async def aclose(self) -> None:
        """Close all connections, without a pause; redis-py does it in tasks, which may be cancelled."""
        # A lookup under way changes their order.
        for sentinel in tuple(self.sentinels):
            await sentinel.aclose()


async def _state(sentinel: Redis, service_name: str) -> dict[str, Any] | None:
    """What a Sentinel says of the primary of a service; None if it does not know the service.

    Raises:
        redis.exceptions.ResponseError: It is a Sentinel in name only, and leaves out what is needed.
    """
    problem = "SENTINEL MASTERS without the name, ip, port and flags of each primary"
    try:
        masters = cast("dict[str, dict[str, Any]]", await sentinel.sentinel_masters())
    except (KeyError, TypeError, AttributeError):
        # What redis-py raises for it.
        raise ResponseError(problem) from None
    state = masters.get(service_name)
    if state is not None and not (state.get("ip") and isinstance(state.get("port"), int)):
        raise ResponseError(problem)
    return state


def _epoch(state: dict[str, Any]) -> int:
    """The number of the failover; a server that merely speaks like a Sentinel counts none."""
    epoch = state.get("config-epoch")
    return epoch if isinstance(epoch, int) else 0


async def _promoted(sentinel: Redis, service_name: str) -> tuple[str, int] | None:
    """Host and port that a Sentinel gives to clients that ask for the primary's."""
    told = cast("tuple[bytes, int] | None", await sentinel.sentinel_get_master_addr_by_name(service_name))
    return (told[0].decode(), told[1]) if told else None


class SentinelPool(ClosingPool, SentinelConnectionPool):
    """Connections to the primary; closes those to the Sentinels too.

    Attributes:
        changes: How often another server has become the primary.
    """

    sentinel_manager: SentinelClient
    _address: tuple[str, int] | None = None
    changes = 0

    @property
    def master_address(self) -> tuple[str, int] | None:
        """The primary's address by the last answer of a Sentinel; None before that."""
        return self._address

    @master_address.setter
    def master_address(self, address: tuple[str, int] | None) -> None:
        # A property, since redis-py sets it with every connection: a change is counted before anything is sent there.
        self.changes += self._address not in {None, address}
        self._address = address

    async def follow(self, address: tuple[str, int]) -> None:
        """Follow the primary that another client has learned of; close idle connections to the former one."""
        if address != self.master_address:
            self.master_address = address
            await self.disconnect(inuse_connections=False)

    async def get_master_address(self) -> tuple[str, int]:
        """Ask for the primary's address; close idle connections to another one."""
        address: tuple[str, int] = await super().get_master_address()  # type: ignore[no-untyped-call] # redis-py has no types here
        return address

    async def look(self, within: float) -> tuple[str, int]:
        """Ask for the primary's address, for ``within`` seconds at most; connections stay open."""
        async with asyncio.timeout(within):
            return await self.sentinel_manager.discover_master(self.service_name, within)

    async def take(self) -> AbstractConnection | None:
        """A connection to the primary that can be used as it is; one to a former primary is made again first."""
        connection = await super().take()
        if connection is None or _leads_to(connection, self.master_address):
            return connection
        try:
            await connection.disconnect(nowait=True)
        finally:
            self.give_back(connection)
        return None

    async def aclose(self) -> None:
        """Close all connections."""
        await super().aclose()
        await self.sentinel_manager.aclose()


def _leads_to(connection: AbstractConnection, address: tuple[str, int] | None) -> bool:
    return (getattr(connection, "host", None), getattr(connection, "port", None)) == address


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
