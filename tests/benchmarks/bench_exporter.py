"""The exporter beside Debian's prometheus-redis-exporter, which needs to be installed.

    python -m tests.benchmarks.bench_exporter [--rounds N] [--server redis-7.0]

Both scrape the same server in turns, as processes of their own. Prints for each kind of load the medians of wall time,
processor time of the exporter and of the server, the number of samples and the memory: first where every stream moves
between two scrapes, as in production, and last where nothing does.
"""

import argparse
import gzip
import os
import shutil
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.request import Request, urlopen

from msgspec import Struct

from streamops.service.processes import module_command
from tests.benchmarks.bench_collect import CONSUMERS, GROUPS, STREAMS, add_thousand_streams, bare, pack
from tests.benchmarks.output import say
from tests.support.programs import ServerProgram, find_programs
from tests.support.prometheus import RunningProgram
from tests.support.servers import RunningServer

OTHERS: Final = 20_000
"""Keys that are no streams."""
ROUNDS: Final = 15
LARGE: Final = 64 << 10
MANY: Final = 5_000
TICKS: Final = os.sysconf("SC_CLK_TCK")
REFERENCE: Final = "prometheus-redis-exporter"
SERVERS: Final = ("redis-7.0", "redis-7.4", "redis-8.0", "redis-8.2", "valkey-9.1")
CAP: Final = 10
WARM: Final = 4
"""Scrapes before those that count."""


class Cost(Struct, frozen=True):
    """What one scrape took: seconds of wall time, of the exporter and of the server; and what came of it."""

    wall: float
    exporter: float
    server: float
    samples: int


class Exporter:
    """One exporter under measurement.

    Attributes:
        name: What the table calls it.
    """

    def __init__(self, name: str, running: RunningProgram, server: RunningServer) -> None:
        self.name = name
        self.costs: list[Cost] = []
        self._url = f"{running.url}/metrics"
        self._pid = worker_of(running.guard_pid)
        self._server = server

    def scrape(self) -> None:
        """Scrape once, compressed as Prometheus wants it, and note what it took."""
        exporter, server = processor_time(self._pid), processor_time(self._server.pid)
        started = time.perf_counter()
        request = Request(self._url, headers={"Accept-Encoding": "gzip"})  # noqa: S310 - loopback
        with urlopen(request) as answer:  # noqa: S310 - loopback
            page: bytes = answer.read()
        wall = time.perf_counter() - started
        self.costs.append(
            Cost(
                wall,
                processor_time(self._pid) - exporter,
                processor_time(self._server.pid) - server,
                sum(1 for line in gzip.decompress(page).split(b"\n") if line and not line.startswith(b"#")),
            )
        )

    def median(self, part: Callable[[Cost], float]) -> float:
        """The median of one part of the costs."""
        return statistics.median([part(cost) for cost in self.costs])

    @property
    def memory(self) -> float:
        """Resident memory in MB."""
        status = Path(f"/proc/{self._pid}/status").read_text()
        # The kernel's kB are of 1,024 bytes.
        return int(status.split("VmRSS:")[1].split()[0]) * 1024 / 1e6

    def line(self) -> str:
        """Its row of the table."""
        return (
            f"  {self.name:28} wall {self.median(lambda one: one.wall) * 1e3:7.1f} ms"
            f"   exporter {self.median(lambda one: one.exporter) * 1e3:7.1f} ms"
            f"   server {self.median(lambda one: one.server) * 1e3:6.1f} ms"
            f"   {self.costs[-1].samples:7,} samples   {self.memory:5.1f} MB"
        )


def processor_time(pid: int) -> float:
    """Seconds of processor time of a process, by its scheduler's own count of nanoseconds where there is one."""
    try:
        tasks = Path(f"/proc/{pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9
    except OSError:
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / TICKS


def worker_of(guard: int) -> int:
    """The one child of a guard."""
    return int(Path(f"/proc/{guard}/task/{guard}/children").read_text().split()[0])


def ours(server: RunningServer, *more: str) -> RunningProgram:
    """Our exporter at work on a server."""

    def command(_: Path, port: int) -> list[str]:
        url = f"unix://{server.socket_path}"
        return [
            *module_command("streamops", "exporter", "--url", url, "--listen", f"127.0.0.1:{port}", *more)
        ]

    return RunningProgram(command, "/-/healthy")


def theirs(server: RunningServer, patterns: str) -> RunningProgram:
    """Theirs, which is told which streams to look for."""
    program = shutil.which(REFERENCE)
    if program is None:
        raise SystemExit(f"{REFERENCE} is not installed")

    def command(_: Path, port: int) -> list[str]:
        address = f"127.0.0.1:{port}"
        url = f"unix://{server.socket_path}"
        return [program, "-redis.addr", url, "-check-streams", patterns, "-web.listen-address", address]

    return RunningProgram(command, "/health")


def compare(server: RunningServer, title: str, rounds: int, between: Callable[[int], None]) -> None:
    """Scrape in turns and print both rows and the ratios."""
    with ours(server) as mine, theirs(server, "stream:*") as other:
        us, them = Exporter("streamops exporter", mine, server), Exporter(REFERENCE, other, server)
        for number in range(-WARM, rounds):
            if not number:
                us.costs.clear()
                them.costs.clear()
            between(number)
            us.scrape()
            them.scrape()
            # A page younger than a second is served again, which would be too cheap.
            time.sleep(1.05)
        say(f"{server.label}: {title}")
        say(us.line())
        say(them.line())
        parts: list[tuple[str, Callable[[Cost], float]]] = [
            ("wall", lambda one: one.wall),
            ("exporter", lambda one: one.exporter),
            ("server", lambda one: one.server),
        ]
        ratios = ", ".join(f"{name} {us.median(part) / them.median(part):.2f}" for name, part in parts)
        say(f"  ratio {ratios}, memory {us.memory / them.memory:.2f}")


def quiet(_: int) -> None:
    """Nothing happens between two scrapes."""


def traffic(
    server: RunningServer, *, cap: int | None = None, behind: int = 0, streams: int = STREAMS
) -> Callable[[int], None]:
    """Between two scrapes every stream gets an entry, which every group reads and acknowledges.

    Args:
        server: Where the streams are.
        cap: About how many entries a stream keeps; all of them unless given.
        behind: How many entries the groups stay behind.
        streams: How many streams there are.
    """
    unread = 4 - behind

    def once(number: int) -> None:
        nonlocal unread
        consumer = CONSUMERS[number % len(CONSUMERS)]
        pipeline = server.client.pipeline(transaction=False)
        for at in range(streams):
            name = f"stream:{at}"
            pipeline.xadd(name, {"payload": "x" * 200}, maxlen=cap)
            for group in GROUPS:
                pipeline.xreadgroup(group, consumer, {name: ">"}, count=1 + unread)
        given = [reply for reply in pipeline.execute() if isinstance(reply, dict)]
        for at, reply in enumerate(given):
            for name, entries in reply.items():
                pipeline.xack(name, GROUPS[at % len(GROUPS)], *(entry for entry, _ in entries))
        pipeline.execute()
        unread = 0

    return once


def enlarge(server: RunningServer) -> None:
    """The same streams with entries of 64 KB."""
    for at in range(STREAMS):
        pipeline = server.client.pipeline(transaction=False)
        for _ in range(2):
            pipeline.xadd(f"stream:{at}", {"payload": b"x" * LARGE}, maxlen=2, approximate=False)
        pipeline.execute()


def many(server: RunningServer, rounds: int) -> None:
    """10,000 groups of 5,000 streams, all of which move; beside a scrape, the same reads on a bare socket."""
    pipeline = server.client.pipeline(transaction=False)
    for at in range(MANY):
        name = f"stream:{at}"
        for _ in range(3):
            pipeline.xadd(name, {"payload": "x" * 200})
        for group in GROUPS:
            pipeline.xgroup_create(name, group, "0")
            pipeline.xreadgroup(group, "c1", {name: ">"}, count=2)
    pipeline.execute()
    reads = pack([("XINFO", "STREAM", f"stream:{at}", "FULL", "COUNT", 1) for at in range(MANY)])
    between, floor = traffic(server, streams=MANY), list[float]()
    with ours(server, "--max-streams", str(MANY)) as mine:
        us = Exporter("streamops exporter", mine, server)
        for number in range(-WARM, rounds):
            if not number:
                us.costs.clear()
                floor.clear()
            between(number)
            us.scrape()
            floor.append(bare(server, [reads]))
            time.sleep(1.05)
        say("10,000 groups of 5,000 streams, one consumer each, all moving")
        say(us.line())
        say(f"  {'bare commands on a socket':28} wall {statistics.median(floor) * 1e3:7.1f} ms")


def main() -> None:
    """Every stream moves on each server, and what else there is on the first."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--server", action="append", help="one of these alone; all of them unless given")
    given = parser.parse_args()
    rounds: int = given.rounds
    labels: list[str] = given.server or list(SERVERS)
    programs = {one.label: one for one in find_programs()}
    for label in labels:
        if label not in programs:
            say(f"{label}: not installed")
            continue
        with loaded(programs[label]) as server:
            compare(server, "every stream moves between two scrapes", rounds, traffic(server))
            compare(server, f"the same, MAXLEN ~ {CAP}", rounds, traffic(server, cap=CAP))
        with loaded(programs[label]) as server:
            compare(server, "the same, groups four entries behind", rounds, traffic(server, behind=4))
            compare(server, f"the same, MAXLEN ~ {CAP} too", rounds, traffic(server, cap=CAP, behind=4))
    first = programs.get(labels[0], next(iter(programs.values())))
    with loaded(first) as server:
        enlarge(server)
        compare(server, "entries of 64 KB, nothing moves", max(3, rounds // 3), quiet)
    with RunningServer(first) as server:
        many(server, rounds)
    with loaded(first) as server:
        compare(server, "nothing moves", rounds, quiet)


@contextmanager
def loaded(program: ServerProgram) -> Iterator[RunningServer]:
    """A server with a thousand streams, and many keys that are none."""
    with RunningServer(program) as server:
        add_thousand_streams(server)
        pipeline = server.client.pipeline(transaction=False)
        for number in range(OTHERS):
            pipeline.set(f"other:{number}", "x")
        pipeline.execute()
        say(f"{server.label}: {STREAMS} streams, {len(GROUPS)} groups, {len(CONSUMERS)} consumers each")
        yield server


if __name__ == "__main__":
    main()
