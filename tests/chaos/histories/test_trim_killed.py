"""A safe trim whose process is killed loses nothing that a group needs, and is gone on with to its end."""

import os
from random import Random

import pytest

from streamops.model.acts.trim import TrimIntent
from tests.support.operate.killed import Change, Fate, Operator, play, unfinished
from tests.support.operate.trim_truth import NODE_ENTRIES, Ledger
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer, StartServer

# Random histories: the lines they run are run by other tests too, and measuring them doubles what they cost.
pytestmark = pytest.mark.no_cover

HISTORIES = int(os.environ.get("STREAMOPS_HISTORIES", "15"))


class History:
    """One history: operators who trim, are killed and gone on with, between what producers and consumers do.

    Attributes:
        kills: How many operators were killed in it.
        removed: How many entries went while operators were killed.
    """

    def __init__(self, server: RunningServer, seed: int, change: Change | None = None) -> None:
        self.kills = self.removed = 0
        self._server = server
        self._random = Random(seed)
        self._change = change
        self._ledger = Ledger(server, self._random)
        self._ledger.live(60)
        self._intent = self._ledger.bound()

    def run(self) -> None:
        """Let it happen."""
        for _ in range(self._random.randint(2, 4)):
            self.kills += play([self._operator() for _ in range(self._random.choice((1, 1, 2)))])
            self._ledger.check(self._intent)
            self._ledger.live(self._random.randrange(15))
            self._ledger.check(None)
        self.removed = self._ledger.removed
        self._finish()

    def _operator(self) -> Operator:
        """Who goes on with a job, or begins anew."""
        jobs = unfinished(self._server)
        what: TrimIntent | str = self._intent
        if jobs and self._random.random() < 0.6:
            what = self._random.choice(jobs)
        return Operator(self._server.options, what, Fate.any(self._random), change=self._change)

    def _finish(self) -> None:
        self._ledger.finish()
        wanted = self._ledger.wanted(self._intent)
        rest: list[TrimIntent | str] = [*unfinished(self._server), self._intent]
        for what in rest:
            operator = Operator(self._server.options, what, Fate())
            assert play([operator]) == 0
            assert not operator.refused
        assert not unfinished(self._server)
        self._ledger.check_all(self._intent, wanted)


def live(server: RunningServer, seeds: range, change: Change | None = None) -> tuple[int, int]:
    """Histories; how many operators were killed in them, and how many entries went meanwhile."""
    kills = removed = 0
    for seed in seeds:
        history = History(server, seed, change)
        try:
            history.run()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from None
        kills += history.kills
        removed += history.removed
    return kills, removed


@pytest.mark.every_server("histories are played on each version")
@pytest.mark.timeout(900)
def test_nothing_that_is_needed_is_lost(program: ServerProgram, start_server: StartServer) -> None:
    running = start_server("--stream-node-max-entries", str(NODE_ENTRIES), program=program)
    first = Random().randrange(10**9)
    kills, removed = live(running, range(first, first + HISTORIES))
    # How many are met in the middle depends on how busy the machine is.
    assert kills > HISTORIES // 5
    assert removed > HISTORIES
