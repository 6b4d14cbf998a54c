"""Who looks on while a fault strikes: ``status``, a scrape, two controllers of one pool."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Final, Protocol

from msgspec.structs import replace

from streamops.autoscaling.controller import Controller
from streamops.errors import Unreachable
from streamops.exporter.scraper import FRESH_SECONDS, Scraper
from streamops.exporter.series_limits import NO_LIMITS
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from tests.chaos.topologies.operators import DONE, Typist
from tests.chaos.topologies.place import LONGEST, Place, until
from tests.support.autoscaling.pools import POOL, Workers, options
from tests.support.operations.engine.examples import WORKSHOP

IMPATIENT: Final = timedelta(seconds=1.5)
LEASE: Final = timedelta(seconds=5)
UP: Final = "\nstreamops_up 1\n"


BOTH_LED: Final = "two controllers led, each by another server's word"


class Watcher(Protocol):
    """Somebody who looks on."""

    @property
    def repeated(self) -> Mapping[str, int]:
        """What happened twice because one server did not know of the other's word, by cause."""

    async def watch(self) -> None:
        """Look again and again, until cancelled."""

    async def last_look(self, streams: Sequence[str]) -> list[str]:
        """What is not true, now that nothing moves any more."""


class StatusWatcher:
    """The status of everything, again and again: it is what is there, or nothing answers; in the end, as a command."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._unreached = 0

    @property
    def repeated(self) -> Mapping[str, int]:
        """Nothing: it changes nothing."""
        return {}

    async def watch(self) -> None:
        """Observe; where nothing answers, from a new connection."""
        while True:
            try:
                async with await Console.open(replace(self._place.options, timeout=IMPATIENT)) as console:
                    await console.discover()
                    while True:
                        await console.observe()
                        await asyncio.sleep(0.2)
            except Unreachable:
                self._unreached += 1
                await asyncio.sleep(0.2)

    async def last_look(self, streams: Sequence[str]) -> list[str]:
        """Lengths and pending entries of the status, against the server's own."""
        said = await Typist(self._place.url).say("status", "-o", "json")
        if said.code != DONE:
            return [f"status: exit {said.code} though all is well: {said.err}"]
        shown = {one["stream"]: one for one in said.document["streams"]}
        return [
            f"status: {stream} has {told}, is shown with {seen}"
            for stream in streams
            if (told := _told(self._place, stream)) != (seen := _seen(shown.get(stream)))
        ]


class Scrapes:
    """An exporter that is scraped all the time."""

    def __init__(self, place: Place) -> None:
        self._place = place

        async def open_console() -> Console:
            connection = replace(place.options, timeout=IMPATIENT)
            return await Console.open(connection, Watch(deep=True), read_only=True)

        self._scraper = Scraper(open_console, NO_LIMITS, "topologies")

    @property
    def repeated(self) -> Mapping[str, int]:
        """Nothing: it changes nothing."""
        return {}

    async def watch(self) -> None:
        """Scrape."""
        while True:
            await self._scraper.scrape(IMPATIENT)
            await asyncio.sleep(0.3)

    async def last_look(self, streams: Sequence[str]) -> list[str]:
        """It is up again, and tells each stream's length as it is."""
        try:
            async with asyncio.timeout(LONGEST):
                # A page that is not fresh any more is of before the last entry.
                await asyncio.sleep(FRESH_SECONDS)
                while UP not in (page := await self._page()):  # noqa: ASYNC110 - each time a scrape
                    await asyncio.sleep(0.1)
        finally:
            await self._scraper.close()
        return [
            f"exporter: {stream} has {length} entries, and its page says otherwise"
            for stream in streams
            if not _has_sample(page, stream, length := _length(self._place, stream))
        ]

    async def _page(self) -> str:
        return (await self._scraper.scrape(IMPATIENT)).plain().decode()


class Leads:
    """Two controllers of one pool, of which one leads.

    A lease that a primary grants is worth what its replication is: while a former primary still answers, or after the
    last grant was lost, each may be led to believe that it leads. What they ask for stays within the limits then too.
    """

    def __init__(self, place: Place) -> None:
        self._both = 0
        self._place = place
        self._led: dict[str, bool] = {}
        self._target = Workers(3)

    @property
    def repeated(self) -> Mapping[str, int]:
        """How often both believed that they led, one right after the other."""
        return {BOTH_LED: self._both}

    async def watch(self) -> None:
        """Have both go round."""
        connection = replace(self._place.options, timeout=IMPATIENT)
        consoles = [Console.patient(connection, watch=Watch(details=False), actor=WORKSHOP) for _ in range(2)]
        try:
            for console in consoles:
                console.place.targets.use(POOL, self._target)
            controllers = {
                holder: Controller(console, options(holder, lease=LEASE))
                for holder, console in zip(("first", "second"), consoles, strict=True)
            }
            while True:
                for holder, controller in controllers.items():
                    self._led[holder] = bool((await controller.round()).decisions)
                self._both += all(self._led.values())
                await asyncio.sleep(0.2)
        finally:
            for console in consoles:
                await console.close()

    async def last_look(self, streams: Sequence[str]) -> list[str]:  # noqa: ARG002 - it looks at none
        """One of them leads again, and nothing was asked for beyond the limits."""
        task = asyncio.create_task(self.watch())
        try:
            await until("led by one", lambda: task.done() or sorted(self._led.values()) == [False, True])
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        asked = [count for count in self._target.asked if not 1 <= count <= 10]
        return [f"autoscaler: workers beyond the limits were asked for: {asked}"] if asked else []


def _length(place: Place, stream: str) -> int:
    length: int = place.primary_of(stream).command("XLEN", stream)
    return length


def _told(place: Place, stream: str) -> tuple[int, dict[str, int]]:
    """A stream's length, and what its groups have pending, as the server says."""
    server = place.primary_of(stream)
    rows = server.command("XINFO", "GROUPS", stream)
    groups = [dict(zip(row[::2], row[1::2], strict=True)) for row in rows]
    return server.command("XLEN", stream), {one[b"name"].decode(): one[b"pending"] for one in groups}


def _seen(row: dict[str, object] | None) -> tuple[object, dict[object, object]] | None:
    if row is None:
        return None
    groups = row["groups"]
    assert isinstance(groups, list)
    return row["length"], {one["group"]: one["pending"] for one in groups}


def _has_sample(page: str, stream: str, length: int) -> bool:
    found = [line for line in page.splitlines() if line.startswith("streamops_stream_length{")]
    return any(f'stream="{stream}"' in line and float(line.rpartition(" ")[2]) == length for line in found)
