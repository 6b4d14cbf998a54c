"""A day of scraping in a minute: invented observations at the pace of a fake clock, down the exporter's own path."""

import functools
import gc
import sys
from collections.abc import Iterator
from datetime import timedelta
from random import Random

from msgspec import Struct

from streamops.exporter.page import MetricsPage
from streamops.exporter.rendering import Form, LabelCache
from streamops.exporter.series_limits import NO_LIMITS
from streamops.exporter.shown import ScrapeReading
from streamops.model.streams import Consumer, ConsumerGroup, Snapshot, StreamState
from streamops.monitor.observe import Observer
from streamops.monitor.thresholds import Thresholds
from tests.support.invented import consumer, entry_id, group, pending_entry, seconds, snapshot, stream

INTERVAL = seconds(15)
GROUPS = ("billing", "shipping")
CONSUMERS = 3
PER_SCRAPE = 30
STREAM_LIFE = 100
"""Scrapes between two streams that are deleted and followed by one of another name, where there are as many streams."""
POD_LIFE = 40
"""Scrapes that a consumer's name lives: pods have names of their own."""


class World(Struct):
    """Streams that come and go, and what is in them.

    Attributes:
        streams: How many there are at a time.
        chance: Where the numbers come from.
    """

    streams: int
    chance: Random

    def at(self, scrape: int) -> Snapshot:
        """What there is at a scrape."""
        now = scrape * INTERVAL
        return snapshot(*(self._stream(place, scrape, now) for place in range(self.streams)), at=now)

    def _stream(self, place: int, scrape: int, now: timedelta) -> StreamState:
        # One stream is replaced at every so many scrapes, each in its turn.
        generation, age = divmod(scrape + place * STREAM_LIFE // self.streams, STREAM_LIFE)
        added = (age + 1) * PER_SCRAPE
        return stream(
            f"orders:{place}:{generation}",
            [self._group(name, scrape + place, added, now) for name in GROUPS],
            length=min(added, 10 * PER_SCRAPE),
            first_id=entry_id(seconds(150) - now, place),
            last_generated_id=entry_id(-now, added),
            entries_added=added,
        )

    def _group(self, name: str, scrape: int, added: int, now: timedelta) -> ConsumerGroup:
        lag = min(added, self.chance.randrange(3 * PER_SCRAPE))
        return group(
            name,
            lag=lag,
            waiting=seconds(lag),
            pending=CONSUMERS,
            position=entry_id(seconds(lag) - now, added - lag),
            entries_read=added - lag,
            oldest=pending_entry(seconds(self.chance.randrange(60)) - now),
            oldest_age=seconds(60),
            members=[self._consumer(scrape, number) for number in range(CONSUMERS)],
        )

    def _consumer(self, scrape: int, number: int) -> Consumer:
        return consumer(
            f"pod-{number}-{scrape // POD_LIFE}", pending=1, idle=seconds(self.chance.random() * 10)
        )


class Exporting:
    """The path from a snapshot to both formats, with all that it keeps between scrapes."""

    def __init__(self) -> None:
        self._observer = Observer(Thresholds(), rates=False)
        self._labels = LabelCache()

    def scrape(self, found: Snapshot) -> MetricsPage:
        """One scrape, rendered and compressed."""
        observation = self._observer.observe(found, partial=False)
        page = MetricsPage(ScrapeReading(observation), NO_LIMITS, self._labels, 0.0)
        for form in Form:
            page.packed(form)
        return page


def fast_forward(streams: int, scrapes: int, seed: int = 7) -> Iterator[tuple[int, MetricsPage]]:
    """Scrape that often; gives the number of each scrape, and its page."""
    world, exporting = World(streams, Random(seed)), Exporting()
    for number in range(scrapes):
        yield number, exporting.scrape(world.at(number))


def blocks_in_use() -> int:
    """Blocks of memory in use, but for caches that are bounded and just not full yet."""
    for one in gc.get_objects():
        if isinstance(one, functools._lru_cache_wrapper) and one.__module__.startswith("streamops."):
            one.cache_clear()
    gc.collect()
    return sys.getallocatedblocks()
