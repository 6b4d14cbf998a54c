"""Looking at one target for whoever is told of what is found, at a pace of its own, with or without scrapes."""

import time
from datetime import timedelta
from typing import Final

from streamops.analysis.wording import span
from streamops.exporter.notices.sighting import Sight, see, see_down, see_failing
from streamops.exporter.scraping.page import Page
from streamops.exporter.scraping.scraper import FRESH_SECONDS, Scraper

STUCK: Final = 4
"""Looks in a row without a new page, after which collecting counts as failing."""


class Lookout:
    """Looks at what a scraper collected, and has it collect where nobody else does.

    Args:
        scraper: The target's scraper.
        every: Time between two looks.
    """

    def __init__(self, scraper: Scraper, every: timedelta) -> None:
        self._scraper = scraper
        self._every = every
        self._patience = max(every, timedelta(seconds=FRESH_SECONDS)) * STUCK
        self._seen: Page | None = None
        self._seen_at = time.monotonic()

    async def look(self) -> Sight | None:
        """What there is to see; none where no collection has ended since the last look, for a short while."""
        page = self._scraper.page
        if page is None or page is self._seen or self._age(page.begun) >= self._every:
            page = await self._scraper.scrape(self._every)
        if page is self._seen or not self._scraper.ready:
            return self._unseen()
        self._seen, self._seen_at = page, time.monotonic()
        if page.reading.observation is not None:
            return see(page.reading.observation)
        reason = self._scraper.problem or "it could not be read"
        return see_failing(reason, answered=True) if self._scraper.answered else see_down(reason)

    def _unseen(self) -> Sight | None:
        silent = self._age(self._seen_at)
        if silent < self._patience:
            return None
        return see_failing(f"no collection has come to its end for {span(silent)}", answered=False)

    @staticmethod
    def _age(since: float) -> timedelta:
        return timedelta(seconds=time.monotonic() - since)
