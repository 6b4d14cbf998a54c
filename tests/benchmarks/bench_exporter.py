"""The exporter beside Debian's prometheus-redis-exporter, which needs to be installed.

    python -m tests.benchmarks.bench_exporter [--rounds N]

Both scrape the same server in turns, as processes of their own. Prints for each kind of load the medians of wall time,
processor time of the exporter and of the server, the number of samples and the memory; then what 10,000 groups cost.
"""

import argparse
import gzip
import os
import shutil
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final
from urllib.request import Request, urlopen

from msgspec import Struct

from streamops.service.processes import module_command
from tests.benchmarks.bench_collect import CONSUMERS, GROUPS, STREAMS, add_thousand_streams
from tests.benchmarks.output import say
from tests.support.programs import find_programs
from tests.support.prometheus import RunningProgram
from tests.support.servers import RunningServer

OTHERS: Final = 20_000
"""Keys that are no streams."""
ROUNDS: Final = 15
LARGE: Final = 64 << 10
MANY: Final = 5_000
TICKS: Final = os.sysconf("SC_CLK_TCK")
REFERENCE: Final = "prometheus-redis-exporter"


class Cost(Struct, frozen=True):
    """What one scrape took: seconds of wall time, of the exporter and of the server; and what came of it."""

    wall: float
    exporter: float
    server: float
    samples: int
    size: int


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

    def scrape(self, *, compressed: bool = True) -> None:
        """Scrape once, compressed as Prometheus wants it, and note what it took."""
        exporter, server = processor_time(self._pid), processor_time(self._server.pid)
        headers = {"Accept-Encoding": "gzip"} if compressed else {}
        started = time.perf_counter()
        with urlopen(Request(self._url, headers=headers)) as answer:  # noqa: S310 - loopback
            page: bytes = answer.read()
        wall = time.perf_counter() - started
        lines = (gzip.decompress(page) if compressed else page).split(b"\n")
        self.costs.append(
            Cost(
                wall,
                processor_time(self._pid) - exporter,
                processor_time(self._server.pid) - server,
                sum(1 for line in lines if line and not line.startswith(b"#")),
                len(page),
            )
        )

    def median(self, part: Callable[[Cost], float]) -> float:
        """The median of one part of the costs."""
        return statistics.median([part(cost) for cost in self.costs])

    def mean(self, part: Callable[[Cost], float]) -> float:
        """The mean: processor time is told in hundredths of a second, whose medians would be rounded."""
        return statistics.mean([part(cost) for cost in self.costs])

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
            f"   exporter {self.mean(lambda one: one.exporter) * 1e3:7.1f} ms"
            f"   server {self.mean(lambda one: one.server) * 1e3:6.1f} ms"
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
        for _ in range(4):
            us.scrape()
            them.scrape()
            time.sleep(1.0)
        us.costs.clear()
        them.costs.clear()
        for number in range(rounds):
            between(number)
            us.scrape()
            them.scrape()
            # A page younger than a second is served again, which would be too cheap.
            time.sleep(1.05)
        say(title)
        say(us.line())
        say(them.line())
        parts: list[tuple[str, Callable[[Exporter], float]]] = [
            ("wall", lambda one: one.median(lambda cost: cost.wall)),
            ("exporter", lambda one: one.mean(lambda cost: cost.exporter)),
            ("server", lambda one: one.mean(lambda cost: cost.server)),
        ]
        say("  ratio " + ", ".join(f"{name} 1/{part(them) / part(us):.2f}" for name, part in parts))
        for one in (us, them):
            one.costs.clear()
            for _ in range(max(3, rounds // 3)):
                one.scrape(compressed=False)
                time.sleep(1.05)
            say(f"  not compressed: {one.line().strip()}")


def quiet(_: int) -> None:
    """Nothing happens between two scrapes."""


def traffic(server: RunningServer) -> Callable[[int], None]:
    """Between two scrapes every stream gets an entry, and every group is given and acknowledges one."""

    def once(number: int) -> None:
        consumer = CONSUMERS[number % len(CONSUMERS)]
        pipeline = server.client.pipeline(transaction=False)
        for at in range(STREAMS):
            name = f"stream:{at}"
            pipeline.xadd(name, {"payload": "x" * 200}, maxlen=10, approximate=False)
            for group in GROUPS:
                pipeline.xreadgroup(group, consumer, {name: ">"}, count=1)
        given = [reply for reply in pipeline.execute() if isinstance(reply, list)]
        for at, reply in enumerate(given):
            for name, entries in reply:
                pipeline.xack(name, GROUPS[at % len(GROUPS)], *(entry for entry, _ in entries))
        pipeline.execute()

    return once


def enlarge(server: RunningServer) -> None:
    """The same streams with entries of 64 KB."""
    for at in range(STREAMS):
        pipeline = server.client.pipeline(transaction=False)
        for _ in range(2):
            pipeline.xadd(f"stream:{at}", {"payload": b"x" * LARGE}, maxlen=2, approximate=False)
        pipeline.execute()


def many(server: RunningServer) -> None:
    """10,000 groups of 5,000 streams."""
    pipeline = server.client.pipeline(transaction=False)
    for at in range(MANY):
        name = f"stream:{at}"
        for _ in range(3):
            pipeline.xadd(name, {"payload": "x" * 200})
        for group in GROUPS:
            pipeline.xgroup_create(name, group, "0")
            pipeline.xreadgroup(group, "c1", {name: ">"}, count=2)
    pipeline.execute()
    with ours(server, "--max-streams", str(MANY)) as mine:
        us = Exporter("streamops exporter", mine, server)
        for _ in range(4):
            us.scrape()
            time.sleep(1.05)
        us.costs.clear()
        for _ in range(5):
            us.scrape()
            time.sleep(1.05)
        say("10,000 groups of 5,000 streams, one consumer each")
        say(us.line())


def main() -> None:
    """Run on Debian's Redis, or on the first server there is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds: int = parser.parse_args().rounds
    programs = find_programs()
    program = next((one for one in programs if one.label == "redis-7.0"), programs[0])
    with RunningServer(program) as server:
        add_thousand_streams(server)
        pipeline = server.client.pipeline(transaction=False)
        for number in range(OTHERS):
            pipeline.set(f"other:{number}", "x")
        pipeline.execute()
        say(f"{server.label}: {STREAMS} streams, {len(GROUPS)} groups, {len(CONSUMERS)} consumers each")
        compare(server, "nothing moves", rounds, quiet)
        compare(server, "every group moves between two scrapes", rounds, traffic(server))
        enlarge(server)
        compare(server, "entries of 64 KB, nothing moves", max(3, rounds // 3), quiet)
    with RunningServer(program) as server:
        many(server)


if __name__ == "__main__":
    main()
