"""A primary with two replicas, watched by three Sentinels; primaries die, hang, and hand over."""

import asyncio
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Final, Self

from redis.exceptions import RedisError, ResponseError

from streamops.model.streams import Mode
from streamops.wire.options import ConnectionOptions
from tests.chaos.topologies.place import (
    follows,
    forget,
    hang_up_replicas,
    has_lost_its_primary,
    is_caught_up,
    is_primary,
    noted,
    remember,
    until,
)
from tests.chaos.topologies.reading import Reading, read_key
from tests.chaos.topologies.told import could_replace, good_replicas
from tests.support.deployments import start_sentinel
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer

SERVICE: Final = "orders"
SENTINELS, REPLICAS = 3, 2
QUORUM: Final = 2
DOWN_AFTER_MS: Final = 2000
"""Twice as long as between two of their questions: one answer that is late replaces nobody."""
LONGEST_LAG: Final = 1
"""Seconds after which a replica that says nothing counts as away."""
_QUICK: Final = ("--repl-diskless-sync-delay", "0")


class Watched:
    """Three servers and three Sentinels; ``with`` stops them.

    Attributes:
        servers: All of them, whatever each is at the moment.
        url: The Sentinels, as ``redis+sentinel://``.
        options: The same as options.
        faults: How often each kind of thing was done to them.
    """

    def __init__(self, program: ServerProgram) -> None:
        """Start them all."""
        self.program = program
        self.faults: dict[str, int] = {}
        self._stack = ExitStack()
        self._away: RunningServer | None = None
        try:
            first = self._stack.enter_context(RunningServer(program, *_QUICK))
            self.servers = [first, *(self._replica(first) for _ in range(REPLICAS))]
            self._sentinels = [
                self._stack.enter_context(
                    start_sentinel(
                        program, first, service=SERVICE, quorum=QUORUM, down_after_ms=DOWN_AFTER_MS
                    )
                )
                for _ in range(SENTINELS)
            ]
        except BaseException:
            self._stack.close()
            raise
        addresses = tuple(("127.0.0.1", one.port) for one in self._sentinels)
        hosts = ",".join(f"{host}:{port}" for host, port in addresses)
        self.url = f"redis+sentinel://{hosts}/{SERVICE}"
        self.options = ConnectionOptions(
            mode=Mode.SENTINEL, addresses=addresses, sentinel_service=SERVICE, label="the Sentinels' primary"
        )

    @property
    def label(self) -> str:
        """Flavour and version."""
        return self.program.label

    async def ready(self) -> Self:
        """Wait until the Sentinels know each other and the replicas."""
        await self.whole()
        return self

    @property
    def primary(self) -> RunningServer:
        """The server that most Sentinels name."""
        named = [one.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", SERVICE)[1] for one in self._sentinels]
        port = int(max(named, key=named.count))
        return next(server for server in self.servers if server.port == port)

    @property
    def leaders(self) -> frozenset[int]:
        """The port of the one."""
        return frozenset({self.primary.port})

    def primary_of(self, key: str) -> RunningServer:  # noqa: ARG002 - one server has them all
        """The server that takes writes."""
        return self.primary

    def names(self, *stems: str) -> list[str]:
        """A stream for each stem."""
        return [*stems]

    async def whole(self) -> None:
        """Wait until the Sentinels agree, know each other, and could replace the primary."""
        await until("whole", self._is_whole)

    async def replicated(self) -> None:
        """Wait until every replica has all that was written."""
        await until("replicated", lambda: is_caught_up(self.primary, REPLICAS))

    def flush(self) -> None:
        """Drop every key."""
        self.primary.flush()

    async def fail_over(self, keys: Iterable[str]) -> dict[str, Reading]:
        """Have a replica take over, as an operator asks a Sentinel for it: the former primary is told later.

        Args:
            keys: What to read from the replica that takes over, as soon as it has.
        """
        former = self.primary
        noted(self.faults, "failover asked for")
        await until("failover begun", self._begins_failover)
        candidates = self._others(former)
        await until("promoted", lambda: any(map(is_primary, candidates)))
        promoted = next(filter(is_primary, candidates))
        promoted.command("CLIENT", "PAUSE", 10_000, "WRITE")
        had = {key: read_key(promoted, key) for key in keys}
        promoted.command("CLIENT", "UNPAUSE")
        await until("taken over", lambda: self.primary is promoted)
        return had

    def _begins_failover(self) -> bool:
        """Whether a Sentinel begins one; on a machine that stood still it may take replicas for dead."""
        try:
            self._sentinels[0].command("SENTINEL", "FAILOVER", SERVICE)
        except ResponseError:
            return False
        return True

    async def kill(self, keys: Iterable[str], unreplicated: float) -> dict[str, Reading]:
        """Kill the primary, and wait until a replica has taken over.

        Args:
            keys: What to read from the replica that does, as it was before.
            unreplicated: Seconds for which the replicas get nothing before that.
        """
        victim = self.primary
        replicas = self._others(victim)
        if unreplicated:
            noted(self.faults, "replicas cut off")
            for replica in replicas:
                forget(replica)
            hang_up_replicas(victim)
            await asyncio.sleep(unreplicated)
        noted(self.faults, "primary killed")
        victim.kill()
        self._away = victim
        return await self._taken_over(replicas, keys)

    async def hang(self, keys: Iterable[str]) -> dict[str, Reading]:
        """Have the primary stand still until a replica has taken over, then go on as if nothing had been."""
        victim = self.primary
        replicas = self._others(victim)
        noted(self.faults, "primary hung")
        # In a thread of its own process: nothing may ask it meanwhile.
        victim.pause()
        try:
            await asyncio.sleep(0.3)
            had = {replica.port: {key: read_key(replica, key) for key in keys} for replica in replicas}
            await until("taken over", lambda: self._is_led_by(replicas))
            return had[self.primary.port]
        finally:
            victim.resume()

    async def miss_replicas(
        self, keys: Iterable[str], seconds: float, *, until_it_dies: bool
    ) -> dict[str, Reading]:
        """Have both replicas stand still, until the primary takes no writes because of that, and for a while longer.

        What it did take is on its way to them, so that nothing of it is lost should it die then.

        Args:
            keys: What to read from the replica that takes over, as it was before.
            seconds: For how long it takes no writes.
            until_it_dies: Whether the primary is killed before they go on.
        """
        primary, replicas = self.primary, self._others(self.primary)
        self._ask_for_replicas(1)
        noted(self.faults, "replicas hung")
        for replica in replicas:
            replica.pause()
        try:
            await until("refusing", lambda: good_replicas(primary) == 0)
            await asyncio.sleep(seconds)
            if until_it_dies:
                noted(self.faults, "primary killed")
                primary.kill()
                self._away = primary
        finally:
            for replica in replicas:
                replica.resume()
        return await self._taken_over(replicas, keys) if until_it_dies else {}

    def _ask_for_replicas(self, count: int) -> None:
        """Have no server take writes that fewer replicas would get."""
        for server in self.servers:
            if server is not self._away:
                server.command("CONFIG", "SET", "min-replicas-max-lag", LONGEST_LAG)
                server.command("CONFIG", "SET", "min-replicas-to-write", count)

    async def _taken_over(self, replicas: list[RunningServer], keys: Iterable[str]) -> dict[str, Reading]:
        """Wait until a replica of a primary that is dead has taken over; what it had before."""
        await until("alone", lambda: all(map(has_lost_its_primary, replicas)))
        had = {replica.port: {key: read_key(replica, key) for key in keys} for replica in replicas}
        for replica in replicas:
            remember(replica)
        await until("taken over", lambda: self._is_led_by(replicas))
        return had[self.primary.port]

    async def return_of_the_dead(self) -> None:
        """Start again who was killed, as a replica."""
        self._ask_for_replicas(0)
        if self._away is not None:
            self._away.restart()
            self._away.command("REPLICAOF", "127.0.0.1", self.primary.port)
            self._away = None
        await self.whole()

    def _others(self, primary: RunningServer) -> list[RunningServer]:
        return [server for server in self.servers if server is not primary]

    def _is_led_by(self, candidates: list[RunningServer]) -> bool:
        primary = self.primary
        return primary in candidates and is_primary(primary)

    def _is_whole(self) -> bool:
        with suppress(RedisError):
            primary = self.primary
            living = [server for server in self._others(primary) if server is not self._away]
            return (
                is_primary(primary)
                and all(follows(server) for server in living)
                and all(could_replace(one, SERVICE, SENTINELS - 1) for one in self._sentinels)
            )
        return False

    def _replica(self, primary: RunningServer) -> RunningServer:
        return self._stack.enter_context(
            RunningServer(primary.program, *_QUICK, "--replicaof", "127.0.0.1", str(primary.port))
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()
