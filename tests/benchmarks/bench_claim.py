"""Claiming against bare XCLAIM, and what another client feels meanwhile.

    python -m tests.benchmarks.bench_claim [LABEL...]

Prints one line a server version: 100,000 entries claimed by streamops (audited, with what an undo needs) and by
pipelined XCLAIM JUSTID of 1,000 known IDs each, in one run, interleaved, medians; then the longest time that a
client which pings all the while had to wait, while 1,000,000 entries are claimed and given back, and the longest
commands as the server counts them.
"""

import asyncio
import multiprocessing
import socket
import statistics
import sys
import time
from collections.abc import Sequence
from datetime import timedelta
from multiprocessing.connection import Connection
from typing import Any, NamedTuple, Self

from msgspec import Struct

from streamops.model.acting import Confirmation, Outcome
from streamops.model.entries import EntryId
from streamops.operations.claim.intent import ClaimIntent
from streamops.operations.console import Console
from streamops.operations.undo.intent import UndoIntent
from tests.support.programs import find_programs
from tests.support.servers import RunningServer

STREAM, GROUP = "orders", "billing"
ENTRIES, MANY = 100_000, 1_000_000
WORKERS = 10
ROUNDS = 7
AT_ONCE = 1_000
PAYLOAD = "x" * 100


class Felt(NamedTuple):
    """What a pinging client felt, in milliseconds."""

    worst: float
    p999: float
    pings: int


class Pinger:
    """Pings as fast as answers come, in a process of its own, and keeps the time of each."""

    def __init__(self, running: RunningServer) -> None:
        context = multiprocessing.get_context("spawn")
        self._mine, theirs = context.Pipe()
        self._process = context.Process(target=ping, args=(str(running.socket_path), theirs))
        self._times: list[float] = []

    def __enter__(self) -> Self:
        self._process.start()
        self._mine.recv()
        return self

    def __exit__(self, *_: object) -> None:
        self._mine.send("over")
        self._times = sorted(self._mine.recv())
        self._process.join()

    def felt(self) -> Felt:
        """The longest wait, and the 99.9th percentile."""
        times = self._times
        return Felt(times[-1] * 1e3, times[len(times) * 999 // 1000] * 1e3, len(times))


def ping(path: str, whole: Connection) -> None:
    """Ping until told that it is over."""
    times: list[float] = []
    with socket.socket(socket.AF_UNIX) as plain:
        plain.connect(path)
        whole.send("ready")
        while not whole.poll():
            began = time.perf_counter()
            plain.sendall(b"PING\r\n")
            plain.recv(64)
            times.append(time.perf_counter() - began)
            time.sleep(0.0005)
    whole.send(times)


def add_pending(running: RunningServer, entries: int) -> None:
    """Entries, all of them pending with a few workers."""
    pipeline = running.client.pipeline(transaction=False)
    for number in range(1, entries + 1):
        pipeline.xadd(STREAM, {"payload": PAYLOAD})
        if number % 10_000 == 0:
            pipeline.execute()
    running.command("XGROUP", "CREATE", STREAM, GROUP, "0")
    for number in range(entries // AT_ONCE):
        worker = f"worker-{number % WORKERS}"
        running.command("XREADGROUP", "GROUP", GROUP, worker, "COUNT", AT_ONCE, "STREAMS", STREAM, ">")


def bare(running: RunningServer, ids: Sequence[bytes], to: str) -> float:
    """Seconds for pipelined XCLAIMs of known IDs."""
    client = running.connect()
    client.response_callbacks.clear()
    began = time.perf_counter()
    pipeline = client.pipeline(transaction=False)
    for at in range(0, len(ids), AT_ONCE):
        pipeline.execute_command("XCLAIM", STREAM, GROUP, to, 0, *ids[at : at + AT_ONCE], "JUSTID")  # type: ignore[no-untyped-call]  # redis-py has no types here
    pipeline.execute()
    return time.perf_counter() - began


async def act(console: Console, intent: Struct) -> tuple[Outcome, float, float]:
    """The outcome, seconds to plan it, and seconds to apply it."""
    began = time.perf_counter()
    prepared: Any = await console.prepare(intent)
    planned = time.perf_counter()
    outcome = await console.apply(prepared, Confirmation(yes=True))
    return outcome, planned - began, time.perf_counter() - planned


def claim(to: str) -> ClaimIntent:
    """Everything to one consumer."""
    return ClaimIntent(stream=STREAM, group=GROUP, to=to, min_idle=timedelta(0))


async def compare(running: RunningServer) -> str:
    """Rates of both, and their ratio."""
    add_pending(running, ENTRIES)
    ids = [row[0] for row in running.command("XPENDING", STREAM, GROUP, "-", "+", ENTRIES)]
    bares, ours, plans = [], [], []
    async with await Console.open(running.options) as console:
        for number in range(ROUNDS):
            bares.append(bare(running, ids, f"bare-{number}"))
            outcome, planned, applied = await act(console, claim(f"ours-{number}"))
            assert outcome.applied == ENTRIES, outcome
            ours.append(applied)
            plans.append(planned)
    plain, mine = statistics.median(bares), statistics.median(ours)
    return (
        f"bare {plain * 1e3:5.0f} ms   streamops {mine * 1e3:5.0f} ms   rate {plain / mine:4.0%} of bare   "
        f"planning {statistics.median(plans) * 1e3:4.0f} ms"
    )


async def feel(running: RunningServer) -> list[str]:
    """What a pinging client feels while a million entries are claimed, and given back."""
    running.flush()
    add_pending(running, MANY)
    running.command("CONFIG", "SET", "slowlog-log-slower-than", 1_000)
    running.command("CONFIG", "SET", "slowlog-max-len", 100_000)
    lines: list[str] = []
    with Pinger(running) as calm:
        await asyncio.sleep(3)
    lines.append(_line("nothing", calm.felt()))
    async with await Console.open(running.options) as console:
        with Pinger(running) as pinger:
            before = _logged(running)
            outcome, planned, applied = await act(console, claim("rescuer"))
        assert outcome.applied == MANY, outcome
        lines.append(
            _line(f"claim ({planned:.1f} + {applied:.1f} s)", pinger.felt()) + _longest(running, before)
        )
        with Pinger(running) as pinger:
            before = _logged(running)
            undone, planned, applied = await act(
                console, UndoIntent(audit_id=EntryId.parse(outcome.audit_id))
            )
        assert undone.applied == MANY, undone
        lines.append(
            _line(f"undo ({planned:.1f} + {applied:.1f} s)", pinger.felt()) + _longest(running, before)
        )
    return lines


def _line(what: str, felt: Felt) -> str:
    return (
        f"    {what:22} worst ping {felt.worst:5.1f} ms, 99.9 % within {felt.p999:4.1f} ms of {felt.pings:,}"
    )


def _logged(running: RunningServer) -> int:
    """The newest of the server's slow commands; to reset its log takes milliseconds, and the next command some more."""
    return max((row[0] for row in running.command("SLOWLOG", "GET", 1)), default=-1)


def _longest(running: RunningServer, before: int) -> str:
    """What the server itself says of its longest commands since."""
    rows = [
        row for row in running.command("SLOWLOG", "GET", -1) if row[0] > before and row[3][0] != b"SLOWLOG"
    ]
    rows.sort(key=lambda row: row[2])
    if not rows:
        return "; no command of the server's took 1 ms"
    name, took = rows[-1][3][0].decode(), [row[2] / 1e3 for row in rows]
    return (
        f"; server's longest command {took[-1]:.1f} ms ({name}), "
        f"median of those over 1 ms {statistics.median(took):.1f}"
    )


def main() -> None:
    """Run it on every version found, or on those named."""
    wanted = sys.argv[1:]
    for program in find_programs():
        if not wanted or program.label in wanted:
            with RunningServer(program) as running:
                print(f"{program.label:11} {asyncio.run(compare(running))}", flush=True)
                print("\n".join(asyncio.run(feel(running))), flush=True)


if __name__ == "__main__":
    main()
