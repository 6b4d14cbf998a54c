"""One target, scraped: concurrent scrapes share one collection, and none waits beyond its deadline."""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final

import structlog

from streamops.errors import Refused, ServerError, StreamopsError, Unreachable
from streamops.exporter.page import MetricsPage
from streamops.exporter.rendering import LabelCache
from streamops.exporter.series_limits import Reason, SeriesLimits
from streamops.exporter.shown import ExporterHealth, ScrapeReading
from streamops.exporter.target import DISCOVERY, Open, ScrapeTarget, nothing_read, unread_parts
from streamops.model.observation import Observation
from streamops.model.retention import RetentionPolicy
from streamops.monitor.server_monitor import ServerMonitor

LOG: Final = structlog.get_logger("streamops.exporter")

FRESH_SECONDS: Final = 1.0
"""A page younger than this serves again."""

LONGEST: Final = timedelta(seconds=60)
"""How long a scrape waits that names no deadline."""

GIVEN_UP_SECONDS: Final = 300.0
"""How long a collection may take, whether a scrape waits for it or not."""


class Scraper:
    """Collects one target when asked, and keeps what it counts from one collection to the next.

    Args:
        open_monitor: Connects; raises ``StreamopsError``. Called again after a failure, so that a password that was
            exchanged meanwhile is read again.
        guards: Which series are shown.
        name: The target in words, for the log.
        policies: How much is kept of which streams.

    Attributes:
        page: What the last collection came to, well or not; none before the first has ended.
        answered: Whether the server answered when it was last asked, if only to refuse.
        problem: Why it could not be read; None if it could, or was not tried.
        used_at: When it was last asked for anything, in seconds of this machine's clock.
    """

    def __init__(
        self, open_monitor: Open, guards: SeriesLimits, name: str, policies: Sequence[RetentionPolicy] = ()
    ) -> None:
        self.page: MetricsPage | None = None
        self.answered = False
        self.problem: str | None = None
        self.used_at = time.monotonic()
        self._target = ScrapeTarget(open_monitor, policies)
        self._guards = guards
        self._labels = LabelCache()
        self._name = name
        self._reading = ScrapeReading(None, health=ExporterHealth(up=False))
        self._flight: asyncio.Task[None] | None = None
        self._waiting = 0
        self._rendered: dict[str, float] = {}
        self._errors: Counter[str] = Counter()
        self._parts: dict[str, str] = {}

    @property
    def busy(self) -> bool:
        """Whether a collection is under way, or a scrape waits that may begin another one."""
        return self._flight is not None or self._waiting > 0

    async def scrape(self, within: timedelta | None = None) -> MetricsPage:
        """A page that was begun less than a second before; at the deadline, one that says that the server could not be read.

        Args:
            within: How long to wait at most; a minute unless given. The collection goes on, and is shared by scrapes within
                a second of its beginning.
        """
        asked = self.used_at = time.monotonic()
        self._waiting += 1
        try:
            async with asyncio.timeout((within or LONGEST).total_seconds()):
                while self.page is None or self.page.begun <= asked - FRESH_SECONDS:
                    self._flight = self._flight or asyncio.create_task(self._collect())
                    await asyncio.shield(self._flight)
                return self.page
        except TimeoutError:
            return self._page(self._unread("deadline"), asked)
        finally:
            self._waiting -= 1

    def status(self, page: MetricsPage) -> Observation | None:
        """What a page tells, with rates if it is the last one; None if it tells nothing."""
        observation = page.reading.observation
        if observation is None or page is not self.page:
            return observation
        return self._target.with_rates(observation)

    async def close(self) -> None:
        """End what is under way and close all connections."""
        if self._flight is not None:
            self._flight.cancel()
            await asyncio.gather(self._flight, return_exceptions=True)
        await self._target.drop()

    def _page(self, reading: ScrapeReading, begun: float) -> MetricsPage:
        return MetricsPage(reading, self._guards, self._labels, begun)

    async def _collect(self) -> None:
        begun = time.monotonic()
        try:
            self._reading = await self._read()
            self.page = self._page(self._reading, begun)
        finally:
            self._flight = None

    async def _read(self) -> ScrapeReading:
        """One reading, whatever comes: a failure is a reading without an observation."""
        stage = "connect"
        try:
            async with asyncio.timeout(GIVEN_UP_SECONDS):
                monitor = await self._target.monitor()
                stage = "collect"
                return await self._observe(monitor)
        except StreamopsError as error:
            self.answered = isinstance(error, ServerError) and not isinstance(error, Unreachable)
            if isinstance(error, Refused):
                # Another password may stand where this one was read.
                await self._target.drop()
            return self._failed(stage, error.message)
        except TimeoutError:
            return self._failed(stage, f"it took longer than {GIVEN_UP_SECONDS:g} s")
        except Exception as error:
            # Whatever it is, the next scrape must find an exporter.
            LOG.debug("a bug in streamops", target=self._name, exc_info=True)
            return self._failed(stage, f"a bug in streamops: {type(error).__name__}: {error}")

    async def _observe(self, monitor: ServerMonitor) -> ScrapeReading:
        started = time.monotonic()
        observation = await monitor.observe()
        self.answered = True
        snapshot = observation.snapshot
        if (reason := nothing_read(snapshot)) is not None:
            return self._failed("collect", reason)
        observed = time.monotonic()
        extras = await self._target.extras(snapshot.collected_at)
        read = time.monotonic()
        collected = snapshot.elapsed.total_seconds() + read - observed
        judged = max(0.0, time.monotonic() - started - collected)
        if self.page is not None and self.page.render_seconds is not None:
            self._rendered = {"render": self.page.render_seconds}
        beyond = snapshot.discovered - monitor.watch.max_streams
        self._log_changes(None, unread_parts(snapshot))
        health = ExporterHealth(
            phases={"collect": collected, "judge": judged} | self._rendered,
            commands=snapshot.commands,
            errors=self._errors + Counter(self._target.failures),
            omitted={("stream", Reason.MAX_STREAMS.value): beyond} if beyond > 0 else {},
            discovered=snapshot.discovered,
        )
        return ScrapeReading(observation, extras, health)

    def _failed(self, stage: str, problem: str) -> ScrapeReading:
        self._log_changes(problem)
        return self._unread(stage)

    def _unread(self, stage: str) -> ScrapeReading:
        self._errors[stage] += 1
        errors = self._errors + Counter(self._target.failures)
        discovered = self._reading.health.discovered
        return ScrapeReading(None, health=ExporterHealth(up=False, errors=errors, discovered=discovered))

    def _log_changes(self, problem: str | None, unread: Mapping[str, str] = {}) -> None:
        """Log what has changed, once: whether the server can be read, and what of the rest cannot."""
        before, self.problem = self.problem, problem
        if problem is not None:
            if problem != before:
                LOG.warning("redis cannot be read", target=self._name, reason=problem)
            return
        parts = {**self._target.problems, **unread}
        if before is not None:
            # What is read in the background may say for a while that the server is away.
            late = {*self._target.problems, DISCOVERY}
            self._parts = {part: reason for part, reason in parts.items() if part in late}
            LOG.info("redis can be read again", target=self._name)
        for part, reason in sorted(parts.items() - self._parts.items()):
            LOG.warning("a part cannot be read", target=self._name, part=part, reason=reason)
        self._parts = parts
