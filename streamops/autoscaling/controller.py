"""The loop: take the leases, look, decide, ask, write down; again and again."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct

from streamops.autoscaling.budget import BudgetState, within_budgets
from streamops.autoscaling.decisions import ControllerOptions, PendingDecision
from streamops.autoscaling.demand import Seen
from streamops.autoscaling.leader_lease import LeaderLeases
from streamops.autoscaling.pool_controller import PoolController, last_known
from streamops.errors import StalePlan, StreamopsError
from streamops.model.pools import Pool, PoolDecision
from streamops.monitor.pools import PoolWorkers
from streamops.operations.console import Console
from streamops.wire.pools.leading import DecisionRecord, Written, write_decisions

KEEP_EVERY: Final = 6
"""Rounds between two times that what was learned is kept for others, and the pools are listed again."""

PATIENCE: Final = 0.4
"""Of the time between two rounds, how long the slowest target holds up the other pools: once to tell, once to be asked.

So a round is over long before a lease is, however long a target takes; its answer is heard in a later one.
"""

UNWRITTEN: Final = "decision cannot be written down"

LEAVE_IN: Final = 2.0
"""Seconds that this may take."""


class RoundReport(Struct, frozen=True):
    """What one round came to.

    Attributes:
        decisions: The decision about each pool that is led, by its name.
        waiting: Pools that another controller leads, by their names.
    """

    decisions: dict[str, PoolDecision]
    waiting: dict[str, Pool]

    @property
    def newest(self) -> dict[str, PoolDecision]:
        """The newest decision about each pool, by any controller."""
        theirs = {name: pool.last for name, pool in self.waiting.items() if pool.last is not None}
        return theirs | self.decisions


class Controller:
    """Decides about pools for as long as it has their leases, and waits for those that another controller has.

    Args:
        console: Reads and asks.
        options: What to do.
        report: Takes what each round came to.
    """

    def __init__(
        self,
        console: Console,
        options: ControllerOptions,
        report: Callable[[RoundReport], None] = lambda _: None,
    ) -> None:
        self._console = console
        self._options = options
        self._report = report
        self._pools = [PoolController(console, assignment, options) for assignment in options.assignments]
        self._leases = LeaderLeases(console.place.server, self._pools, options)
        self._patience = PATIENCE * options.every.total_seconds()
        self._budgets: dict[str, BudgetState] = {}
        self._rounds = 0

    async def run(self) -> None:
        """Go round until cancelled, and give the leases up then."""
        every = self._options.every.total_seconds()
        loop = asyncio.get_running_loop()
        try:
            while True:
                began = loop.time()
                await self.round()
                await asyncio.sleep(max(0.0, every - (loop.time() - began)))
        finally:
            await self.leave()

    async def leave(self) -> None:
        """Keep what was learned for the next controller, and give the leases up."""
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_IN):
                await asyncio.gather(*(pool.calls.drop() for pool in self._pools))
                with suppress(StreamopsError):
                    await self._leases.keep_learned()
                with suppress(StreamopsError):
                    await self._leases.leave()

    async def round(self) -> RoundReport:
        """Look at all pools that can be led, decide about them, and do what was decided; once."""
        await self._leases.take()
        led = [pool for pool in self._pools if pool.leads]
        decisions: dict[str, PoolDecision] = {}
        if led:
            decisions = await self._decide(led)
            await self._write_down(led, decisions)
        self._rounds += 1
        if self._rounds % KEEP_EVERY == 0:
            with suppress(StreamopsError):
                await self._leases.remind()
        waiting = {
            pool.name: pool.pool
            for pool in self._pools
            if not pool.leads and pool.lease is not None and not pool.lease.leads
        }
        report = RoundReport(decisions, waiting)
        self._report(report)
        return report

    async def _decide(self, led: Sequence[PoolController]) -> dict[str, PoolDecision]:
        try:
            snapshot = await self._console.collect(sorted({pool.assignment.stream for pool in led}))
            seen = Seen(snapshot, {stream.name: stream for stream in snapshot.streams})
            of_pools = await self._console.pools.of_pools([pool.name for pool in led], seen.now)
            elsewhere = await self._look_elsewhere()
        except StreamopsError as error:
            return {pool.name: pool.unread(error) for pool in led}
        looked = await asyncio.gather(
            *(self._look(pool, seen, staff) for pool, staff in zip(led, of_pools, strict=True))
        )
        found = zip((pool.name for pool in led), looked, strict=True)
        decisions = {name: one for name, one in found if isinstance(one, PoolDecision)}
        others = self._others(decisions, elsewhere)
        judged = [one for one in looked if isinstance(one, PendingDecision)]
        shared = within_budgets(judged, self._options.budgets, self._budgets, others)
        by_name = {pool.name: pool for pool in led}
        done = await asyncio.gather(
            *(by_name[one.assignment.pool].act(one, self._patience) for one in shared)
        )
        return decisions | {one.assignment.pool: each for one, each in zip(shared, done, strict=True)}

    async def _look(
        self, pool: PoolController, seen: Seen, staff: PoolWorkers | StreamopsError
    ) -> PendingDecision | PoolDecision:
        if isinstance(staff, StreamopsError):
            return pool.unread(staff)
        return await pool.look(seen, staff, self._patience)

    async def _look_elsewhere(self) -> dict[str, Pool]:
        """Pools that share a budget and are not this controller's affair, by name."""
        names = sorted({name for names in self._options.elsewhere.values() for name in names})
        return {pool.name: pool for pool in await self._console.pools.some(names)} if names else {}

    def _others(self, decisions: dict[str, PoolDecision], elsewhere: dict[str, Pool]) -> dict[str, int]:
        """Workers of pools in budgets that are not decided about now: others lead them, or they cannot be read."""
        others: Counter[str] = Counter()
        for pool in self._pools:
            if not pool.leads or pool.name in decisions:
                others[pool.assignment.budget] += last_known(decisions.get(pool.name, pool.pool.last))
        for budget, names in self._options.elsewhere.items():
            others[budget] += sum(last_known(elsewhere[name].last) for name in names)
        return others

    async def _write_down(self, led: Sequence[PoolController], decisions: dict[str, PoolDecision]) -> None:
        told = [
            DecisionRecord(
                pool.pool, decisions[pool.name], pool.calls.take_errors(), pool.note(decisions[pool.name])
            )
            for pool in led
        ]
        try:
            written = await write_decisions(self._console.place.server, self._options.holder, told)
        except StreamopsError as error:
            written = [Written(counted=False, problem=error) for _ in led]
        for pool, one, (counted, problem) in zip(led, told, written, strict=True):
            if not counted:
                pool.calls.give_back(one.errors)
            if isinstance(problem, StalePlan):
                pool.leads = False
            if problem is None:
                pool.troubles.clear(UNWRITTEN)
            else:
                pool.troubles.warn_once(UNWRITTEN, problem.message)
