"""The exporter's whole path in one process, and a ledger of what its page was compared with."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest
from prometheus_client.parser import text_string_to_metric_families

from streamops.exporter.catalogue import SECTIONS
from streamops.exporter.scraper import Scraper
from streamops.exporter.series_limits import NO_LIMITS, SeriesLimits
from streamops.model.retention import RetentionPolicy
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.wire.options import ConnectionOptions
from tests.support.eventually import SETTLE_SECONDS
from tests.support.servers import RunningServer

Labels = dict[str, str]
NEAR: Final = 1.5


def families(*headings: str) -> set[str]:
    """Names of the families below these headings of the catalogue, without their prefix."""
    found = {heading: names for heading, names in SECTIONS.items() if heading in headings}
    assert len(found) == len(headings)
    return {family.name.removeprefix("streamops_") for below in found.values() for family in below}


class Exposition:
    """One page, as Prometheus reads it.

    Attributes:
        body: What was served.
    """

    def __init__(self, body: bytes) -> None:
        self.body = body
        self._samples: dict[str, list[tuple[Labels, float]]] = {}
        for family in text_string_to_metric_families(body.decode()):
            for sample in family.samples:
                self._samples.setdefault(sample.name, []).append((dict(sample.labels), sample.value))

    @property
    def names(self) -> set[str]:
        """Names of all samples."""
        return set(self._samples)

    def samples(self, name: str, **labels: str) -> list[tuple[Labels, float]]:
        """The samples of a name that have these labels, and perhaps others."""
        return [one for one in self._samples.get(f"streamops_{name}", ()) if labels.items() <= one[0].items()]

    def value(self, name: str, **labels: str) -> float | None:
        """The one sample of a name with these labels; none where there is none."""
        found = self.samples(name, **labels)
        assert len(found) < 2, f"{name}{labels} is {found}"
        return found[0][1] if found else None

    def subjects(self, label: str) -> set[str]:
        """All values that a label has on the page; an empty one is none, to Prometheus as well."""
        every = (labels.get(label) for rows in self._samples.values() for labels, _ in rows)
        return {value for value in every if value}


class Ledger:
    """Compares pages with the truth, and remembers which families were compared.

    Attributes:
        compared: Their names, without the prefix.
        page: The page that is compared.
    """

    def __init__(self) -> None:
        self.compared: set[str] = set()
        self.page = Exposition(b"")

    def equal(self, expected: dict[str, float | None], **labels: str) -> None:
        """These values are on the page as they stand; none for what must not be there."""
        found = {name: self.page.value(name, **labels) for name in expected}
        assert found == expected, _difference(found, expected, labels)
        self.compared |= {name for name, value in expected.items() if value is not None}

    def near(self, expected: dict[str, float], **labels: str) -> None:
        """These values, which move with the clock, are on the page but for a second or so."""
        found = {name: self.page.value(name, **labels) for name in expected}
        close = {name: pytest.approx(value, abs=NEAR) for name, value in expected.items()}
        assert found == close, _difference(found, close, labels)
        self.compared |= expected.keys()


def _difference(found: Mapping[str, object], expected: Mapping[str, object], labels: Labels) -> str:
    wrong = [
        f"{name} is {found[name]}, not {value}" for name, value in expected.items() if found[name] != value
    ]
    return f"of {labels}: {'; '.join(wrong)}"


class Watched:
    """A server that the exporter looks at."""

    def __init__(self, scraper: Scraper, consoles: list[Console]) -> None:
        self._scraper = scraper
        self._consoles = consoles

    async def look(self) -> Exposition:
        """Find the streams there are, and read a fresh page."""
        if self._consoles:
            await self._consoles[-1].discover()
        return await self.glance()

    async def glance(self) -> Exposition:
        """Read a fresh page of the streams that are known."""
        return Exposition((await self._scraper.scrape()).plain())

    async def look_for(self, *names: str) -> Exposition:
        """Look until there are samples of all these names, which are read at their own pace."""
        deadline = time.monotonic() + SETTLE_SECONDS
        page = await self.look()
        while missing := [name for name in names if not page.samples(name)]:
            assert time.monotonic() < deadline, f"no {missing} among {page.names}"
            await asyncio.sleep(0.05)
            page = await self.look()
        return page


@asynccontextmanager
async def watching(
    server: RunningServer,
    monkeypatch: pytest.MonkeyPatch,
    *,
    guards: SeriesLimits = NO_LIMITS,
    policies: Sequence[RetentionPolicy] = (),
    options: ConnectionOptions | None = None,
    **watch: Any,
) -> AsyncIterator[Watched]:
    """Have the exporter look at a server, by its own scraper, but never twice from the same page."""
    monkeypatch.setattr("streamops.exporter.scraper.FRESH_SECONDS", 0.0)
    consoles: list[Console] = []

    async def open_console() -> Console:
        consoles.append(await Console.open(options or server.options, Watch(**watch)))
        return consoles[-1]

    scraper = Scraper(open_console, guards, server.label, policies)
    try:
        yield Watched(scraper, consoles)
    finally:
        await scraper.close()
