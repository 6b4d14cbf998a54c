"""The monitor of one target, opened when it is needed, queue metrics read at their own pace, and what was not read."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

import structlog

from streamops.errors import ServerError
from streamops.model.observation import NO_QUEUE_METRICS, Observation, QueueMetrics
from streamops.model.retention import RetentionPolicy
from streamops.model.streams import NO_SUCH_STREAM, ReadError, Snapshot
from streamops.monitor.observe import Observer
from streamops.monitor.queue_metrics import QueueMetricsReader
from streamops.monitor.server_monitor import ServerMonitor

LOG: Final = structlog.get_logger("streamops.exporter")

FIRST_LOOK: Final = 2.0
"""How long a first scrape waits for streams to be found; the search then goes on in the background."""

Open = Callable[[], Awaitable[ServerMonitor]]


class ScrapeTarget:
    """A server as long as it is a target.

    Args:
        open_monitor: Connects; raises ``StreamopsError``.
        policies: How much is kept of which streams.
    """

    def __init__(self, open_monitor: Open, policies: Sequence[RetentionPolicy]) -> None:
        self._open = open_monitor
        self._policies = policies
        self._monitor: ServerMonitor | None = None
        self._observer: Observer | None = None
        self._extras: QueueMetricsReader | None = None
        self._lanes: asyncio.Task[None] | None = None
        self._failures: Counter[str] = Counter()

    @property
    def failures(self) -> Mapping[str, int]:
        """How often each of the queue metrics could not be read, by its name; none ever falls."""
        return self._failures + Counter(self._extras.failures if self._extras else {})

    @property
    def problems(self) -> Mapping[str, str]:
        """Why queue metrics cannot be read at present, by their names."""
        return dict(self._extras.problems) if self._extras else {}

    async def monitor(self) -> ServerMonitor:
        """The monitor, connected if it was not; raises ``StreamopsError``."""
        if self._monitor is None:
            monitor = await self._open()
            try:
                with suppress(TimeoutError, ServerError):
                    async with asyncio.timeout(FIRST_LOOK):
                        await monitor.discover()
            except BaseException:
                await monitor.close()
                raise
            # The lane of delayed messages looks for their queues.
            monitor.start_discovery(queues=False)
            # What was counted goes on, whatever connection it is read by.
            self._observer = monitor.observer = self._observer or monitor.observer
            self._monitor = monitor
            self._extras = QueueMetricsReader(monitor.place, monitor.discovery, self._policies)
            self._lanes = asyncio.create_task(self._extras.run())
            self._lanes.add_done_callback(_log_end)
        return self._monitor

    async def extras(self, now: datetime) -> QueueMetrics:
        """The queue metrics; ``now`` is the server's clock."""
        return NO_QUEUE_METRICS if self._extras is None else await self._extras.read(now)

    def with_rates(self, observation: Observation) -> Observation:
        """The last observation, with rates."""
        return observation if self._monitor is None else self._monitor.with_rates(observation)

    async def drop(self) -> None:
        """Close the monitor; the next one is opened again."""
        self._failures = Counter(self.failures)
        monitor, self._monitor, self._extras = self._monitor, None, None
        lanes, self._lanes = self._lanes, None
        try:
            if lanes is not None:
                lanes.cancel()
                await asyncio.gather(lanes, return_exceptions=True)
        finally:
            if monitor is not None:
                await monitor.close()


def _log_end(lanes: "asyncio.Task[None]") -> None:
    if not lanes.cancelled() and (error := lanes.exception()) is not None:
        LOG.error("a bug in streamops", problem=f"{type(error).__name__}: {error}")


_STREAMS: Final = "streams"
DISCOVERY: Final = "discovery"
"""The part that is streams which are not known yet; it is read in the background."""


def nothing_read(snapshot: Snapshot) -> str | None:
    """Why not one stream could be read, if there may be some; None if one was read, or there is none."""
    if snapshot.streams:
        return None
    reasons = [gap.reason for gap in _of_streams(snapshot.gaps)]
    reasons += [gap.reason for gap in snapshot.gaps if gap.stream is None and gap.part == DISCOVERY]
    return f"no stream can be read: {_usual(reasons)}" if reasons else None


def unread_parts(snapshot: Snapshot) -> dict[str, str]:
    """Why some streams, or what concerns the whole server, could not be read, by the part."""
    reasons: defaultdict[str, list[str]] = defaultdict(list)
    for gap in _of_streams(snapshot.gaps):
        reasons[_STREAMS].append(gap.reason)
    for gap in snapshot.gaps:
        if gap.stream is None:
            reasons[gap.part].append(gap.reason)
    return {part: _usual(found) for part, found in reasons.items()}


def _of_streams(gaps: Iterable[ReadError]) -> Iterator[ReadError]:
    """Whole streams that are there and could not be read."""
    return (
        gap for gap in gaps if gap.stream and not gap.group and not gap.part and gap.reason != NO_SUCH_STREAM
    )


def _usual(reasons: Iterable[str]) -> str:
    return Counter(reasons).most_common(1)[0][0]
