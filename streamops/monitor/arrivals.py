"""When entries came, by the times in their IDs: counted on the server, a second at a time, never shipped where scripts may run."""

import asyncio
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import Struct

from streamops.errors import NotFound, Refused, ServerError
from streamops.model.entries import EPOCH, MAX_PART, EntryId, id_age
from streamops.model.streams import StreamReading
from streamops.model.wording import instant
from streamops.monitor.context import ServerContext
from streamops.monitor.counting import CountBudget, Counter
from streamops.monitor.inspection import inspect_stream
from streamops.monitor.lag import RangeCount
from streamops.wire.reads import read_clock
from streamops.wire.stream_reader import Depth

SECONDS_AT_ONCE: Final = 200
SHARE: Final = 0.25
"""Share of the time that counting may keep the server busy; the rest is pause."""
SLICE: Final = CountBudget(per_range=1 << 62, per_collection=5_000, bytes_per_collection=1 << 20, rounds=1)
"""One round trip: some ten milliseconds of the server at most, in calls of less than one."""
SECOND: Final = 1_000
FROM_A_FILE: Final = "`--history FILE` takes a history from a file."


class ArrivalCounts(Struct, frozen=True, kw_only=True):
    """Entries that a stream has from some time on.

    Attributes:
        begins_at: The first second.
        counts: Entries of each second that are still there.
        scanned: Entries counted.
        complete: Whether the end of the span was reached; counting is bounded.
        first_at: When the stream's first entry came; what came before it was dropped, if anything was.
        dropped: Entries that the stream once had and has no more, at any time; None if the server does not report it.
    """

    begins_at: datetime
    counts: tuple[int, ...]
    scanned: int
    complete: bool
    first_at: datetime
    dropped: int | None


Progress = Callable[[int, int], object]
"""Called with how many seconds are counted, of how many."""


class ArrivalReader:
    """Counts arrivals on one server."""

    def __init__(self, place: ServerContext) -> None:
        self._server = place.server

    async def since(
        self,
        stream: str,
        since: datetime | timedelta,
        *,
        max_scan: int = 5_000_000,
        progress: Progress | None = None,
    ) -> ArrivalCounts:
        """Entries of each second from a time, or the stream's first entry, to the last full second.

        Args:
            stream: The stream.
            since: From when on, or how long ago by the server's clock.
            max_scan: Stop after about so many entries.
            progress: Called with how far it is.

        Raises:
            NotFound: There is no such stream, or nothing in it is so recent.
            ServerError: It cannot be counted, or its IDs are no times.
        """
        look = await inspect_stream(self._server, stream)
        reading = look.reading
        now = await read_clock(self._server, stream) or _after_the_last(reading)
        first, last = _ends(reading, now)
        start = now - since if isinstance(since, timedelta) else since
        begin = max(int(start.timestamp()), first.ms // SECOND)
        seconds = range(begin, int(now.timestamp()))
        if last.ms < begin * SECOND or not seconds:
            raise NotFound(
                f"stream {stream} has no entries since {instant(start)}",
                f"Its last one is {last}: ask for more with --since.",
            )
        counts = await self._count(reading, look.depth, seconds, max_scan, progress)
        added = reading.entries_added
        return ArrivalCounts(
            begins_at=datetime.fromtimestamp(begin, UTC),
            counts=tuple(counts),
            scanned=sum(counts),
            complete=len(counts) == len(seconds),
            first_at=datetime.fromtimestamp(first.ms / SECOND, UTC),
            dropped=None if added is None else max(0, added - reading.length),
        )

    async def _count(
        self,
        reading: StreamReading,
        depth: Depth,
        seconds: Sequence[int],
        max_scan: int,
        progress: Progress | None,
    ) -> list[int]:
        counts: list[int] = []
        for at in range(0, len(seconds), SECONDS_AT_ONCE):
            spans = [_span(reading, second) for second in seconds[at : at + SECONDS_AT_ONCE]]
            while any(not span.complete for span in spans):
                await self._slice(reading.name, spans, depth)
                if sum(counts) + sum(span.counted for span in spans) >= max_scan:
                    return counts + _whole(spans)
            counts += _whole(spans)
            if progress is not None:
                progress(len(counts), len(seconds))
        return counts

    async def _slice(self, stream: str, spans: Sequence[RangeCount], depth: Depth) -> None:
        """One round trip, and a pause after it."""
        started = time.monotonic()
        await Counter(self._server, SLICE).count([span for span in spans if not span.complete], depth)
        if any(span.failed for span in spans):
            raise ServerError(
                f"stream {stream}: its entries cannot be counted",
                "It takes XRANGE: `streamops doctor` says what this user may do.",
            )
        await asyncio.sleep((time.monotonic() - started) * (1 / SHARE - 1))


def _after_the_last(reading: StreamReading) -> datetime:
    """What stands for the clock where the server may not be asked for it."""
    end = reading.end_id
    made = None if end is None else end.time
    return EPOCH if made is None else made + timedelta(seconds=1)


def _ends(reading: StreamReading, now: datetime) -> tuple[EntryId, EntryId]:
    """The stream's first and last entry, where their IDs are times."""
    if not reading.bounds_read:
        raise Refused(f"stream {reading.name}: its first entry cannot be read", "It takes XINFO STREAM.")
    first, last = reading.first_id, reading.end_id
    if first is None or last is None:
        raise NotFound(f"stream {reading.name} has no entries", FROM_A_FILE)
    if id_age(first, now) is None or id_age(last, now) is None:
        raise ServerError(
            f"stream {reading.name}: its IDs are not timestamps, so arrival times are unknown",
            FROM_A_FILE,
        )
    return first, last


def _span(reading: StreamReading, second: int) -> RangeCount:
    begin = EntryId(second * SECOND, 0).previous()
    return RangeCount(
        reading.name, begin, EntryId(second * SECOND + SECOND - 1, MAX_PART), reading.entry_bytes or 0
    )


def _whole(spans: Sequence[RangeCount]) -> list[int]:
    """The seconds that were counted to their end, up to the first that was not."""
    counts = []
    for span in spans:
        if not span.complete:
            break
        counts.append(span.counted)
    return counts
