"""One soak: everything at work, a fault every simulated minute, and in the end the books and the gauges."""

import asyncio
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random

import redis
from msgspec import Struct

from streamops.errors import StreamopsError
from streamops.runtime import Publisher, Streamops
from streamops.service.processes import module_command
from tests.benchmarks.soak.books import Balance, Line, Published, balance, read, runs_of
from tests.benchmarks.soak.crew import PoolRegistry, at_work
from tests.benchmarks.soak.exporting import Counted, Scrapes
from tests.benchmarks.soak.faults import Scene, strike
from tests.benchmarks.soak.gauges import Gauge, Gauges
from tests.benchmarks.soak.person import LETTERS, PersonPost
from tests.benchmarks.soak.worker import DO, GROUP, NUMBER, STREAM, Note, read_notes
from tests.support.operations.backups import read_backup
from tests.support.prometheus import RunningProgram
from tests.support.servers import RunningServer

MINUTE = 60.0
RATE = 2.0
"""Events that are published in a simulated second."""
DOINGS = ("ok",) * 14 + ("slow", "fail", "later", "skip", "reject", "bad")
DELAYED = 0.2
"""The share of events that are delayed messages."""
LONGEST_DELAY = 120.0
"""In simulated seconds."""
COMES_WITHIN = 120.0
SETTLES_WITHIN = 120.0
"""Seconds after the last fault until nothing is left to do, on a machine that is busy."""


class Result(Struct, frozen=True):
    """What came of a soak.

    Attributes:
        balance: Where every event is.
        delayed: How many of them were delayed messages.
        faults: How often each fault was done.
        gauges: What was measured.
        counted: What the exporter counted, and what the server says.
        figures: What the worker that lived through everything says that it handled, and how much of it failed.
        written: The same by the books.
        did: What the console and the person before it did.
        scrapes: How often the exporter answered, and how often it did not.
        killed: Workers killed.
        bad_ends: Exit codes of workers that ended otherwise than they were told to.
        seconds: How long it took.
    """

    balance: Balance
    delayed: int
    faults: dict[str, int]
    gauges: list[Gauge]
    counted: Counted
    figures: tuple[int, int]
    written: tuple[int, int]
    did: dict[str, int]
    scrapes: tuple[int, int]
    killed: int
    bad_ends: list[int]
    seconds: float


class Soak:
    """One soak on a server that keeps what it confirmed."""

    def __init__(
        self, server: RunningServer, directory: Path, *, minutes: int, pace: float, seed: int
    ) -> None:
        self._server = server
        self._directory = directory
        self._minutes = minutes
        self._pace = pace
        self._random = Random(seed)
        self._published = Published()
        self._faults: Counter[str] = Counter()
        self._gauges = Gauges()
        self._number = 0

    async def run(self) -> Result:
        """Run it to its end."""
        began = time.monotonic()
        self._server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
        post = PersonPost(
            str(self._server.socket_path), str(self._directory / "person"), str(self._directory), self._pace
        )
        with RunningProgram(self._exporter, "/-/healthy") as exporter:
            scrapes = Scrapes(exporter, self._server, self._pace)
            await scrapes.begin()
            async with PoolRegistry(self._server, self._directory, self._pace) as crew:
                async with at_work("tests.benchmarks.soak.person", post) as person:
                    pids = {
                        "exporter": scrapes.pid,
                        "console": person.pid,
                        "a worker": crew.steady.process.pid,
                    }
                    await self._assemble(crew, Path(post.notes))
                    await self._live(crew, scrapes, pids)
                await self._settle(crew)
                counted = await scrapes.end()
                steady = await crew.leave()
        self._note_tasks("a worker", steady)
        person_notes = read_notes(Path(post.notes))
        self._note_tasks("console", person_notes)
        lines = read(crew.book)
        return Result(
            balance=self._balance(lines),
            delayed=self._published.delayed,
            faults=dict(self._faults),
            gauges=[*self._gauges.series.values()],
            counted=counted,
            figures=(steady[-1].handled or 0, steady[-1].failures or 0),
            written=runs_of(lines, crew.steady.process.pid),
            did=person_notes[-1].did,
            scrapes=(scrapes.answered, scrapes.unanswered),
            killed=crew.killed,
            bad_ends=crew.bad_ends,
            seconds=time.monotonic() - began,
        )

    async def _assemble(self, crew: PoolRegistry, person: Path) -> None:
        """Wait until everybody is at work."""
        deadline = time.monotonic() + COMES_WITHIN
        while absent := [path for path in (person, *(hand.notes for hand in crew.all)) if not path.exists()]:
            assert time.monotonic() < deadline, f"not at work after {COMES_WITHIN} s: {absent}"
            await asyncio.sleep(0.05)

    async def _live(self, crew: PoolRegistry, scrapes: Scrapes, pids: dict[str, int]) -> None:
        """All simulated minutes."""
        scene = Scene(self._server, crew, self._random, self._pace)
        application = Streamops(self._server.options)
        async with application.publisher() as publisher:
            busy = [asyncio.create_task(self._publish(publisher)), asyncio.create_task(scrapes.go_on())]
            began = time.monotonic()
            for minute in range(1, self._minutes + 1):
                await asyncio.sleep(max(0.0, began + minute * MINUTE / self._pace - time.monotonic()))
                await asyncio.to_thread(self._measure, {**pids, "redis": self._server.pid})
                self._faults[await strike(scene)] += 1
                await crew.mourn()
                for task in busy:
                    if task.done():
                        task.result()
            for task in busy:
                task.cancel()
            await asyncio.gather(*busy, return_exceptions=True)

    async def _publish(self, publisher: Publisher) -> None:
        """Events one by one, at a steady rate."""
        began, chance = time.monotonic(), Random(self._random.random())
        while True:
            self._number += 1
            await asyncio.sleep(max(0.0, began + self._number / RATE / self._pace - time.monotonic()))
            body = {NUMBER: str(self._number), DO: chance.choice(DOINGS)}
            delay = None if chance.random() >= DELAYED else chance.uniform(0, LONGEST_DELAY) / self._pace
            # Until it is confirmed, it may have been added: the last one, too, under which this is cancelled.
            self._published.doubtful.add(self._number)
            self._published.delayed += delay is not None
            with suppress(StreamopsError):
                await publisher.publish(STREAM, body, delay=delay)
                self._published.doubtful.discard(self._number)
                self._published.confirmed.add(self._number)

    async def _settle(self, crew: PoolRegistry) -> None:
        """Wait until nothing is left to do."""
        for hand in crew.all:
            hand.proxy.resume()
        deadline = time.monotonic() + SETTLES_WITHIN
        while left := await asyncio.to_thread(self._left):
            assert time.monotonic() < deadline, f"left after {SETTLES_WITHIN} s: {left}"
            await crew.mourn()
            await asyncio.sleep(0.1)

    def _left(self) -> dict[str, object]:
        """What is still to be done; empty where nothing is."""
        ask = self._server.command
        try:
            rows = ask("XINFO", "GROUPS", STREAM)[0]
            group = dict(zip(rows[::2], rows[1::2], strict=True))
            position = group[b"last-delivered-id"].decode()
            left = {
                "unread": len(ask("XRANGE", STREAM, f"({position}", "+", "COUNT", 10)),
                "pending": group[b"pending"],
                "retries": ask("XLEN", f"{{{STREAM}}}:retry:{GROUP}"),
                "delayed": ask("ZCARD", f"{{{STREAM}}}:delayed"),
            }
        except redis.ConnectionError as error:
            return {"the server": error}
        return {name: count for name, count in left.items() if count}

    def _measure(self, pids: dict[str, int]) -> None:
        for name, pid in pids.items():
            self._gauges.read_process(name, pid)
        self._gauges.read_server(self._server)

    def _note_tasks(self, name: str, notes: list[Note]) -> None:
        for note in notes:
            if note.tasks:
                self._gauges.note(f"{name}: asyncio tasks", note.at, note.tasks, unit=1.0)

    def _balance(self, lines: list[Line]) -> Balance:
        letters = {_number(fields) for _, fields in self._server.command("XRANGE", LETTERS, "-", "+")}
        files = self._directory.glob("purge-*.jsonl")
        purged = {
            int(dict(entry.fields)[NUMBER.encode()]) for file in files for _, entry in read_backup(file)
        }
        return balance(self._published, lines, letters, purged)

    def _exporter(self, _: Path, port: int) -> list[str]:
        listen = f"127.0.0.1:{port}"
        module = "tests.benchmarks.soak.exporter"
        return [*module_command(module, "exporter", "--url", self._server.unix_url, "--listen", listen)]


def _number(fields: list[bytes]) -> int:
    return int(dict(zip(fields[::2], fields[1::2], strict=True))[NUMBER.encode()])
