"""A history in which a primary is replaced that nothing was done to is not judged; it is played again."""

from collections.abc import Sequence

import pytest

from tests.chaos.topologies.histories import MOST_AGAIN, UNASKED, DisturbedError, History, undisturbed
from tests.chaos.topologies.outcome import Outcome
from tests.chaos.topologies.test_books import Alone
from tests.chaos.topologies.works import Survived
from tests.support.servers import RunningServer


class Replaced(Alone):
    """A place where somebody else takes over, unasked, so many times."""

    def __init__(self, server: RunningServer, times: int) -> None:
        super().__init__(server)
        self.left = times
        self._term = 0

    @property
    def leaders(self) -> frozenset[int]:
        if self._term and self.left:
            self.left -= 1
            self._term = 0
            return frozenset()
        self._term += 1
        return super().leaders


@undisturbed
async def struck(seed: int, place: Replaced) -> Outcome:
    async def strike(_: Sequence[str]) -> Survived:
        place.faults["struck"] = place.faults.get("struck", 0) + 1
        return {}

    return await History("struck", seed, place).play(strike)


@pytest.mark.parametrize(
    ("times", "told"),
    [(0, {"struck": 1}), (2, {"struck": 1, UNASKED: 2}), (MOST_AGAIN, {"struck": 1, UNASKED: MOST_AGAIN})],
)
async def test_it_is_played_again(server: RunningServer, times: int, told: dict[str, int]) -> None:
    place = Replaced(server, times)
    assert (await struck(1, place)).faults == told
    assert place.left == 0


async def test_it_is_given_up(server: RunningServer) -> None:
    with pytest.raises(DisturbedError, match="seed 5: a primary was replaced"):
        await struck(5, Replaced(server, MOST_AGAIN + 1))
