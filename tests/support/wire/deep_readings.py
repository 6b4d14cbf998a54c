"""What readers of streams with their consumers are tested with: a stream to read, and what is told of it in every way."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import datetime, timedelta

from msgspec.structs import replace

from streamops.model.entries import EPOCH, PendingEntry
from streamops.model.streams import MILLISECOND, GroupReading, StreamReading
from streamops.wire.faults import Fault
from streamops.wire.full_reader import FullReader
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server
from streamops.wire.stream_reader import StreamReader
from tests.support.servers import RunningServer


@asynccontextmanager
async def reading(options: ConnectionOptions) -> AsyncIterator[tuple[FullReader, StreamReader]]:
    server = await Server.connect(options)
    plain = StreamReader(server)
    try:
        yield FullReader(server, plain), plain
    finally:
        await server.close()


def add_six_entries_two_groups(
    server: RunningServer, name: str, size: int = 10, consumers: Sequence[str] = ("a", "b")
) -> None:
    """A stream of six entries and two groups: one without consumers, one that has read three entries."""
    for _ in range(6):
        server.command("XADD", name, "*", "n", "x" * size)
    server.command("XGROUP", "CREATE", name, "idle", "$")
    server.command("XGROUP", "CREATE", name, "busy", "0")
    for consumer in consumers:
        server.command("XGROUP", "CREATECONSUMER", name, "busy", consumer)
        server.command("XREADGROUP", "GROUP", "busy", consumer, "COUNT", 2, "STREAMS", name, ">")


def milliseconds(at: datetime | None) -> int:
    assert at is not None
    return (at - EPOCH) // MILLISECOND


def oldest(group: GroupReading) -> PendingEntry | None:
    """The oldest pending entry of a group, whatever its age."""
    return group.oldest_pending and replace(group.oldest_pending, idle=timedelta(0))


def essence(found: StreamReading | Fault) -> StreamReading:
    """All that both ways of reading tell."""
    assert isinstance(found, StreamReading)
    groups = tuple(
        replace(
            group,
            members=None,
            next_id=None,
            next_read=False,
            oldest_pending=oldest(group),
        )
        for group in found.groups
    )
    return replace(found, groups=groups, last_id=None)


PARTS = (1, 2, 3)
