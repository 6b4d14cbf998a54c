"""Streams with large entries, and readers that remember them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from msgspec.structs import replace

from streamops.model.ids import EntryId
from streamops.model.readings import GroupReading, StreamReading
from streamops.wire.faults import Fault
from streamops.wire.full_reader import FullReader
from streamops.wire.heavy import HEAVY_BYTES
from streamops.wire.options import ConnectionOptions
from streamops.wire.stream_reader import StreamReader
from tests.support.servers import RunningServer
from tests.support.wire.deep_readings import essence, reading

NAME = "orders"
HEAVY = HEAVY_BYTES + 1


@asynccontextmanager
async def standing(options: ConnectionOptions) -> AsyncIterator[tuple[FullReader, StreamReader]]:
    """A reader that knows the stream, and that it stands still."""
    async with reading(options) as (full, plain):
        await full.read([NAME])
        await full.read([NAME])
        yield full, plain


def counts(server: RunningServer) -> dict[str, int]:
    """How often each command was called."""
    told: dict[str, dict[str, Any]] = server.client.info("commandstats")
    return {name.removeprefix("cmdstat_"): calls["calls"] for name, calls in told.items()}


async def one(full: FullReader) -> StreamReading:
    (found,) = (await full.read([NAME])).streams
    assert isinstance(found, StreamReading)
    return found


def whole(found: StreamReading | Fault) -> StreamReading:
    """All that the script tells as well."""
    assert isinstance(found, StreamReading)
    heads = [(group.next_id, group.next_read) for group in found.groups]
    plain = essence(found)
    groups = zip(plain.groups, heads, strict=True)
    return replace(
        plain,
        last_id=found.last_id,
        groups=tuple([replace(group, next_id=head, next_read=read) for group, (head, read) in groups]),
    )


GROUP = GroupReading("g", 1, 1, EntryId(3, 0), 3, 4, next_read=True)


def tells_additions(server: RunningServer) -> bool:
    """Whether its groups tell their lags, which came with Redis 7.0."""
    return server.label != "redis-6.2"
