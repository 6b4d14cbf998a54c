"""Targets of /probe: the contexts of the configuration, each with a scraper for as long as requests come."""

import asyncio
import time
from collections.abc import Callable, Collection
from typing import Final

from streamops.errors import NotFound, Unreachable, known_hint
from streamops.exporter.scraper import Scraper

MOST: Final = 32
"""Targets at once."""

UNUSED_SECONDS: Final = 300.0
"""How long a target is kept that no request asks for."""

LOOK_SECONDS: Final = 15.0


class ScrapeTargets:
    """Scrapers by the context that each scrapes.

    Args:
        names: The names of the contexts there are; may read files, raises ``StreamopsError``.
        make: Makes the scraper of a context.
    """

    def __init__(self, names: Callable[[], Collection[str]], make: Callable[[str], Scraper]) -> None:
        self._names = names
        self._make = make
        self._scrapers: dict[str, Scraper] = {}

    async def names(self) -> tuple[str, ...]:
        """The contexts there are; raises ``StreamopsError`` if the configuration cannot be read."""
        return tuple(sorted(await asyncio.to_thread(self._names)))

    async def find(self, name: str) -> Scraper:
        """The scraper of a context.

        Raises:
            NotFound: There is no such context.
            Unreachable: There are too many targets at once.
            StreamopsError: The configuration cannot be read.
        """
        if name not in self._scrapers:
            known = await self.names()
            if name not in known:
                raise NotFound("no context of that name", known_hint(name, known, "contexts"))
            # Meanwhile another request may have taken the room, or made the same.
            while name not in self._scrapers and len(self._scrapers) >= MOST:
                await self._make_room()
            if name not in self._scrapers:
                self._scrapers[name] = self._make(name)
        return self._scrapers[name]

    async def tidy(self) -> None:
        """Close targets that no request asks for any more, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self._close_unused(time.monotonic() - UNUSED_SECONDS)

    async def close(self) -> None:
        """Close them all."""
        scrapers = list(self._scrapers.values())
        self._scrapers.clear()
        await asyncio.gather(*(scraper.close() for scraper in scrapers))

    async def _make_room(self) -> None:
        idle = [name for name, scraper in self._scrapers.items() if not scraper.busy]
        if not idle:
            raise Unreachable("too many targets at once", f"At most {MOST} are probed at the same time.")
        await self._scrapers.pop(min(idle, key=lambda name: self._scrapers[name].used_at)).close()

    async def _close_unused(self, since: float) -> None:
        for name, scraper in list(self._scrapers.items()):
            if scraper.used_at < since and not scraper.busy:
                del self._scrapers[name]
                await scraper.close()
