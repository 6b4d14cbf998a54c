"""The exporter as a process, scraped over HTTP again and again."""

import asyncio
import os
import re
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import aiohttp

from streamops.service.processes import module_environment
from tests.chaos.watchers.judging import Journals, page_window, wrong_on_page
from tests.chaos.watchers.lines import Line
from tests.chaos.watchers.reconciling import Reconciler
from tests.chaos.watchers.writer import Writer
from tests.support.exporter.truth import Exposition

EVERY: Final = 0.3
DEADLINE: Final = "3"


class ExporterWatch:
    """A running exporter, and what it showed.

    Attributes:
        name: Its name.
        line: Its way to the server.
        problems: What was wrong.
        judged: How many pages were held against the truth.
        process: The process.
        log: What it says.

    Args:
        exactly: Whether nothing is done that cannot be told: then its counters say all of it.
    """

    name = "exporter"

    def __init__(
        self, line: Line, process: Process, session: aiohttp.ClientSession, *, exactly: bool
    ) -> None:
        self.line = line
        self.problems: list[str] = []
        self.judged = 0
        self.process = process
        self.log: list[str] = []
        self._session = session
        self._pages: list[Exposition] = []
        self._last: Exposition | None = None
        self._counters = Reconciler(exactly=exactly)

    async def run(self) -> None:
        """Scrape until cancelled, and listen to what it says."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._listen())
            while True:
                await self._scrape()
                await asyncio.sleep(EVERY)

    def judge(self, journals: Journals) -> None:
        """Hold what was shown against the truth, as far as that is known by now."""
        pages, self._pages = self._pages, []
        for page in pages:
            self.judged += 1
            self.problems += wrong_on_page(page, journals)
            self.problems += self._counters.fallen(page)

    def is_right(self, journals: Journals, since: float) -> bool:
        """Whether the last page was collected since then, and all of the truth is on it."""
        page = self._last
        window = page_window(page) if page else None
        if page is None or window is None or window.start < since or page.value("up") != 1:
            return False
        for stream, journal in journals.items():
            for group, truth in journal.now.groups.items():
                told = page.value("group_lag_entries", stream=stream, group=group)
                if told is None or int(told) != len(truth.waiting):
                    return False
        return True

    def reconcile(self, writer: Writer) -> None:
        """Hold the counters against what was done since the first time; while nothing changes."""
        assert self._last is not None
        self.problems += self._counters.wrong(self._last, writer)

    @property
    def descriptors(self) -> int:
        """Files that the process has open."""
        return len(list(Path(f"/proc/{self.process.pid}/fd").iterdir()))

    @property
    def resident(self) -> int:
        """Memory of the process in bytes."""
        fields = Path(f"/proc/{self.process.pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")

    def shows(self) -> str:
        """What it shows now, for a message."""
        page, told = self._last, "".join(self.log[-5:])
        if page is None:
            return "nothing"
        lags = page.samples("group_lag_entries")
        return f"{lags} up {page.value('up')} of {page.value('snapshot_timestamp_seconds')}; its log ends with {told}"

    def finish(self) -> None:
        """What the log must never hold."""
        told = "\n".join(self.log)
        for word in ("Traceback", "a bug in streamops", "Error:", "Exception"):
            if word in told:
                self.problems.append(f"the log tells of {word}: {told[-2000:]}")
        if self.process.returncode is not None:
            self.problems.append(f"it ended with {self.process.returncode}: {told[-2000:]}")

    async def _scrape(self) -> None:
        headers = {"X-Prometheus-Scrape-Timeout-Seconds": DEADLINE}
        async with self._session.get("/metrics", headers=headers) as response:
            page = Exposition(await response.read())
            if response.status != 200:
                self.problems.append(f"the page was answered by {response.status}")
        if page.value("up") is None:
            self.problems.append("a page without streamops_up")
        self._last = page
        self._pages.append(page)

    async def _listen(self) -> None:
        assert self.process.stderr is not None
        while line := await self.process.stderr.readline():
            self.log.append(line.decode())


@asynccontextmanager
async def exporter_on(line: Line, directory: Path, *, exactly: bool) -> AsyncIterator[ExporterWatch]:
    """The exporter as a process of its own."""
    words = ("--url", f"unix://{line.proxy.path}", "--timeout", str(line.options.timeout.total_seconds()))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "streamops", "exporter", *words, "--listen", "127.0.0.1:0"),
        cwd=directory,
        env={**module_environment(), "HOME": str(directory)},
        stdout=DEVNULL,
        stderr=PIPE,
    )
    assert process.stderr is not None
    try:
        told = ""
        while (port := re.search(r"127\.0\.0\.1:(\d+)/metrics", told)) is None:
            async with asyncio.timeout(60):
                heard = (await process.stderr.readline()).decode()
            assert heard, told
            told += heard
        timeout = aiohttp.ClientTimeout(total=60)
        async with aiohttp.ClientSession(f"http://127.0.0.1:{port[1]}", timeout=timeout) as session:
            yield ExporterWatch(line, process, session, exactly=exactly)
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
