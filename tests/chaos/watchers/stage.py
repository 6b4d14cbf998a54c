"""The server in service, another one to fail over to, who writes, who watches, and what is done to them."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any, Final, Protocol

import redis
from msgspec import Struct

from tests.chaos.watchers.clock import wall_clock
from tests.chaos.watchers.controllers import Fleet
from tests.chaos.watchers.judging import Journals
from tests.chaos.watchers.lines import Line
from tests.chaos.watchers.writer import ANYTHING, KEEPER, Writer
from tests.support.servers import RunningServer

ARGUMENTS: Final = (
    *("--appendonly", "yes", "--appendfsync", "always", "--key-load-delay", "100"),
    *("--repl-diskless-sync-delay", "0", "--user", KEEPER, "on", "nopass", "~*", "&*", "+@all"),
)
GIVEN_UP: Final = 100.0
LOOKS: Final = 0.05


class Watcher(Protocol):
    """Who looks at the server, and is judged."""

    name: str
    line: Line
    problems: list[str]
    judged: int

    async def run(self) -> None:
        """Look until cancelled."""

    def judge(self, journals: Journals) -> None:
        """Hold what was shown against the truth, as far as that is known by now."""

    def is_right(self, journals: Journals, since: float) -> bool:
        """Whether it shows all of the truth, read since then."""

    def reconcile(self, writer: Writer) -> None:
        """Hold what was counted against what was done; nothing changes meanwhile."""

    def shows(self) -> str:
        """What it shows now, for a message."""

    def finish(self) -> None:
        """What is to be said in the end."""


class Struck(Struct, frozen=True):
    """One fault.

    Attributes:
        kind: What was done.
        lasted: For how many seconds.
        recovered: Seconds after its end until each watcher showed all of the truth.
        stalled: Seconds of these in which this machine ran none of us.
    """

    kind: str
    lasted: float
    recovered: dict[str, float]
    stalled: float


Start = Callable[[Path], RunningServer]
"""Starts a server that keeps its data in a directory."""


class Stage:
    """Everything of one history.

    Attributes:
        server: The server in service.
        directory: Where sockets and data are.
        writer: Who changes the streams.
        fleet: The workers that controllers ask for.
        watchers: Who watches.
        struck: The faults so far.
        tasks: What is to run all the time.
    """

    def __init__(self, start: Start, directory: Path, random: Random) -> None:
        self._start = start
        self._data: dict[int, Path] = {}
        self.directory = directory
        self.server = self.another()
        # What others draw from it depends on how fast they are.
        self.writer = Writer(self.server, Random(random.random()))
        self.fleet = Fleet(self.server)
        self.watchers: list[Watcher] = []
        self.struck: list[Struck] = []
        self.tasks: list[asyncio.Task[None]] = []
        self._stalled = 0.0
        self._keeper = self.client()

    @property
    def lines(self) -> Sequence[Line]:
        """The ways of all watchers."""
        return [one.line for one in self.watchers]

    def turn_to(self, server: RunningServer) -> None:
        """Have this server in service from now on."""
        self.server = server
        self.writer.turn_to(server)
        self.fleet.turn_to(server)
        self._keeper = self.client()
        for line in self.lines:
            line.lead_to(server.socket_path)
            line.proxy.cut()

    def another(self) -> RunningServer:
        """One more server, with nothing in it."""
        data = self.directory / f"data{len(self._data)}"
        data.mkdir()
        server = self._start(data)
        self._data[server.port] = data
        return server

    def forget_data(self) -> None:
        """Remove what the server in service would begin with."""
        data = self._data[self.server.port]
        shutil.rmtree(data)
        data.mkdir()

    async def command(self, *words: str | float) -> Any:  # noqa: ANN401 - a raw reply
        """Send the server in service one command, as the user who is refused nothing."""
        return await asyncio.to_thread(self._keeper.execute_command, *words)

    def client(self) -> "redis.Redis":
        """One more connection of that user."""
        return self.server.connect(username=KEEPER, password=ANYTHING)

    async def write(self) -> None:
        """Change things until cancelled."""
        while True:
            await asyncio.to_thread(self.writer.step)
            await asyncio.sleep(0.01)

    async def count_stalls(self) -> None:
        """Notice when this machine runs none of us, until cancelled."""
        while True:
            began = monotonic()
            await asyncio.sleep(0.05)
            self._stalled += max(0.0, monotonic() - began - 0.1)

    @asynccontextmanager
    async def still(self) -> AsyncIterator[None]:
        """Nobody changes anything meanwhile."""
        await asyncio.to_thread(self.writer.going.acquire)
        try:
            yield
        finally:
            self.writer.going.release()

    @asynccontextmanager
    async def unknown(self) -> AsyncIterator[None]:
        """What is done inside may change everything, at any time until its end; nobody else changes anything."""
        async with self.still():
            since = wall_clock()
            try:
                yield
            finally:
                await asyncio.to_thread(self.writer.look_and_mend, since)

    async def recover(self, kind: str, began: float) -> None:
        """Wait until all show the truth, while nothing changes; then judge what was shown until then."""
        ended, stalled = monotonic(), self._stalled
        recovered: dict[str, float] = {}
        async with self.still():
            since = wall_clock()
            while len(recovered) < len(self.watchers):
                self._assert_all_run()
                for one in self.watchers:
                    if one.name not in recovered and one.is_right(self.journals, since):
                        recovered[one.name] = round(monotonic() - ended, 2)
                late = [one.name for one in self.watchers if one.name not in recovered]
                if late and monotonic() - ended > GIVEN_UP:
                    raise AssertionError(f"after {kind} {late} did not recover: {self._told()}")
                await asyncio.sleep(LOOKS)
            self.struck.append(
                Struck(kind, round(ended - began, 2), recovered, round(self._stalled - stalled, 2))
            )
            for one in self.watchers:
                one.reconcile(self.writer)
            self.judge()
            for journal in self.journals.values():
                journal.forget_before(since)

    @property
    def journals(self) -> Journals:
        """What was so, by stream."""
        return self.writer.journals

    def judge(self) -> None:
        """Hold all that was shown against the truth."""
        for one in self.watchers:
            one.judge(self.journals)
        problems = [f"{one.name}: {problem}" for one in self.watchers for problem in one.problems]
        assert not problems, "\n".join(problems[:20])

    def _assert_all_run(self) -> None:
        for task in self.tasks:
            if task.done():
                task.result()
                raise AssertionError(f"{task.get_name()} has ended")

    def _told(self) -> str:
        truth = {
            f"{stream}/{group}": len(one.waiting)
            for stream, journal in self.journals.items()
            for group, one in journal.now.groups.items()
        }
        return f"so is {truth}; shown is " + "; ".join(f"{one.name}: {one.shows()}" for one in self.watchers)
