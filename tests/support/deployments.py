"""Servers that need each other or certificates: a cluster, a Sentinel, TLS."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

import trustme
from msgspec import Struct
from redis.exceptions import MovedError

from streamops.model.streams import Mode
from streamops.wire.options import ConnectionOptions, Tls
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer

_SLOTS = 16384
_SETTLE_SECONDS = 30.0


class Certificates(Struct, frozen=True):
    """PEM files of one test authority, valid for ``localhost`` and 127.0.0.1.

    Attributes:
        ca_file: The authority.
        server_certificate_file: The server's certificate.
        server_key_file: Its key.
        client_certificate_file: A client's certificate.
        client_key_file: Its key.
        other_ca_file: Another authority, which signed none of these.
    """

    ca_file: Path
    server_certificate_file: Path
    server_key_file: Path
    client_certificate_file: Path
    client_key_file: Path
    other_ca_file: Path

    @property
    def server_args(self) -> tuple[str, ...]:
        """Configuration of a server that asks its clients for certificates."""
        return (
            *("--tls-cert-file", str(self.server_certificate_file)),
            *("--tls-key-file", str(self.server_key_file)),
            *("--tls-ca-cert-file", str(self.ca_file)),
        )

    @property
    def client_tls(self) -> Tls:
        """What a client that the server accepts is configured with."""
        return Tls(
            ca_file=str(self.ca_file),
            certificate_file=str(self.client_certificate_file),
            key_file=str(self.client_key_file),
        )


def write_certificates(directory: Path) -> Certificates:
    """Issue fresh certificates into a directory."""
    authority, other = trustme.CA(), trustme.CA()
    files = Certificates(
        *(
            directory / f"{name}.pem"
            for name in ("ca", "server", "server-key", "client", "client-key", "other-ca")
        )
    )
    authority.cert_pem.write_to_path(files.ca_file)
    other.cert_pem.write_to_path(files.other_ca_file)
    server, client = (
        authority.issue_cert("localhost", "127.0.0.1"),
        authority.issue_cert("client@example.org"),
    )
    server.cert_chain_pems[0].write_to_path(files.server_certificate_file)
    server.private_key_pem.write_to_path(files.server_key_file)
    client.cert_chain_pems[0].write_to_path(files.client_certificate_file)
    client.private_key_pem.write_to_path(files.client_key_file)
    return files


class RunningCluster:
    """Primaries that share the slots of one cluster; ``with`` stops them.

    Attributes:
        nodes: The primaries, in order of their slots.
    """

    def __init__(self, program: ServerProgram, size: int = 3) -> None:
        """Start the nodes, share out the slots and wait until every node sees a whole cluster.

        Raises:
            StartError: A node did not start.
            TimeoutError: The nodes did not agree in time.
        """
        self.nodes: list[RunningServer] = []
        try:
            for _ in range(size):
                self.nodes.append(start_cluster_node(program))
            share_slots(self.nodes)
        except BaseException:
            self.stop()
            raise

    @property
    def url(self) -> str:
        """The first node's address."""
        return self.nodes[0].url

    @property
    def options(self) -> ConnectionOptions:
        """How streamops reaches the cluster, every node a seed."""
        seeds = tuple(("127.0.0.1", node.port) for node in self.nodes)
        return ConnectionOptions(mode=Mode.CLUSTER, addresses=seeds, label=self.url)

    def node_of(self, key: str | bytes) -> RunningServer:
        """The primary that serves a key's slot; plain commands on the key work there."""
        slot: int = self.nodes[0].command("CLUSTER", "KEYSLOT", key)
        return self.nodes[slot * len(self.nodes) // _SLOTS]

    @contextmanager
    def moving(self, key: str) -> Iterator["SlotMove"]:
        """Lets a key's slot be moved to the next node; after the block it is back where it was, without keys."""
        home = self.node_of(key)
        target = self.nodes[(self.nodes.index(home) + 1) % len(self.nodes)]
        slot: int = home.command("CLUSTER", "KEYSLOT", key)
        settle(self.nodes)
        try:
            yield SlotMove(self.nodes, slot, home, target)
        finally:
            self.flush()
            settle(self.nodes)
            for node in (home, target):
                node.command("CLUSTER", "SETSLOT", slot, "STABLE")
            if not _serves(home, key):
                SlotMove(self.nodes, slot, target, home).all()

    def flush(self) -> None:
        """Drop every key on every node."""
        for node in self.nodes:
            node.flush()

    def stop(self) -> None:
        """Stop every node."""
        for node in self.nodes:
            node.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


class SlotMove(Struct, frozen=True):
    """A slot on its way from one node to another, step by step.

    Attributes:
        nodes: Every node.
        slot: The slot.
        source: Where it is.
        target: Where it goes.
    """

    nodes: Sequence[RunningServer]
    slot: int
    source: RunningServer
    target: RunningServer

    def begin(self) -> None:
        """From now on, keys that are not at the source any more are asked for at the target."""
        for node, state, other in (
            (self.target, "IMPORTING", self.source),
            (self.source, "MIGRATING", self.target),
        ):
            node.command("CLUSTER", "SETSLOT", self.slot, state, _node_id(other))

    def carry(self, count: int = 1_000) -> None:
        """Move the next few keys."""
        for key in self.source.command("CLUSTER", "GETKEYSINSLOT", self.slot, count):
            self.source.command("MIGRATE", "127.0.0.1", self.target.port, key, 0, 10_000)

    def end(self) -> None:
        """From now on, the slot is the target's."""
        others = [node for node in self.nodes if node not in (self.source, self.target)]
        for node in (self.target, self.source, *others):
            node.command("CLUSTER", "SETSLOT", self.slot, "NODE", _node_id(self.target))

    def all(self) -> None:
        """Move it at once."""
        self.begin()
        self.carry()
        self.end()


class StartSentinel(Protocol):
    """What the fixture ``start_sentinel`` hands out."""

    def __call__(self, primary: RunningServer, *, service: str = "orders") -> RunningServer:
        """Start a Sentinel that watches one primary."""


def start_sentinel(
    program: ServerProgram,
    primary: RunningServer,
    *,
    service: str = "orders",
    quorum: int = 1,
    down_after_ms: int = 1000,
) -> RunningServer:
    """Start a Sentinel that watches one primary; it answers for ``service`` at once.

    Args:
        program: The binary to run as a Sentinel.
        primary: The server to watch; it must answer PING without a password.
        service: Name of the service.
        quorum: Sentinels that must agree that the primary is down.
        down_after_ms: Milliseconds of silence after which it thinks so of a server.
    """
    lines = (
        f"sentinel monitor {service} 127.0.0.1 {primary.port} {quorum}",
        f"sentinel down-after-milliseconds {service} {down_after_ms}",
        f"sentinel failover-timeout {service} 5000",
    )
    return RunningServer(program, sentinel="\n".join(lines) + "\n")


def settle(nodes: Sequence[RunningServer]) -> None:
    """Wait until all nodes have heard of the last move: whoever takes a slot before may claim it in vain."""
    deadline = time.monotonic() + _SETTLE_SECONDS
    while len({_epoch(node) for node in nodes}) > 1:
        if time.monotonic() > deadline:
            raise TimeoutError("the nodes of the test cluster have not heard of each other")
        time.sleep(0.005)


def _epoch(node: RunningServer) -> bytes:
    lines: list[bytes] = node.command("CLUSTER", "INFO").splitlines()
    return next(line for line in lines if line.startswith(b"cluster_current_epoch:"))


def _serves(node: RunningServer, key: str) -> bool:
    try:
        node.command("EXISTS", key)
    except MovedError:
        return False
    return True


def _node_id(node: RunningServer) -> bytes:
    ident: bytes = node.command("CLUSTER", "MYID")
    return ident


def start_cluster_node(program: ServerProgram, *args: str) -> RunningServer:
    """Start a node that belongs to no cluster yet; what it is told last holds."""
    return RunningServer(program, "--cluster-enabled", "yes", "--cluster-node-timeout", "5000", *args)


def share_slots(nodes: Sequence[RunningServer]) -> None:
    """Make one cluster of nodes that know nothing of each other, the slots shared out in their order."""
    for index, node in enumerate(nodes):
        # The inverse of node_of: slots whose share falls to this index. ADDSLOTSRANGE is younger than 6.2.
        slots = [slot for slot in range(_SLOTS) if slot * len(nodes) // _SLOTS == index]
        node.command("CLUSTER", "ADDSLOTS", *slots)
        node.command("CLUSTER", "SET-CONFIG-EPOCH", index + 1)
        if index:
            node.command("CLUSTER", "MEET", "127.0.0.1", nodes[0].port)
    deadline = time.monotonic() + _SETTLE_SECONDS
    while not all(_is_whole(node, len(nodes)) for node in nodes):
        if time.monotonic() > deadline:
            raise TimeoutError("the nodes of the test cluster do not agree")
        time.sleep(0.02)


def _is_whole(node: RunningServer, size: int) -> bool:
    information: bytes = node.command("CLUSTER", "INFO")
    return b"cluster_state:ok" in information and f"cluster_size:{size}\r\n".encode() in information
