"""The exporter of a soak, scraped as Prometheus would; and its counters beside what the server says."""

import asyncio
import time
from contextlib import suppress

from msgspec import Struct
from prometheus_client.parser import text_string_to_metric_families

from tests.benchmarks.bench_exporter import worker_of
from tests.benchmarks.soak.worker import GROUP, STREAM
from tests.support.prometheus import RunningProgram, fetch
from tests.support.servers import RunningServer

SCRAPED = 15.0
"""Simulated seconds between two scrapes."""
FRESH = 1.1
"""Seconds after which a page is collected anew."""


class Counted(Struct, frozen=True):
    """What moved from the first scrape to the last, when nothing was going on.

    Attributes:
        delivered: By the exporter's counter.
        acked: By the exporter's counter.
        read: By the server, which says how many entries the group has read.
        untold: Steps of which the exporter says that it could not tell them.
    """

    delivered: int
    acked: int
    read: int
    untold: int

    @property
    def is_true(self) -> bool:
        """Whether the counters are exact, or say that they are not."""
        return self.delivered == self.read == self.acked or self.untold > 0


class Scrapes:
    """Scrapes an exporter.

    Attributes:
        pid: The exporter's process.
        answered: How many scrapes were.
        unanswered: How many were not.
    """

    def __init__(self, exporter: RunningProgram, server: RunningServer, pace: float) -> None:
        self.pid = worker_of(exporter.guard_pid)
        self.answered = 0
        self.unanswered = 0
        self._url = f"{exporter.url}/metrics"
        self._server = server
        self._pace = pace
        self._first: tuple[int, int, int, int] = (0, 0, 0, 0)

    async def begin(self) -> None:
        """The first scrape that knows the group."""
        self._first = await self._fresh()

    async def end(self) -> Counted:
        """What moved since."""
        before, after = self._first, await self._fresh()
        return Counted(*(late - early for early, late in zip(before, after, strict=True)))

    async def go_on(self) -> None:
        """Scrape until cancelled."""
        began = time.monotonic()
        while True:
            try:
                await asyncio.to_thread(fetch, self._url)
            except OSError:
                self.unanswered += 1
            else:
                self.answered += 1
            number = self.answered + self.unanswered
            await asyncio.sleep(max(0.0, began + number * SCRAPED / self._pace - time.monotonic()))

    async def _fresh(self) -> tuple[int, int, int, int]:
        """Counters of a page that was collected after this was called, and what the server says."""
        seconds, micros = self._server.command("TIME")
        asked = int(seconds) + int(micros) / 1e6
        while True:
            await asyncio.sleep(FRESH)
            samples = self._samples(await self._page())
            told = samples.get("streamops_snapshot_timestamp_seconds", 0.0)
            if told > asked and "streamops_group_delivered_entries_total" in samples:
                break
        rows = self._server.command("XINFO", "GROUPS", STREAM)[0]
        read = dict(zip(rows[::2], rows[1::2], strict=True))[b"entries-read"]
        return (
            round(samples["streamops_group_delivered_entries_total"]),
            round(samples["streamops_group_acked_entries_total"]),
            read or 0,
            round(samples.get("streamops_group_count_gaps_total", 0.0)),
        )

    async def _page(self) -> str:
        """What it serves now; nothing where the machine is too busy for it to answer in time."""
        with suppress(OSError):
            return (await asyncio.to_thread(fetch, self._url)).decode()
        return ""

    def _samples(self, page: str) -> dict[str, float]:
        """The samples of the group, and those of no group, by their names; of several, their sum."""
        found: dict[str, float] = {}
        for family in text_string_to_metric_families(page):
            for sample in family.samples:
                labels = sample.labels
                if "group" in labels and (labels["stream"], labels["group"]) != (STREAM, GROUP):
                    continue
                found[sample.name] = found.get(sample.name, 0.0) + sample.value
        return found
