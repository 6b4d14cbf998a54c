"""What ``bench_tui`` feeds the console with; as a program, the console on it: ``console_feed INTERVAL``."""

import asyncio
import sys
from datetime import timedelta
from time import monotonic

from msgspec.structs import replace

from streamops.model.observation import Observation
from streamops.tui.app import run
from tests.support.invented import NOW
from tests.support.tui.sample import changed, many
from tests.support.tui.source import InventedSource, settings_for

GROUPS = 10_000
STREAMS_CHANGED = 500
"""Each has two groups, and each of those has more than one cell that changes."""
ROUNDS = 8


class Feed(InventedSource):
    """Ten thousand groups; every poll finds a thousand of them changed and the others the same objects."""

    def __init__(self) -> None:
        first = many(GROUPS)
        super().__init__(first)
        self._rounds: list[Observation] = [first]
        self._round = 0
        self.before_answer = self._advance

    async def invent(self) -> None:
        """Invent the observations of all rounds: once the first is on the screen, so that it is not measured."""
        await asyncio.sleep(0.5)
        for number in range(1, ROUNDS):
            self._rounds.append(changed(self._rounds[-1], number, STREAMS_CHANGED))
            await asyncio.sleep(0)

    def start_discovery(self) -> None:
        super().start_discovery()
        self._inventing = asyncio.create_task(self.invent())

    def _advance(self) -> None:
        """Go on to the next round, which was collected just now: the charts take nothing twice."""
        observation = self._rounds[self._round % len(self._rounds)]
        now = replace(observation.snapshot, collected_at=NOW + timedelta(seconds=monotonic()))
        self.observation = replace(observation, snapshot=now)
        self._round += 1


if __name__ == "__main__":
    sys.exit(run(settings_for(Feed(), every=timedelta(seconds=float(sys.argv[1])))))
