"""Eight simulated hours of mixed load with a fault every minute.

    python -m tests.benchmarks.soak [--hours 8] [--seed N] [--pace 30] [--server LABEL]

Real: one server with an append-only file, three worker processes, each behind a network that fails, a publisher of
entries and delayed messages, a console that polls with an operator who trims, replays and purges, an exporter that is
scraped, in processes of their own. Compressed: everything that waits, by ``--pace``: the load of eight hours, 57,600 events
and 480 faults, comes in sixteen minutes. An open console polls every 2 s and Prometheus scrapes every 15 s of simulated
time, as often as in eight hours, but an exporter collects anew at most once in a real second. Not compressed: lives of keys
that expire and the audit log, which is capped: both are left out of what must be flat. Bounded caches are full from the start.

Ends with 1 where an entry is not accounted for, a counter is wrong, or something grows.
"""

import argparse
import asyncio
import random
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.output import say
from tests.benchmarks.soak.report import lines, problems
from tests.benchmarks.soak.run import Soak
from tests.support.programs import find_programs
from tests.support.servers import RunningServer

DURABLE = ("--appendonly", "yes", "--appendfsync", "always")


def main() -> None:
    """Run one, print what came of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hours", type=float, default=8.0, help="simulated hours")
    parser.add_argument("--pace", type=float, default=30.0, help="simulated seconds in one second")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--server", help="this version, as redis-7.0; the newest unless told")
    args = parser.parse_args()
    seed = random.randrange(1 << 32) if args.seed is None else args.seed
    programs = [one for one in find_programs() if args.server in (None, one.label)]
    minutes = round(args.hours * 60)
    say(f"{programs[-1].label}: {args.hours:g} simulated hours at {args.pace:g} times the pace, seed {seed}")
    with tempfile.TemporaryDirectory(prefix="streamops-soak-") as directory:
        kept = Path(directory) / "kept"
        kept.mkdir()
        with RunningServer(programs[-1], "--dir", str(kept), *DURABLE) as server:
            soak = Soak(server, Path(directory), minutes=minutes, pace=args.pace, seed=seed)
            result = asyncio.run(soak.run())
    say("\n".join(lines(result)))
    found = problems(result, judge_gauges=True)
    say("\n".join(f"PROBLEM: {problem}" for problem in found) or "passed")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
