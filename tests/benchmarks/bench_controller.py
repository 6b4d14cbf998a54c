"""A thousand pools on one controller: what share of a core it takes at a round every five seconds.

    python -m tests.benchmarks.bench_controller

Real Redis, a stream and a group for each pool; supervisors and workers are what they would have written themselves.
The policy's memory is full, as after a quarter of an hour; between two rounds entries come and workers beat, which is
not counted. Prints processor time a round, and its parts.
"""

import asyncio
import logging
import statistics
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import structlog

from streamops.autoscaling.controller import Controller, RoundReport
from streamops.autoscaling.decisions import EVERY, Assignment, ControllerOptions
from streamops.autoscaling.policy.config import ScalingConfig
from streamops.autoscaling.policy.rules import decide
from streamops.autoscaling.policy.state import ScalingState
from streamops.model.lag import Lag, LagBasis
from streamops.model.pools import Demand
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from tests.benchmarks.output import say
from tests.support.programs import find_programs
from tests.support.servers import RunningServer

POOLS, WORKERS, SLOTS = 1_000, 3, 16
ROUNDS, WARM = 15, 3
READINGS = 180
NOTHING = Lag(0, 0, 0, LagBasis.EXACT, "the group has been delivered the last entry")
CONFIG = ScalingConfig(minimum=WORKERS, maximum=20)

Work = Callable[..., Awaitable[Any]]


def name(number: int) -> str:
    """A pool, and its stream."""
    return f"pool-{number:04}"


def add_pools(running: RunningServer) -> None:
    """A stream, a group, an order and a supervisor for each pool."""
    pipeline = running.client.pipeline(transaction=False)
    supervisor = {
        "id": "s",
        "at": "1970-01-01T00:00:00Z",
        "host": "h",
        "pid": 1,
        "aim": 3,
        "alive": 3,
        "ready": 3,
    }
    document = msgspec.json.encode(supervisor).decode()
    far = 4_000_000_000_000
    for number in range(POOLS):
        pool = name(number)
        pipeline.xgroup_create(pool, "workers", "0", mkstream=True)
        pipeline.hset(f"streamops:pool:{pool}", "desired", str(WORKERS))
        pipeline.hset(f"streamops:supervisors:{pool}", "s", f"{far} {document}")
    pipeline.execute()


def move(running: RunningServer, turn: int) -> None:
    """Entries come, workers take and acknowledge them, and beat."""
    seconds, micros = running.client.time()
    now = seconds * 1000 + micros // 1000
    pipeline = running.client.pipeline(transaction=False)
    for number in range(POOLS):
        pool = name(number)
        for _ in range(2):
            pipeline.xadd(pool, {"n": turn})
        pipeline.xreadgroup("workers", "w", {pool: ">"}, count=2, noack=True)
        for one in range(WORKERS):
            beat = f"{now} {SLOTS} 8 {turn * 40.0:.3f} running"
            pipeline.hset(f"streamops:roster:{pool}", f"w{one}", beat)
    pipeline.execute()


def remembered(until: float) -> ScalingState:
    """A quarter of an hour of readings, every five seconds."""
    state = ScalingState()
    for turn in range(READINGS):
        at = until - (READINGS - turn) * EVERY.total_seconds()
        demand = Demand(
            at=at,
            added=0 if turn == 0 else 200 * turn - 200 * READINGS,
            lag=NOTHING,
            head_age=0.0,
            pending=24,
            acked=200 * turn - 200 * READINGS,
            ordered=WORKERS,
            ready=WORKERS,
            busy=0.5,
        )
        state, _ = decide(CONFIG, state, demand)
    return state


class Stopwatch:
    """Adds up the processor time of calls, by name."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = defaultdict(float)

    def time(self, owner: Any, method: str, called: str) -> None:  # noqa: ANN401 - anything with methods
        """Time a method of an object from now on."""
        work: Work = getattr(owner, method)

        async def timed(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - whatever it takes and gives
            began = time.process_time()
            try:
                return await work(*args, **kwargs)
            finally:
                self.spent[called] += time.process_time() - began

        setattr(owner, method, timed)


async def measure(running: RunningServer) -> None:
    """Go round, and print."""
    options = ControllerOptions(
        holder="bench",
        assignments=tuple(
            Assignment(pool=name(number), stream=name(number), group="workers", config=CONFIG)
            for number in range(POOLS)
        ),
    )
    async with await Console.open(running.options, Watch(details=False)) as console:
        controller = Controller(console, options)
        await controller.round()
        seconds, _ = running.client.time()
        memory = msgspec.msgpack.encode(remembered(seconds))
        for pool in controller._pools:
            # Each its own: a quarter of an hour would pass otherwise.
            pool.state = msgspec.msgpack.decode(memory, type=ScalingState)
        watch = Stopwatch()
        leases = controller._leases
        watch.time(leases, "take", "taking the leases")
        watch.time(controller, "_write_down", "writing decisions down")
        watch.time(leases, "keep_learned", "keeping what was learned")
        watch.time(console, "collect", "collecting streams")
        watch.time(console.pools, "staffs", "reading rosters")
        spent = []
        for turn in range(1, ROUNDS + WARM + 1):
            move(running, turn)
            if turn == WARM:
                watch.spent.clear()
            began = time.process_time()
            report = await controller.round()
            if turn > WARM:
                spent.append(time.process_time() - began)
        tell(spent, watch, report)
        await controller.leave()


def tell(spent: list[float], watch: Stopwatch, report: RoundReport) -> None:
    """Print what was measured."""
    mean, every = statistics.mean(spent), EVERY.total_seconds()
    codes = Counter(f"{one.code} {one.outcome}" for one in report.decisions.values())
    say(f"{codes.total():,} pools, a round every {every:g} s: {mean / every:.1%} of a core")
    say(f"  the last round: {dict(codes)}")
    say(f"  processor time a round: mean {mean * 1e3:.0f} ms, most {max(spent) * 1e3:.0f} ms")
    parts = {what: total / (ROUNDS + 1) for what, total in watch.spent.items()}
    parts["deciding, asking, and all else"] = mean - sum(parts.values())
    for what, part in parts.items():
        say(f"  {what:32} {part * 1e3:6.1f} ms")


def main() -> None:
    """Measure on the newest server."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    with RunningServer(find_programs()[-1]) as running:
        add_pools(running)
        asyncio.run(measure(running))


if __name__ == "__main__":
    main()
