"""Start-up, in processes of their own: what a person or a script waits for.

    python -m tests.benchmarks.bench_startup

Prints medians of interleaved runs and their ratios: ``status`` of 10 groups, in every format, against a bare
Python process that imports redis and pings (the limit is 3), and ``--help`` and ``--version`` beside a bare
Python process (the limit is 60 ms on top).
"""

import os
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from streamops.errors import ExitCode
from tests.benchmarks.output import say
from tests.support.programs import find_programs
from tests.support.servers import RunningServer

ROUNDS: Final = 15
LIMIT: Final = 3.0
HELP_LIMIT: Final = 0.060
GROUPS: Final = 10
PING: Final = "import sys, redis; redis.Redis(unix_socket_path=sys.argv[1]).ping()"
ROOT: Final = str(Path(__file__).parents[2])

Command = list[str]


def add_five_streams(running: RunningServer) -> None:
    """Five streams with two groups each, each with a consumer and pending entries."""
    for number in range(GROUPS // 2):
        name = f"stream:{number}"
        for _ in range(20):
            running.client.xadd(name, {"payload": "x" * 200})
        for group in ("g1", "g2"):
            running.client.xgroup_create(name, group, "0")
            running.client.xreadgroup(group, "c1", {name: ">"}, count=5)


def seconds(command: Command) -> float:
    """Wall time of one process from its start to its end; it must succeed."""
    environment = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONPATH": ROOT, "LANG": "C.UTF-8"}
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    return time.perf_counter() - started


def medians(commands: dict[str, Command]) -> dict[str, float]:
    """The median time of each command; they take turns, so that a busy moment hits all of them."""
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(ROUNDS + 1):
        for name, command in commands.items():
            times[name].append(seconds(command))
    # The first turn fills the caches of the disk and of compiled modules.
    return {name: statistics.median(taken[1:]) for name, taken in times.items()}


def compare(running: RunningServer) -> bool:
    """Print all lines; whether every limit holds."""
    add_five_streams(running)
    ours = [sys.executable, "-P", "-m", "streamops"]
    status = [*ours, "status", "--url", running.unix_url]
    taken = medians(
        {
            "bare": [sys.executable, "-c", "pass"],
            "ping": [sys.executable, "-c", PING, str(running.socket_path)],
            "--version": [*ours, "--version"],
            "--help": [*ours, "--help"],
            **{f"status -o {output}": [*status, "-o", output] for output in ("table", "json", "csv")},
        }
    )
    bare, ping, held = taken["bare"], taken["ping"], True
    say(f"bare Python {bare * 1e3:.0f} ms, with redis and a ping {ping * 1e3:.0f} ms")
    for name in ("--version", "--help"):
        over = taken[name] - bare
        held &= over < HELP_LIMIT
        say(
            f"{name:16} {taken[name] * 1e3:4.0f} ms, {over * 1e3:.0f} ms over bare Python (limit {HELP_LIMIT * 1e3:.0f})"
        )
    for name in (name for name in taken if name.startswith("status")):
        ratio = taken[name] / ping
        held &= ratio < LIMIT
        say(f"{name:16} {taken[name] * 1e3:4.0f} ms, ratio to the ping {ratio:.2f} (limit {LIMIT:.0f})")
    return held


def main() -> int:
    """Run on the newest server found."""
    with RunningServer(find_programs()[-1]) as running:
        return ExitCode.DONE if compare(running) else ExitCode.FAILED


if __name__ == "__main__":
    sys.exit(main())
