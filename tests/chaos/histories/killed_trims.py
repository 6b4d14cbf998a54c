"""A safe trim whose process is killed loses nothing that a group needs, and is gone on with to its end."""

from collections.abc import Sequence
from random import Random

from streamops.operations.trim.intent import TrimIntent
from tests.chaos.histories.killed import Fate, Operator, play, unfinished
from tests.chaos.histories.trims import Ledger
from tests.support.servers import RunningServer


class History:
    """One history: operators who trim, are killed and gone on with, between what producers and consumers do.

    Attributes:
        kills: How many operators were killed in it.
        removed: How many entries went while operators were killed.
    """

    def __init__(self, server: RunningServer, seed: int) -> None:
        self.kills = self.removed = 0
        self._server = server
        self._random = Random(seed)
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
        return Operator(self._server.options, what, Fate.any(self._random))

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


def play_all(server: RunningServer, seeds: Sequence[int]) -> None:
    """Histories on a server of short nodes; some operators are killed in the middle."""
    kills = removed = 0
    for seed in seeds:
        history = History(server, seed)
        try:
            history.run()
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from None
        kills += history.kills
        removed += history.removed
    # How many are met in the middle depends on how busy the machine is.
    assert kills >= len(seeds) // 5
    assert removed > len(seeds)
