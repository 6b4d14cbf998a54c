"""Who is measured: each contender, where its code runs, and how the server tells what is left to do."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from tests.support.peers.running import peers_python
from tests.support.servers import RunningServer

STREAM, GROUP = "orders", "billing"

Left = Callable[[RunningServer], int]


def in_group(server: RunningServer) -> int:
    """Entries of the stream that the group has yet to read or to acknowledge."""
    rows = server.command("XINFO", "GROUPS", STREAM)
    told = dict(zip(rows[0][::2], rows[0][1::2], strict=True))
    if told[b"lag"] is not None:
        return int(told[b"pending"]) + int(told[b"lag"])
    # The server has lost count: whether there is any more is all that can be said.
    return int(told[b"pending"]) + len(
        server.command("XRANGE", STREAM, b"(" + told[b"last-delivered-id"], "+", "COUNT", 1)
    )


def in_stream(key: str) -> Left:
    """Entries of a stream whose library deletes what is done."""
    return lambda server: int(server.command("XLEN", key))


def in_keys(*sizes: tuple[str, str]) -> Left:
    """Members of keys, each counted by its command."""
    return lambda server: sum(int(server.command(command, key)) for command, key in sizes)


class Contender(NamedTuple):
    """One of those who are measured.

    Attributes:
        name: Its name in the table.
        child: Its driver.
        environment: The peers' environment that it runs in; empty for this one.
        left: How much is left to do.
        entries: How many entries a drain of a second or so takes.
        more: What its driver is told besides.
        alone: Whether it handles one entry at a time.
    """

    name: str
    child: str
    environment: str
    left: Left
    entries: int
    more: tuple[tuple[str, str], ...] = ()
    alone: bool = False

    @property
    def python(self) -> Path | None:
        """The Python that runs it; none where it is not installed."""
        return peers_python(self.environment) if self.environment else Path(sys.executable)

    @property
    def driver(self) -> str:
        """Its driver's module."""
        return f"tests.benchmarks.peers.{self.child}_child"

    @property
    def shared(self) -> bool:
        """Whether it reads the group of the stream, which has to be there before."""
        return self.left is in_group


BARE = Contender("bare loop", "bare", "", in_group, 200_000)
BARE_GUARDED = BARE._replace(name="bare loop, guarded", entries=100_000, more=(("GUARD", "1"),))
OURS = Contender("streamops", "streamops", "", in_group, 200_000)
GUARDED = OURS._replace(name="streamops, guarded", entries=100_000, more=(("GUARD", "1"),))
FASTSTREAM = Contender("FastStream", "faststream", "peers", in_group, 10_000)
PEERS = (
    Contender("repid", "repid", "peers-bench", in_group, 20_000),
    Contender("dramatiq", "dramatiq", "peers-bench", in_keys(("HLEN", "dramatiq:default.msgs")), 10_000),
    FASTSTREAM,
    Contender("taskiq", "taskiq", "peers", in_group, 10_000),
    Contender("streaq", "streaq", "peers-bench", in_stream("streaq:default:queues:normal"), 4_000),
    Contender("arq", "arq", "peers-arq", in_keys(("ZCARD", "arq:queue")), 4_000),
    Contender("Celery", "celery", "peers-bench", in_keys(("LLEN", "celery"), ("HLEN", "unacked")), 2_000),
    Contender(
        "rq",
        "rq",
        "peers-bench",
        in_keys(("LLEN", "rq:queue:default"), ("ZCARD", "rq:wip:default")),
        600,
        alone=True,
    ),
)
IN_BATCHES = (
    OURS._replace(name="streamops, batches", more=(("BATCH", "100"),)),
    FASTSTREAM._replace(name="FastStream, batches", entries=100_000, more=(("BATCH", "100"),)),
)


def chosen(names: list[str]) -> tuple[Contender, ...]:
    """Those of the peers that are named, or all, as far as they are installed."""
    found = [peer for peer in PEERS if not names or peer.name.lower() in names]
    return tuple(peer for peer in found if peer.python is not None)
