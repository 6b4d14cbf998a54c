"""Pools for tests of their controllers: a group on a real server, and a target that does as it is scripted."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from streamops.autoscaling.controller import Controller
from streamops.autoscaling.decisions import Assignment, ControllerOptions
from streamops.autoscaling.policy.config import ScalingConfig
from streamops.model.pools import PoolSize
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.targets.target import require_expected
from streamops.wire.options import ConnectionOptions
from tests.support.operations.engine.examples import WORKSHOP
from tests.support.servers import RunningServer

POOL, STREAM, GROUP = "billing", "orders", "workers"
KEY = f"streamops:pool:{POOL}"
LOG = f"streamops:decisions:{POOL}"
AUDIT = "streamops:audit"


class Workers:
    """A target that counts what it is asked.

    Attributes:
        count: Workers that it has.
        asked: The numbers that it was asked for.
        read_times: How often it was asked how many it has.
        on_read: What to tell instead, or an error to raise.
        on_resize: What to do instead of it.
    """

    kind = "invented"
    label = "workers of a test"

    def __init__(self, count: int = 3) -> None:
        self.count = count
        self.asked: list[int] = []
        self.read_times = 0
        self.on_read: Callable[[], int] | None = None
        self.on_resize: Callable[[int], object] | None = None

    async def read(self) -> PoolSize:
        self.read_times += 1
        return PoolSize(ordered=self.count if self.on_read is None else self.on_read())

    async def resize(self, workers: int, expected: PoolSize, *, reason: str, key: str) -> None:  # noqa: ARG002 - a target's
        self.asked.append(workers)
        if self.on_resize is not None:
            told = self.on_resize(workers)
            if hasattr(told, "__await__"):
                await told
            return
        require_expected(self.label, PoolSize(ordered=self.count), expected)
        self.count = workers

    async def close(self) -> None:
        """There is nothing to let go of."""


def options(holder: str = "first", **changes: Any) -> ControllerOptions:
    """One pool, of one to ten workers."""
    config = changes.pop("config", ScalingConfig(minimum=1, maximum=10))
    assignment = Assignment(pool=POOL, stream=STREAM, group=GROUP, config=config)
    return ControllerOptions(holder=holder, **{"assignments": (assignment,), **changes})


def at_least(count: int, **more: Any) -> ControllerOptions:
    """The same, of so many workers at least: what is below is asked for at once."""
    return options(config=ScalingConfig(minimum=count, maximum=max(10, count)), **more)


def add_waiting(server: RunningServer, entries: int = 0) -> None:
    """The stream and its group, with so many entries waiting."""
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0", "MKSTREAM")
    for number in range(entries):
        server.command("XADD", STREAM, "*", "n", number)


@asynccontextmanager
async def console_on(
    server: RunningServer, target: Workers | None = None, **changes: Any
) -> AsyncIterator[Console]:
    """A console as controllers have one; its pool has that target."""
    connection: ConnectionOptions = changes.pop("connection", server.options)
    async with await Console.open(connection, Watch(details=False), actor=WORKSHOP, **changes) as console:
        if target is not None:
            console.place.targets.use(POOL, target)
        yield console


@asynccontextmanager
async def controlling(
    server: RunningServer, target: Workers | None = None, given: ControllerOptions | None = None
) -> AsyncIterator[Controller]:
    """A controller that goes round when it is told to."""
    async with console_on(server, target) as console:
        yield Controller(console, given or options())


QUICK = timedelta(seconds=0.2)


def steer(server: RunningServer, **fields: object) -> None:
    """Tell the controller something, as ``autoscale pause|override|limits`` write it."""
    told = {"steered_by": "ada@desk", "steered_at": "1", **fields}
    server.command("HSET", KEY, *(str(part) for pair in told.items() for part in pair))


def field(server: RunningServer, name: str) -> str:
    """A field of the pool; empty where it is not there."""
    return (server.command("HGET", KEY, name) or b"").decode()
