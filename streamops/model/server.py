"""The server, or the servers, that a snapshot came from."""

from enum import StrEnum

from msgspec import Struct

SEES_POLLS = (7, 2, 0)
"""From this version on, of Redis and of Valkey, a consumer that asks for entries in vain counts as active."""


class Flavour(StrEnum):
    """Which program answers."""

    REDIS = "redis"
    VALKEY = "valkey"


class Mode(StrEnum):
    """How the servers are arranged."""

    STANDALONE = "standalone"
    SENTINEL = "sentinel"
    CLUSTER = "cluster"


class ServerNode(Struct, frozen=True, gc=False):
    """One server process.

    Attributes:
        address: ``host:port`` or the path of its socket.
        flavour: Redis or Valkey.
        version: Its version, as its own flavour counts it.
        role: ``master`` or ``slave``, the server's words.
        replication_ids: Its replication IDs, main and second: what it is, whatever its address.
        used_memory: Bytes; none where INFO is not permitted.
        max_memory: Bytes, zero for no limit; none where INFO is not permitted.
        maxmemory_policy: The eviction policy; empty where unknown.
        evicted_keys: Keys evicted since it started; none where unknown.
        keys: Keys in the database in use, of whatever type; none where INFO is not permitted.
    """

    address: str
    flavour: Flavour
    version: tuple[int, int, int]
    role: str
    replication_ids: tuple[str, ...]
    used_memory: int | None
    max_memory: int | None
    maxmemory_policy: str
    evicted_keys: int | None
    keys: int | None = None

    @property
    def is_replica(self) -> bool:
        """Whether it follows another server; it takes no writes, and does not learn of polls."""
        return self.role in {"slave", "replica"}

    @property
    def sees_polls(self) -> bool:
        """Whether a consumer's ``idle`` starts again whenever it asks for entries, and not only when it gets some."""
        return self.version >= SEES_POLLS


class ServerInfo(Struct, frozen=True, gc=False):
    """The server as a whole.

    Attributes:
        mode: Standalone, behind Sentinel, or a cluster.
        database: The database number.
        nodes: The server asked, or every primary of a cluster.
    """

    mode: Mode
    database: int
    nodes: tuple[ServerNode, ...]

    @property
    def is_replica(self) -> bool:
        """Whether one of those who answered follows another server."""
        return any(node.is_replica for node in self.nodes)

    @property
    def sees_polls(self) -> bool:
        """Whether all are known to count a consumer that asks in vain as active."""
        return bool(self.nodes) and all(node.sees_polls for node in self.nodes)

    @property
    def flavour(self) -> Flavour | None:
        """The first node's flavour; none where no node said."""
        return self.nodes[0].flavour if self.nodes else None

    @property
    def keys(self) -> int | None:
        """Keys of all nodes together, of whatever type; none where any of them did not say."""
        counts = [node.keys for node in self.nodes if node.keys is not None]
        return sum(counts) if counts and len(counts) == len(self.nodes) else None

    @property
    def version(self) -> str:
        """The lowest version among the nodes; empty where no node said."""
        return ".".join(map(str, min(node.version for node in self.nodes))) if self.nodes else ""
