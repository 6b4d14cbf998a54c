"""What the console costs with ten thousand groups: ``python -m tests.benchmarks.bench_tui`` (on Linux).

It is fed with observations in which 1,000 groups change each second, at 120 by 40 cells, twice:

- headless, in this process: the CPU it uses while nobody touches it, and the time from a key to the frame
  with the highlighted row;
- as a program on a pseudo-terminal, where the kernel, Textual's input and output threads and this reader
  come on top: the time from starting the process to the first row, the same two again, and the processor time
  of a key, which says more than the clock where others use the machine too.

Bytecode is compiled before, as an installer does it.
"""

import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from statistics import median, quantiles
from typing import NamedTuple

from textual import events

from streamops.tui.app import StreamopsApp
from streamops.tui.screens.status import StatusScreen
from streamops.tui.theme import DARK
from tests.benchmarks.console_feed import GROUPS, STREAMS_CHANGED, Feed
from tests.support.tui.source import settings_for
from tests.support.tui.terminal import Terminal, on_a_terminal

COLUMNS, LINES = 120, 40
SETTLE_SECONDS = 3.0
QUIET_SECONDS = 10.0
KEYS = 200
KEY_SPACING = 0.05
STARTS = 5
FIRST_ROW = rb"service-00000:events"
CURSOR = "48;2;{};{};{}m".format(*bytes.fromhex(DARK["cursor"][1:])).encode()
PAINT_LIMIT, CPU_LIMIT, KEY_LIMIT = 0.4, 0.08, 0.005


@contextmanager
def running_console(bytecode: str, every: float) -> Iterator[Terminal]:
    """Start the console with a folder of compiled bytecode, polling at an interval in seconds."""
    environment = {"PYTHONPYCACHEPREFIX": bytecode, "PYTHONDONTWRITEBYTECODE": ""}
    feed = "tests.benchmarks.console_feed"
    with on_a_terminal(feed, str(every), size=(COLUMNS, LINES), environment=environment) as terminal:
        yield terminal


def measure_first_row(bytecode: str) -> float:
    """Seconds from starting the process to the first row on the terminal."""
    started = time.perf_counter()
    with running_console(bytecode, every=30) as terminal:
        terminal.wait_for(FIRST_ROW)
        return time.perf_counter() - started


class Program(NamedTuple):
    """What the console costs as a program.

    Attributes:
        cpu: Share of a core while nobody touches it.
        key_times: Seconds from each key to its row.
        key_cpu: Seconds of the processor a key, over what it costs untouched.
        memory: MiB.
    """

    cpu: float
    key_times: list[float]
    key_cpu: float
    memory: float


def measure_program(bytecode: str) -> Program:
    """Leave it alone for a while, then press keys, on the pseudo-terminal."""
    with running_console(bytecode, every=1) as terminal:
        pid = terminal.process.pid
        terminal.wait_for(FIRST_ROW)
        terminal.drain(SETTLE_SECONDS)
        before, started = _cpu_seconds(pid), time.perf_counter()
        terminal.drain(QUIET_SECONDS)
        between, pressing = _cpu_seconds(pid), time.perf_counter()
        cpu = (between - before) / (pressing - started)
        key_times = [_time_key(terminal, row) for row in range(1, KEYS + 1)]
        busy = _cpu_seconds(pid) - between - cpu * (time.perf_counter() - pressing)
        return Program(cpu, key_times, busy / KEYS, _resident_bytes(pid) / 2**20)


def _time_key(terminal: Terminal, row: int) -> float:
    terminal.drain(KEY_SPACING)
    started = time.perf_counter()
    terminal.press(b"j")
    terminal.wait_for(CURSOR + rb"[^\n]*?service-%05d:events" % (row // 2))
    return time.perf_counter() - started


async def measure_headless() -> tuple[float, list[float]]:
    """Share of a core, and seconds from each key to the frame that shows its row, without a terminal."""
    app = StreamopsApp(settings_for(Feed(), every=timedelta(seconds=1)))
    async with app.run_test(size=(COLUMNS, LINES)):
        await asyncio.sleep(SETTLE_SECONDS)
        before, started = time.process_time(), time.perf_counter()
        await asyncio.sleep(QUIET_SECONDS)
        cpu = (time.process_time() - before) / (time.perf_counter() - started)
        return cpu, [await _time_frame(app) for _ in range(KEYS)]


async def _time_frame(app: StreamopsApp) -> float:
    await asyncio.sleep(KEY_SPACING)
    screen = app.frame
    assert isinstance(screen, StatusScreen)
    wanted = screen.list.cursor + 1
    drawn = asyncio.Event()
    app.post_display_hook = drawn.set  # type: ignore[method-assign]  # Textual's own hook for this
    started = time.perf_counter()
    app.post_message(events.Key("j", "j"))
    while screen.list.cursor != wanted:
        await drawn.wait()
        drawn.clear()
    return time.perf_counter() - started


def _cpu_seconds(pid: int) -> float:
    # The name in parentheses may hold spaces; user and system time are fields 14 and 15 (proc(5)).
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _percentile(times: Sequence[float], percent: int) -> float:
    return quantiles(times, n=100)[percent - 1]


def _print_keys(where: str, cpu: float, times: Sequence[float]) -> None:
    _say(f"{where + ': CPU, share of a core':44} {cpu:8.1%}     limit {CPU_LIMIT:.0%}")
    for percent in (50, 95, 99):
        limit = f"limit {KEY_LIMIT * 1000:.0f} ms" if percent == 95 else ""
        print(
            f"{where + f': key to highlight, p{percent}':44} {_percentile(times, percent) * 1000:8.2f} ms  {limit}"
        )


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


def main() -> int:
    """Measure, print the table, and say by the exit code whether the stated figures hold."""
    with tempfile.TemporaryDirectory() as bytecode:
        measure_first_row(bytecode)
        starts = [measure_first_row(bytecode) for _ in range(STARTS)]
        program = measure_program(bytecode)
    cpu, times = asyncio.run(measure_headless())
    _say(f"{GROUPS:,} groups, {2 * STREAMS_CHANGED:,} changing each second, {COLUMNS} by {LINES} cells")
    print(
        f"{'terminal: first row, median of ' + str(STARTS):44} {median(starts):8.3f} s   limit {PAINT_LIMIT} s"
    )
    _say(f"{'terminal: first row, worst':44} {max(starts):8.3f} s")
    _print_keys("headless", cpu, times)
    _print_keys("terminal", program.cpu, program.key_times)
    _say(f"{'terminal: processor time of a key':44} {program.key_cpu * 1000:8.2f} ms")
    _say(f"{'terminal: memory':44} {program.memory:8.0f} MiB")
    held = median(starts) <= PAINT_LIMIT and max(cpu, program.cpu) <= CPU_LIMIT
    return 0 if held and _percentile(times, 95) <= KEY_LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
