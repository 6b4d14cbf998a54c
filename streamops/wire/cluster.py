"""The primaries of a cluster, by the slots that they serve."""

import asyncio
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from redis.crc import key_slot
from redis.exceptions import ClusterDownError, RedisError

from streamops.model.text import name_bytes
from streamops.wire.connect import connection_pool
from streamops.wire.node import Node
from streamops.wire.options import ConnectionOptions
from streamops.wire.primary import PrimaryTracker

Address = tuple[str, int]


class SlotRange(NamedTuple):
    """Slots ``first`` to ``last``, both inclusive, and the address and node ID of their primary."""

    first: int
    last: int
    primary: Address
    ident: bytes = b""


class SlotMap:
    """The slots of a cluster by their primaries; a slot that is not served belongs to none.

    Attributes:
        ranges: Which slots are whose, in order.
        primaries: The addresses of all primaries.
    """

    def __init__(self, ranges: Sequence[SlotRange] = ()) -> None:
        self.ranges = sorted(ranges)
        self.primaries: tuple[Address, ...] = tuple(sorted({one.primary for one in ranges}))

    def primary_of(self, key: bytes) -> Address | None:
        """The address of the primary that serves a key; none if none does."""
        slot = key_slot(key)
        at = bisect_right(self.ranges, slot, key=lambda one: one.first) - 1
        return self.ranges[at].primary if at >= 0 and slot <= self.ranges[at].last else None


def decode_slots(reply: Sequence[Any], asked: str) -> SlotMap:
    """The reply of CLUSTER SLOTS.

    Args:
        reply: Rows of first slot, last slot, primary, replicas.
        asked: The host that was asked: a node that does not know its own name means this one.
    """
    return SlotMap(
        [
            SlotRange(first, last, _address(primary, asked), *primary[2:3])
            for first, last, primary, *_replicas in reply
        ]
    )


def _address(node: Sequence[Any], asked: str) -> Address:
    host, port = node[0], node[1]
    return asked if host in {None, b"", b"?"} else host.decode(), int(port)


class Cluster:
    """The nodes of a cluster, by the map of slots that one of them last gave.

    Attributes:
        changes: None by Sentinels: they have no say here.
    """

    changes: int = 0

    def __init__(self, options: ConnectionOptions, tracker: PrimaryTracker) -> None:
        self._options = options
        self._tracker = tracker
        self._seeds = options.addresses
        self._map = SlotMap()
        self._nodes: dict[Address, Node] = {}
        # Of nodes, too, that are known no more while their answer is awaited.
        self._hosts: WeakKeyDictionary[Node, str] = WeakKeyDictionary()
        self._doubts, self._doubts_settled = 1, 0
        self._troubled: set[Address] = set()
        self._learning = asyncio.Lock()
        self._closed = False

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The primaries."""
        return tuple(self._node(address) for address in self._map.primaries)

    @property
    def ready(self) -> bool:
        """Whether the map of slots is known, and not in doubt."""
        return self._doubts == self._doubts_settled

    async def prepare(self) -> None:
        """Learn the map of slots if it is not known, or in doubt.

        Raises:
            redis.exceptions.RedisError: No node tells.
            TimeoutError: The same.
        """
        async with self._learning:
            if not self.ready:
                await self._learn()

    def distrust(self, troubled: Iterable[Node] = ()) -> None:
        """Learn the map again before the next batch, from other nodes than these if possible."""
        self._doubts += 1
        nodes = set(troubled)
        # A node that failed may be known no more: others have learned the map meanwhile.
        self._troubled = {address for address, node in self._nodes.items() if node in nodes}

    def on_slot_moved(self) -> None:
        """A slot is another node's by now: the map is in doubt, and so is what came from the node before."""
        self._tracker.moves += 1
        self.distrust()

    def node_of(self, key: str) -> Node | None:
        """The primary that serves a key; none if none does."""
        address = self._map.primary_of(name_bytes(key))
        return None if address is None else self._node(address)

    def node_at(self, host: str, port: int, referrer: Node) -> Node:
        """The node that ``referrer`` redirects to; without a host it is on the referrer's own."""
        return self._node((host or self._hosts[referrer], port))

    async def close(self) -> None:
        """Close all connections, without a pause; batches from now on fail."""
        self._closed = True
        for node in self._nodes.values():
            await node.close()

    async def _learn(self) -> None:
        # A doubt that arises while the map is read is not settled by it.
        doubts = self._doubts
        former, self._map = self._map, await self._read_map()
        self._doubts_settled = doubts
        # Before anything can be sent by the new map.
        self._tracker.moves += bool(former.ranges) and former.ranges != self._map.ranges
        for address in self._nodes.keys() - {*self._map.primaries, *self._seeds}:
            await self._nodes.pop(address).close()

    def _node(self, address: Address) -> Node:
        if address not in self._nodes:
            pool = connection_pool(self._options, address)
            pool.closed = self._closed
            label = f"{address[0]}:{address[1]}"
            node = self._nodes[address] = Node(pool, label, self._options.timeout.total_seconds())
            self._hosts[node] = address[0]
        return self._nodes[address]

    async def _read_map(self) -> SlotMap:
        """The map as a primary without known trouble tells it, or the first of all nodes to answer."""
        for address in self._map.primaries:
            if address not in self._troubled:
                with suppress(RedisError, OSError, TimeoutError):
                    return await self._ask_map(address)
        return await self._race_for_map()

    async def _race_for_map(self) -> SlotMap:
        addresses = dict.fromkeys((*self._map.primaries, *self._seeds))
        tasks = [asyncio.create_task(self._ask_map(address)) for address in addresses]
        problem: Exception = ClusterDownError("no node was asked")
        try:
            for answer in asyncio.as_completed(tasks):
                try:
                    return await answer
                except (RedisError, OSError, TimeoutError) as error:
                    problem = error
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        raise problem

    async def _ask_map(self, address: Address) -> SlotMap:
        reply = (await self._node(address).batch([("CLUSTER", "SLOTS")]))[0]
        if isinstance(reply, Exception):
            raise reply
        if not reply:
            raise ClusterDownError("the cluster has not shared out its slots")
        return decode_slots(reply, address[0])
