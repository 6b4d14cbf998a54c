"""Sentinels: who the primary is, and in one line why nobody says."""

import asyncio
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection
from redis.asyncio.sentinel import MasterNotFoundError, Sentinel, SentinelConnectionPool
from redis.exceptions import AuthenticationError, RedisError
from redis.exceptions import ConnectionError as LostConnection

from streamops.wire.pool import Pool


class SentinelLoginError(AuthenticationError):
    """A Sentinel itself wants another password than the one it was given."""


class PrimaryReplacedError(LostConnection):
    """Another server is the primary than the one that was asked so far, and may know less."""


class Named(NamedTuple):
    """Whom a Sentinel names.

    Attributes:
        epoch: The number of the failover that made it the primary; a Sentinel that was told late has a lower one.
        address: Its host and port.
    """

    epoch: int
    address: tuple[str, int]


class Succession:
    """Who the primary is, as far as anybody of a company has heard: none of them goes on with a former one then.

    Attributes:
        last: Whom the Sentinels named last; none before they were asked.
    """

    def __init__(self) -> None:
        self.last: Named | None = None

    def is_newer_than(self, named: Named) -> bool:
        """Whether a later primary was heard of."""
        return self.last is not None and self.last.epoch > named.epoch


class Watchers(Sentinel):
    """The Sentinels of one deployment, asked in turn.

    Args:
        pools: Connections to each of them.
        patience: Seconds that each has for its answer.
        succession: What the company of those who ask has heard, and will.
    """

    def __init__(self, pools: Iterable[Pool], patience: float, succession: Succession) -> None:
        super().__init__([])  # type: ignore[no-untyped-call] # redis-py has no types here
        self._patience = patience
        self._succession = succession
        self.sentinels = [Redis.from_pool(pool) for pool in pools]

    async def discover_master(self, service_name: str) -> tuple[str, int]:
        """Host and port of the primary; redis-py's own error would be a list of client objects.

        A Sentinel that has not heard of the last failover is passed over, unless nobody can know better: those that were
        set up anew count failovers from the beginning. Whoever does not answer, or names nobody, may know better.

        Raises:
            redis.exceptions.RedisError: No Sentinel named a healthy primary: what one of them said, else why the last one could not be asked.
            TimeoutError: The last one did not answer in time.
        """
        problem: RedisError | TimeoutError = MasterNotFoundError("no Sentinel was asked")
        answer: MasterNotFoundError | None = None
        late: list[Named] = []
        strangers = 0
        # Others may change the order meanwhile.
        for sentinel in tuple(self.sentinels):
            try:
                # Not redis-py's own time limit: its wait_for may swallow that the caller was cancelled.
                async with asyncio.timeout(self._patience):
                    known, named = await self._ask(sentinel, service_name)
            except AuthenticationError as error:
                problem = SentinelLoginError(str(error))
            except (RedisError, TimeoutError) as error:
                problem = error
            else:
                if named and not self._succession.is_newer_than(named):
                    # Whoever knew is asked first the next time.
                    self.sentinels.remove(sentinel)
                    self.sentinels.insert(0, sentinel)
                    return self._follow(named)
                late += filter(None, (named,))
                strangers += not known
                reason = "is down and its successor not chosen yet" if known else "is unknown"
                answer = MasterNotFoundError(f"the Sentinels say that the service {service_name!r} {reason}")
        if not late:
            raise answer or problem
        if len(late) + strangers < len(self.sentinels):
            raise MasterNotFoundError("the Sentinels that name a primary have not heard of the last failover")
        return self._follow(max(late))

    async def _ask(self, sentinel: Redis, service_name: str) -> tuple[bool, Named | None]:
        """Whether a Sentinel knows the service, and whom it names, if anybody healthy."""
        state = await _state(sentinel, service_name)
        if state is None:
            return False, None
        address = state["ip"], state["port"]
        if "failover_in_progress" in state["flags"]:
            # The state is the former one's until all replicas were told of the new one, which is named before that.
            promoted = await _promoted(sentinel, service_name)
            if promoted and promoted != address:
                # Its number is known since it was promoted, which may have been a moment ago.
                state = await _state(sentinel, service_name) or state
                return True, Named(state["config-epoch"], promoted)
        is_well = self.check_master_state(state, service_name)
        return True, Named(state["config-epoch"], address) if is_well else None

    def _follow(self, named: Named) -> tuple[str, int]:
        self._succession.last = named
        return named.address

    async def aclose(self) -> None:
        """Close all connections, without a pause; redis-py does it in tasks, which may be cancelled."""
        for sentinel in self.sentinels:
            await sentinel.aclose()


async def _state(sentinel: Redis, service_name: str) -> dict[str, Any] | None:
    """What a Sentinel says of the primary of a service; none where it does not know the service."""
    masters = cast("dict[str, dict[str, Any]]", await sentinel.sentinel_masters())
    return masters.get(service_name)


async def _promoted(sentinel: Redis, service_name: str) -> tuple[str, int] | None:
    """Host and port that a Sentinel gives to whoever asks for the primary's."""
    told = cast("tuple[bytes, int] | None", await sentinel.sentinel_get_master_addr_by_name(service_name))
    return (told[0].decode(), told[1]) if told else None


class SentinelPool(Pool, SentinelConnectionPool):
    """Connections to the primary; closes those to the Sentinels too.

    Attributes:
        changes: How often another server has become the primary.
    """

    _address: tuple[str, int] | None = None
    changes = 0

    @property
    def master_address(self) -> tuple[str, int] | None:
        """Who the primary was when a Sentinel was last asked; none before that."""
        return self._address

    @master_address.setter
    def master_address(self, address: tuple[str, int] | None) -> None:
        # Here, since redis-py sets it too, at any connection: it is counted before anything can be sent there.
        self.changes += self._address not in {None, address}
        self._address = address

    async def follow(self, address: tuple[str, int]) -> None:
        """Somebody else was told who the primary is: go on with that one; idle connections to another are closed."""
        if address != self.master_address:
            self.master_address = address
            await self.disconnect(inuse_connections=False)

    async def get_master_address(self) -> tuple[str, int]:
        """Who the primary is, as a Sentinel says; idle connections to another one are closed."""
        address: tuple[str, int] = await super().get_master_address()  # type: ignore[no-untyped-call] # redis-py has no types here
        return address

    async def take(self) -> AbstractConnection | None:
        """A connection to the primary that can be used as it is; one to a former primary is made anew first."""
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
