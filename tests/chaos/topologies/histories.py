"""What every history does: prepare, begin, strike, go on to the end, and compare the books.

Servers that are short of processor time may be taken for dead, and be replaced once more than the history wants. What
whoever took over at last had to begin with was read by nobody then, so that nothing can be judged: it is played again.
"""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from functools import partial, wraps
from itertools import count
from random import Random
from typing import Final, TypeVar

from msgspec.structs import replace

from tests.chaos.topologies.operators import Operator, Programmer, Typist, see_through
from tests.chaos.topologies.outcome import BrokenPromiseError, Outcome, added_up
from tests.chaos.topologies.place import Place, let_go, until
from tests.chaos.topologies.watchers import Watcher
from tests.chaos.topologies.workers import Run
from tests.chaos.topologies.works import Act, Survived, Work

Strike = Callable[[Sequence[str]], Awaitable[Survived]]
"""Does to the servers what is to be done to them, and tells what survived of these streams."""


UNSPARING: Final = bool(os.environ.get("STREAMOPS_ALL_TOPOLOGIES"))
"""Whether all acts are command lines, and the leases of processes that are gone are waited out."""

UNASKED: Final = "replaced unasked, played again"
MOST_AGAIN: Final = 3

Somewhere = TypeVar("Somewhere", bound=Place)
Scenario = Callable[[int, Somewhere], Awaitable[Outcome]]
"""A history by its seed, at a place."""


class DisturbedError(AssertionError):
    """A primary was replaced that nothing had been done to."""


def undisturbed(scenario: Scenario[Somewhere]) -> Scenario[Somewhere]:
    """A scenario that is played again where it was disturbed, which its outcome tells, and is given up at last."""

    @wraps(scenario)
    async def played(seed: int, place: Somewhere) -> Outcome:
        for disturbed in count():
            try:
                outcome = await scenario(seed, place)
            except DisturbedError:
                if disturbed == MOST_AGAIN:
                    raise
            else:
                return (
                    replace(outcome, faults={**outcome.faults, UNASKED: disturbed}) if disturbed else outcome
                )
        raise AssertionError

    return played


class History:
    """Works that go on while a fault strikes."""

    def __init__(self, name: str, seed: int, place: Place) -> None:
        self.name, self.seed = name, seed
        self.random = Random(seed)
        self.place = place
        self.works: list[Work] = []
        self.watchers: list[Watcher] = []
        self.operators: list[Operator] = []
        self._led: frozenset[int] = frozenset()

    def somebody(self, *, types: bool = False) -> Act:
        """One more operator, who types where that is told, or where nothing is to be spared."""
        operator: Operator = Typist(self.place.url) if types or UNSPARING else Programmer(self.place.options)
        self.operators.append(operator)
        give_up = None if UNSPARING else partial(let_go, self.place)
        return lambda deed: see_through(operator, deed, give_up)

    async def play(self, strike: Strike) -> Outcome:
        """Play it.

        Raises:
            BrokenPromiseError: Something is lost, came twice, or ended as nothing may.
            DisturbedError: Nobody can tell.
        """
        began, before = time.monotonic(), Counter(self.place.faults)
        for work in self.works:
            work.prepare()
        await self.place.replicated()
        survived = await self._through(strike)
        streams = [work.keys[0] for work in self.works]
        try:
            untrue = [words for one in self.watchers for words in await one.last_look(streams)]
            return self._compare(survived, untrue, time.monotonic() - began, before)
        except DisturbedError:
            raise
        except Exception as error:
            # Whatever was found missing, of one that took over in the middle of that it says nothing.
            if self.place.leaders != self._led:
                raise self._disturbed() from error
            raise

    async def _through(self, strike: Strike) -> Survived:
        async with AsyncExitStack() as stack:
            tasks: list[asyncio.Task[None]] = []
            looking = [asyncio.create_task(one.watch()) for one in self.watchers]
            stack.push_async_callback(_end, tasks)
            stack.push_async_callback(_end, looking)
            for work in self.works:
                # One after the other: who types takes longest to begin, and nobody is to be done before the fault.
                tasks.append(asyncio.create_task(work.act()))
                await until(f"begun: {work.name}", partial(_has_begun, work, tasks[-1]))
            survived = await strike([key for work in self.works for key in work.keys])
            self._led = self.place.leaders
            for work in self.works:
                if isinstance(work, Run):
                    await asyncio.sleep(self.random.uniform(0, 0.5))
                    work.finish()
            await asyncio.gather(*tasks)
            for work in self.works:
                await work.mend()
            # Whoever looks on ends only where something is wrong with him.
            await asyncio.gather(*filter(_failed, looking))
            return survived

    def _disturbed(self) -> DisturbedError:
        told = f"{self.name}, seed {self.seed}: a primary was replaced that nothing was done to"
        return DisturbedError(told)

    def _compare(
        self, survived: Survived, untrue: Sequence[str], seconds: float, before: Counter[str]
    ) -> Outcome:
        accounts = {work.name: work.audit(survived) for work in self.works}
        if self.place.leaders != self._led:
            raise self._disturbed()
        outcome = Outcome(
            name=self.name,
            seed=self.seed,
            server=self.place.label,
            entries={name: one.entries for name, one in accounts.items()},
            handled={name: one.handled for name, one in accounts.items()},
            destroyed=added_up(one.destroyed for one in accounts.values()),
            repeated=added_up(
                [*(one.repeated for one in accounts.values()), *(one.repeated for one in self.watchers)]
            ),
            faults=dict(Counter(self.place.faults) - before),
            told=dict(sum((one.told for one in self.operators), Counter())),
            seconds=round(seconds, 1),
        )
        problems = [f"{name}: {told}" for name, one in accounts.items() for told in one.problems]
        problems += [*untrue, *(told for one in self.operators for told in one.problems)]
        if problems:
            raise BrokenPromiseError(outcome, problems)
        return outcome


async def _end(tasks: Sequence[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


def _failed(task: asyncio.Task[None]) -> bool:
    return task.done() and not task.cancelled() and task.exception() is not None


def _has_begun(work: Work, task: asyncio.Task[None]) -> bool:
    return task.done() or work.has_begun()
