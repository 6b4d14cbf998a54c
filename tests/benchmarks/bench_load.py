"""Every command and every screen where there is a lot: how long each holds the server.

    python -m tests.benchmarks.bench_load [--server LABEL] [--load NAME] [--count N] [--repeats N] [--commands]

A million delayed messages, a million pending entries, a million dead letters, 10,000 groups on 5,000 streams and on
one, a stream of fifty million small entries, one after the other on a server of its own. Commands run as they are typed,
in processes of their own; the console runs headless, stays some polls at each place, and is scraped as the exporter
is. For each: wall time, the longest single command or script by the server's own log, and the longest wait of a client
that pings meanwhile. What only reads runs three times and the least counts, because others use the machine too.

A command or script is to hold the server for less than 10 ms. Ends with 1 where one does not.
"""

import argparse
import asyncio
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from streamops.model.acting import Actor, Environment
from streamops.operations.console import Console
from streamops.service.processes import module_command
from streamops.tui.app import StreamopsApp
from streamops.tui.source import ContextInfo, TuiSettings
from tests.benchmarks.load_cases import LOADS, Load, Words
from tests.benchmarks.load_meter import Held, Meter
from tests.support.programs import ServerProgram, find_programs
from tests.support.prometheus import RunningProgram, fetch
from tests.support.servers import RunningServer
from tests.support.tui.driving import press, running, settle

LIMIT = 10.0
"""Milliseconds that one command or script may hold the server."""

REPEATS = 3
POLL = timedelta(seconds=1)
STAY = 4.0
"""Seconds at each place of the console: some polls."""
SCRAPES = 4
FRESH = 1.1
"""Seconds after which a page is collected anew."""


class Bench:
    """One load on one server, measured.

    Attributes:
        over: What held the server for longer than it may.
    """

    def __init__(self, server: RunningServer, meter: Meter, load: Load, home: Path, repeats: int) -> None:
        self.over: list[str] = []
        self._repeats = repeats
        self._server = server
        self._meter = meter
        self._load = load
        self._home = home

    def run(self, *, commands: bool) -> None:
        """Everything, or the commands alone, in an order that leaves what changes anything to the end."""
        for line in self._load.reads:
            self._do(line, self._repeats)
        if not commands:
            self._scrape()
            asyncio.run(self._look())
        for line in self._load.writes:
            self._do(line, 1)

    def _do(self, line: str, times: int) -> None:
        self._say(line, min(self._several(partial(self._type, line), times), key=_blocked))

    def _several(self, act: Callable[[], None], times: int) -> Iterator[Held]:
        for _ in range(times):
            self._meter.begin()
            act()
            yield self._meter.end()

    def _type(self, line: str) -> None:
        """A command, as it is typed."""
        words = shlex.split(line.replace("{half}", self._half()))
        done = subprocess.run(
            module_command("streamops", "--url", self._server.unix_url, "--timeout", "60", *words),
            env=os.environ | {"XDG_STATE_HOME": str(self._home), "XDG_CONFIG_HOME": str(self._home)},
            cwd=self._home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 10, 11):
            print(f"    {line}: exit {done.returncode}: {done.stderr.strip()[:300]}", flush=True)

    def _half(self) -> str:
        """When half of the delayed messages will be due."""
        now = datetime.fromtimestamp(int(self._server.command("TIME")[0]), UTC)
        return (now + timedelta(hours=1, milliseconds=self._load.count // 2)).isoformat()

    def _scrape(self) -> None:
        def command(_: Path, port: int) -> list[str]:
            listen = f"127.0.0.1:{port}"
            url = self._server.unix_url
            return [
                *module_command(
                    "streamops", "exporter", "--url", url, "--listen", listen, "--max-streams", "6000"
                )
            ]

        with RunningProgram(command, "/-/healthy") as exporter:
            fetch(f"{exporter.url}/metrics")
            found = []
            for _ in range(SCRAPES):
                # What the exporter reads beside its scrapes is counted too.
                self._meter.begin()
                time.sleep(FRESH)
                began = time.perf_counter()
                fetch(f"{exporter.url}/metrics")
                wall = time.perf_counter() - began
                found.append(replace(self._meter.end(), wall=wall))
            self._say("exporter: a scrape", min(found, key=_blocked))

    async def _look(self) -> None:
        """Go to every place of the console and stay there for some polls."""
        app = self._console()
        async with running(app):
            for goal, keys in self._load.goals:
                found = [await self._visit(app, goal, keys) for _ in range(self._repeats)]
                name = " ".join((f":{goal}", *keys))
                self._say(f"console {name}", min(found, key=_blocked))

    async def _visit(self, app: StreamopsApp, goal: str, keys: Words) -> Held:
        self._meter.begin()
        await press(app, "colon", *goal, "enter")
        if keys:
            await asyncio.sleep(STAY / 4)
            await press(app, *keys)
        await settle(app)
        await asyncio.sleep(STAY)
        return self._meter.end()

    def _console(self) -> StreamopsApp:
        context = ContextInfo(
            "load", Environment.PRODUCTION, self._server.options.label, self._server.unix_url
        )
        actor = Actor("bench", "bench", os.getpid(), "load", Environment.PRODUCTION)
        options = replace(self._server.options, timeout=timedelta(seconds=10))
        return StreamopsApp(
            TuiSettings(context, (context,), lambda _: Console.open(options, actor=actor), POLL)
        )

    def _say(self, what: str, held: Held) -> None:
        blocked = _blocked(held)
        verdict = "ok" if blocked < LIMIT else "OVER"
        if blocked >= LIMIT:
            self.over.append(f"{self._server.label} {self._load.name}: {what} {blocked:.1f} ms")
        longest = "< 0.5" if held.longest is None else f"{held.longest:.1f}"
        print(
            f"| {what} | {held.wall:.2f} s | {longest} ms | {held.command} | {held.ping:.1f} ms | {verdict} |",
            flush=True,
        )


def _blocked(held: Held) -> float:
    """For how long one command held the server, in milliseconds."""
    return held.longest or 0.0


@contextmanager
def filled(program: ServerProgram, load: Load) -> Iterator[RunningServer]:
    """A server with that load."""
    with RunningServer(program) as server:
        began = time.perf_counter()
        load.fill(server, load.count)
        memory = server.client.info("memory")["used_memory_human"]
        print(
            f"\n{server.label}: {load.count:,} {load.what}, {memory}, made in {time.perf_counter() - began:.0f} s",
            flush=True,
        )
        yield server


def measure(program: ServerProgram, load: Load, repeats: int, *, commands: bool) -> list[str]:
    """One load on one version, or its commands alone; what was over its limit."""
    with (
        filled(program, load) as server,
        Meter(server) as meter,
        tempfile.TemporaryDirectory(prefix="streamops-load-") as home,
    ):
        print(f"server at a real-time priority: {'yes' if meter.real_time else 'no'}")
        print("| | wall | longest | which | worst ping | |\n|---|---|---|---|---|---|")
        bench = Bench(server, meter, load, Path(home), repeats)
        bench.run(commands=commands)
        return bench.over


def main() -> None:
    """Run on the versions and loads asked for, all unless told."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--server", action="append", help="only this version, as redis-7.0")
    parser.add_argument("--load", action="append", choices=[load.name for load in LOADS])
    parser.add_argument("--count", type=int, help="so many instead of what each load has")
    parser.add_argument(
        "--repeats", type=int, default=REPEATS, help="of what changes nothing; the least counts"
    )
    parser.add_argument("--commands", action="store_true", help="leave out the console and the exporter")
    args = parser.parse_args()
    over = []
    for program in find_programs():
        if args.server and program.label not in args.server:
            continue
        for load in LOADS:
            if not args.load or load.name in args.load:
                wanted = replace(load, count=args.count or load.count)
                over += measure(program, wanted, args.repeats, commands=args.commands)
    print("\n".join(["", *(f"over {LIMIT:.0f} ms: {one}" for one in over)]) or "all within their limits")
    sys.exit(bool(over))


if __name__ == "__main__":
    main()
