"""A cluster of three primaries, each with a replica, whose slots move and whose primaries change."""

import asyncio
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Final, Self

from redis.exceptions import RedisError

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
    role_of,
    until,
)
from tests.chaos.topologies.reading import Reading, read_key
from tests.support.deployments import SlotMove, share_slots, start_cluster_node
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer

SHARDS: Final = 3
_QUICK: Final = ("--cluster-node-timeout", "1500", "--repl-diskless-sync-delay", "0")
# A replica that was kept from its primary for a while takes over all the same: that is the fault.
_ALWAYS: Final = ("--cluster-replica-validity-factor", "0")


class ReplicatedCluster:
    """Six nodes; ``with`` stops them.

    Attributes:
        nodes: All of them, whatever each is at the moment.
        url: Every node, as ``redis+cluster://``.
        options: The same as options.
        faults: How often each kind of thing was done to them.
    """

    def __init__(self, program: ServerProgram) -> None:
        """Start the nodes, share out the slots, and wait until each primary has its replica."""
        self.program = program
        self.faults: dict[str, int] = {}
        self._stack = ExitStack()
        self._victim: RunningServer | None = None
        root = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="streamops-test-")))
        try:
            self.nodes = [self._start(program, root / str(number)) for number in range(2 * SHARDS)]
            share_slots(self.nodes[:SHARDS])
        except BaseException:
            self._stack.close()
            raise
        seeds = tuple(("127.0.0.1", node.port) for node in self.nodes)
        self.url = "redis+cluster://" + ",".join(f"{host}:{port}" for host, port in seeds)
        self.options = ConnectionOptions(mode=Mode.CLUSTER, addresses=seeds, label="the cluster")

    @property
    def label(self) -> str:
        """Flavour and version."""
        return self.program.label

    async def ready(self) -> Self:
        """Give each primary its replica."""
        primaries, replicas = self.nodes[:SHARDS], self.nodes[SHARDS:]
        for replica in replicas:
            replica.command("CLUSTER", "MEET", "127.0.0.1", primaries[0].port)
        for primary, replica in zip(primaries, replicas, strict=True):
            own = _id(primary)
            await until("known to its replica", partial(_knows, replica, own))
            replica.command("CLUSTER", "REPLICATE", own)
        await self.whole()
        return self

    @property
    def primaries(self) -> list[RunningServer]:
        """The nodes that have slots."""
        return [node for node in self.nodes if is_primary(node)]

    @property
    def leaders(self) -> frozenset[int]:
        """The ports of those that have slots."""
        return frozenset(node.port for node in self.primaries)

    def primary_of(self, key: str) -> RunningServer:
        """The primary that serves a key, now that nothing moves."""
        slot = _slot(self.nodes, key)
        for node in self.primaries:
            rows = node.command("CLUSTER", "SLOTS")
            port = next((row[2][1] for row in rows if row[0] <= slot <= row[1]), None)
            if port == node.port:
                return node
        raise AssertionError(f"nobody serves {key}")

    def replica_of(self, primary: RunningServer) -> RunningServer:
        """The node that would take over."""
        return next(
            node
            for node in self.nodes
            if node is not primary and follows(node) and role_of(node)[2] == primary.port
        )

    def aim(self, random: Random) -> None:
        """Choose the primary that the next fault strikes, and whether the others go on serving without it."""
        self._victim = random.choice(self.primaries)
        coverage = random.choice(("yes", "no"))
        for node in self.nodes:
            node.command("CONFIG", "SET", "cluster-require-full-coverage", coverage)

    @property
    def victim(self) -> RunningServer:
        """The primary that the next fault strikes."""
        assert self._victim is not None
        return self._victim

    def names(self, *stems: str) -> list[str]:
        """A stream for each stem, each in a slot of its own, all of them of the victim."""
        return [self._name_on(stem, {self.victim}) for stem in stems]

    def far_name(self, stem: str) -> str:
        """A stream that another primary than the victim serves."""
        return self._name_on(stem, {*self.primaries} - {self.victim})

    def _name_on(self, stem: str, nodes: set[RunningServer]) -> str:
        numbered = (f"{stem}{number}" for number in range(10_000))
        return next(name for name in numbered if self.primary_of(name) in nodes)

    async def whole(self) -> None:
        """Wait until every shard has a primary and a replica that follows it, and all nodes agree."""
        await until("whole", self._is_whole)

    async def replicated(self) -> None:
        """Wait until every replica has all that was written."""
        await until("replicated", lambda: all(is_caught_up(node, 1) for node in self.primaries))

    def flush(self) -> None:
        """Drop every key."""
        for node in self.primaries:
            node.flush()

    async def move_slots(self, random: Random, keys: Iterable[str]) -> None:
        """Move the slot of each key to another primary, key by key, with pauses in which it is on its way."""
        for key in keys:
            source = self.primary_of(key)
            target = random.choice([node for node in self.primaries if node is not source])
            move = SlotMove(self.primaries, _slot(self.nodes, key), source, target)
            move.begin()
            noted(self.faults, "slot moved")
            for _ in range(random.randint(0, 3)):
                await asyncio.sleep(random.uniform(0, 0.15))
                move.carry(1)
            move.carry()
            move.end()

    async def fail_over(self) -> None:
        """Have the victim's replica take over, as an operator plans it: nothing is lost."""
        replica = self.replica_of(self.victim)
        noted(self.faults, "failover planned")
        replica.command("CLUSTER", "FAILOVER")
        await until("taken over", lambda: is_primary(replica))
        await self.whole()

    async def kill(self, keys: Iterable[str], unreplicated: float) -> dict[str, Reading]:
        """Kill the victim, wait until its replica has taken over, and bring it back as a replica.

        Args:
            keys: What to read from the replica before it takes over, where it is the victim's.
            unreplicated: Seconds for which the replica gets nothing before that.
        """
        victim, replica = self.victim, self.replica_of(self.victim)
        own = [key for key in keys if self.primary_of(key) is victim]
        if unreplicated:
            noted(self.faults, "replica cut off")
            forget(replica)
            hang_up_replicas(victim)
            await asyncio.sleep(unreplicated)
        noted(self.faults, "primary killed")
        victim.kill()
        await until("alone", lambda: has_lost_its_primary(replica))
        replica.command("READONLY")
        survived = {key: read_key(replica, key) for key in own}
        await until("taken over", lambda: is_primary(replica))
        remember(replica)
        victim.restart()
        await self.whole()
        return survived

    def _is_whole(self) -> bool:
        with suppress(RedisError):
            primaries = self.primaries
            others = [node for node in self.nodes if node not in primaries]
            return (
                len(primaries) == SHARDS
                and all(map(follows, others))
                and all(b"cluster_state:ok" in node.command("CLUSTER", "INFO") for node in self.nodes)
                and len({_owners(node) for node in self.nodes}) == 1
            )
        return False

    def _start(self, program: ServerProgram, directory: Path) -> RunningServer:
        directory.mkdir()
        # Its own directory is gone once it was killed; what it knows of the cluster has to last.
        args = (*_QUICK, *_ALWAYS, "--dir", str(directory))
        return self._stack.enter_context(start_cluster_node(program, *args))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()


def _id(node: RunningServer) -> bytes:
    ident: bytes = node.command("CLUSTER", "MYID")
    return ident


def _slot(nodes: list[RunningServer], key: str) -> int:
    for node in nodes:
        with suppress(RedisError):
            slot: int = node.command("CLUSTER", "KEYSLOT", key)
            return slot
    raise AssertionError("no node answers")


def _owners(node: RunningServer) -> frozenset[tuple[int, int, int]]:
    """Which slots are whose, as a node sees it."""
    return frozenset((row[0], row[1], row[2][1]) for row in node.command("CLUSTER", "SLOTS"))


def _knows(node: RunningServer, ident: bytes) -> bool:
    return ident in node.command("CLUSTER", "NODES")
