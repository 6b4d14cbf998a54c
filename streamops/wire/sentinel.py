"""Sentinels: who the primary is, and in one line why nobody says."""

import asyncio
from collections.abc import Iterable
from typing import Any, cast

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


class Watchers(Sentinel):
    """The Sentinels of one deployment, asked in turn.

    Args:
        pools: Connections to each of them.
        patience: Seconds that each has for its answer.
    """

    def __init__(self, pools: Iterable[Pool], patience: float) -> None:
        super().__init__([])  # type: ignore[no-untyped-call] # redis-py has no types here
        self._patience = patience
        self.sentinels = [Redis.from_pool(pool) for pool in pools]

    async def discover_master(self, service_name: str) -> tuple[str, int]:
        """Host and port of the primary; redis-py's own error would be a list of client objects.

        Raises:
            redis.exceptions.RedisError: No Sentinel named a healthy primary: what one of them said, else why the last one could not be asked.
            TimeoutError: The last one did not answer in time.
        """
        problem: RedisError | TimeoutError = MasterNotFoundError("no Sentinel was asked")
        answer: MasterNotFoundError | None = None
        for number, sentinel in enumerate(self.sentinels):
            try:
                # Not redis-py's own time limit: its wait_for may swallow that the caller was cancelled.
                async with asyncio.timeout(self._patience):
                    masters = cast("dict[str, dict[str, Any]]", await sentinel.sentinel_masters())
            except AuthenticationError as error:
                problem = SentinelLoginError(str(error))
            except (RedisError, TimeoutError) as error:
                problem = error
            else:
                state = masters.get(service_name)
                if state and self.check_master_state(state, service_name):
                    # Whoever knew is asked first the next time.
                    self.sentinels.insert(0, self.sentinels.pop(number))
                    return state["ip"], state["port"]
                reason = "is down and its successor not chosen yet" if state else "is unknown"
                answer = MasterNotFoundError(f"the Sentinels say that the service {service_name!r} {reason}")
        raise answer or problem

    async def aclose(self) -> None:
        """Close all connections, without a pause; redis-py does it in tasks, which may be cancelled."""
        for sentinel in self.sentinels:
            await sentinel.aclose()


class SentinelPool(Pool, SentinelConnectionPool):
    """Connections to the primary; closes those to the Sentinels too.

    Attributes:
        master_address: Who the primary was when a Sentinel was last asked; none before that.
    """

    master_address: tuple[str, int] | None

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
