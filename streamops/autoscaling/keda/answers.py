"""What KEDA is answered, by whichever way it asks: the newest view of every pool, and the number that lies ready."""

import asyncio
import re
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from streamops.autoscaling.decisions import Assignment
from streamops.autoscaling.pool_controller import last_known
from streamops.errors import TargetChanged
from streamops.model.pools import KEDA, PoolDecision, PoolSize, ScaleCode
from streamops.model.text import safe
from streamops.monitor.pools import PoolReader

TARGET: Final = 1
"""What KEDA is to divide the number of workers by."""
KEDAS: Final = frozenset(
    {"scalerAddress", "enableTLS", "unsafeSsl", "tlsCertFile", "caCert", "tlsClientCert", "tlsClientKey"}
)
"""How KEDA reaches the scaler; it passes all of a trigger's metadata on, these too."""
OURS: Final = ("pool", "stream", "group")
UNSEEN: Final = "the last round brought no decision: Redis is unreachable, or no controller leads the pool"
LOOKED_BACK: Final = 20
"""Decisions in which one about a pool that could be read is looked for."""
AT_WORK: Final = timedelta(minutes=5)
"""How lately a consumer must have asked for entries to be taken for a worker."""
NAMED: Final = 10
LONGEST_NAME: Final = 100
_ODD: Final = re.compile(r"[^A-Za-z0-9_-]+")
_NUMBERED: Final = re.compile(r"s\d+-(?=streamops-)")


class BadTrigger(Exception):
    """The metadata cannot be understood; the text says what is wrong, in one line."""


class GroupRead(NamedTuple):
    """What a pool's workers read: a stream, as a consumer group."""

    stream: str
    group: str


class PoolView(Struct, frozen=True, kw_only=True):
    """What is known about one pool.

    Attributes:
        desired: Workers that it should have; None if that was never known.
        active: Whether it may have workers: entries wait, are pending or arrive. If that is not known, the desired
            number tells, because no pool is put to sleep for want of knowledge; None if nothing was ever known.
        lag_known: Whether the lag is known now.
        looked: Whether the pool was looked at once, whatever came of it.
        at: When it was last read, by the server's clock; None if it never was.
        reason: Why it should have that many workers, or why nothing is known, in a sentence.
    """

    desired: int | None = None
    active: bool | None = None
    lag_known: bool = False
    looked: bool = False
    at: datetime | None = None
    reason: str = "it has not been evaluated yet"


class Board:
    """The newest view of every pool. For one event loop.

    Args:
        reads: What each pool's workers read, by the names of the pools.
    """

    def __init__(self, reads: Mapping[str, GroupRead]) -> None:
        self.reads = dict(reads)
        self._views = dict.fromkeys(reads, PoolView())
        self._changes = {name: asyncio.Event() for name in reads}

    def view(self, pool: str) -> PoolView | None:
        """The newest view of a pool; none if there is no such pool."""
        return self._views.get(pool)

    def post(self, pool: str, view: PoolView) -> None:
        """Show a view, and wake who waits for it. A number and a moment once known are kept if it has none.

        Raises:
            KeyError: There is no such pool.
        """
        before = self._views[pool]
        desired = before.desired if view.desired is None else view.desired
        sized = None if desired is None else desired > 0
        self._views[pool] = replace(
            view,
            desired=desired,
            active=sized if view.active is None else view.active,
            looked=view.looked or before.looked,
            at=view.at or before.at,
        )
        changed, self._changes[pool] = self._changes[pool], asyncio.Event()
        changed.set()

    def post_round(self, decisions: Mapping[str, PoolDecision]) -> None:
        """Show the newest decision about each pool, by any controller; the lag of a pool without one is not known now."""
        for pool in self.reads:
            decision = decisions.get(pool)
            self.post(pool, PoolView(looked=True, reason=UNSEEN) if decision is None else view_of(decision))

    async def after(self, pool: str, seen: PoolView) -> PoolView:
        """Wait for another view than ``seen``; raises ``KeyError`` if there is no such pool."""
        while self._views[pool] == seen:
            await self._changes[pool].wait()
        return self._views[pool]


def view_of(decision: PoolDecision) -> PoolView:
    """What a decision tells of its pool.

    The number of a pool that could not be read is none to tell KEDA, which would take it for what the pool needs; nor
    is one known after the first look at a pool without workers.
    """
    signals = decision.signals
    if decision.code is ScaleCode.UNREADABLE:
        return PoolView(looked=True, reason=decision.text)
    unsure = decision.code is ScaleCode.WARMUP and not decision.ordered
    work = any((signals.lag, signals.at_least, signals.pending, signals.arrivals))
    return PoolView(
        desired=None if unsure else decision.target,
        active=True if work else None if signals.lag is None else False,
        lag_known=signals.lag is not None,
        looked=True,
        at=decision.at,
        reason=decision.text,
    )


class ExternalScalerValue:
    """The number of workers that a pool should have, for KEDA to take; a ``Target`` to the controller.

    KEDA does not report how many workers there are. So this begins with what can be known of them, and never with fewer
    for want of knowledge: KEDA would let them go.

    Args:
        pools: Reads the pool.
        assignment: It, and the group whose work it does.
    """

    kind: str = "keda"
    label: str = KEDA

    def __init__(self, pools: PoolReader, assignment: Assignment) -> None:
        self._pools = pools
        self._assignment = assignment
        self._workers: int | None = None

    async def read(self) -> PoolSize:
        """Return the number; raises ``StreamopsError`` if it has to be read first and cannot."""
        if self._workers is None:
            found = await self._found()
            self._workers = max(found, self._assignment.config.minimum)
        return PoolSize(ordered=self._workers)

    async def resize(self, workers: int, expected: PoolSize, *, reason: str, key: str) -> None:  # noqa: ARG002 - a target's
        """Put another number there; raises ``TargetChanged`` if it is another one already."""
        if self._workers != expected.ordered:
            raise TargetChanged(f"the worker count is {self._workers} now", "Make a new plan.")
        self._workers = workers

    async def close(self) -> None:
        """Nothing is open."""

    async def _found(self) -> int:
        """Count workers by the last decision, else by their heartbeats, else by the group's consumers."""
        pools, one = self._pools, self._assignment
        last = (await pools.one(one.pool)).last
        before = await pools.decisions(one.pool, LOOKED_BACK)
        read = next((each for each in (last, *before) if each is not None and each.was_read), None)
        if read is not None:
            return last_known(read)
        beating = (await pools.of_pool(one.pool)).workers
        return len(beating) or await pools.consumers(one.stream, one.group, AT_WORK)


def read_trigger(metadata: Mapping[str, str], board: Board) -> tuple[str, PoolView]:
    """Find the pool that a trigger's metadata names.

    Args:
        metadata: Of the ScaledObject; ``poolFromEnv`` and its like hold what KEDA found in the environment.
        board: The pools.

    Raises:
        BadTrigger: It names no pool, or one that is not there, or whose workers do not read what it says they do.
    """
    given = {key.removesuffix("FromEnv"): value for key, value in metadata.items() if key not in KEDAS}
    if unknown := sorted(given.keys() - set(OURS)):
        raise BadTrigger(
            f"the trigger's metadata says {named(unknown)}, which is not known; known: {named(OURS)}"
        )
    name = given.get("pool", "")
    if not name:
        raise BadTrigger(f"the trigger's metadata has no pool; {_known(board)}")
    view = board.view(name)
    if view is None:
        raise BadTrigger(no_such_pool(name, board))
    reads = board.reads[name]
    if any(given.get(what, value) != value for what, value in reads._asdict().items()):
        said = named([f"{what} {given[what]}" for what in OURS[1:] if what in given])
        there = named([f"stream {reads.stream} as group {reads.group}"])
        raise BadTrigger(f"pool {safe(name)} is not of {said}; its workers read {there}")
    return name, view


def metric_name(pool: str) -> str:
    """The name of a pool's metric: letters, digits, ``-`` and ``_``, which may stand in a path of Kubernetes' API."""
    return f"streamops-{_ODD.sub('-', pool).strip('-') or 'pool'}"


def without_number(metric: str) -> str:
    """A metric's name without the trigger's number, which KEDA puts before it in the HPA and takes off itself."""
    return _NUMBERED.sub("", metric, count=1)


def not_known(pool: str, view: PoolView) -> str:
    """Why there is no number, in a sentence."""
    return safe(f"how many workers pool {pool} should have is not known: {view.reason}")


def no_such_pool(pool: str, board: Board) -> str:
    """That there is no such pool, and which ones there are."""
    return f"no pool {safe(pool[:LONGEST_NAME])}; {_known(board)}"


def named(names: Collection[str]) -> str:
    """Names in a row, as many as a line can have."""
    shown = ", ".join(safe(name[:LONGEST_NAME]) for name in list(names)[:NAMED])
    more = len(names) - NAMED
    return f"{shown} and {more} more" if more > 0 else shown


def _known(board: Board) -> str:
    return f"known: {named(board.reads)}" if board.reads else "there are none"
