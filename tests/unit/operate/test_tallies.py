"""Counting keeps to its budget, serves what is cheap first, and never counts wrong."""

from streamops.operate.tallies import Counter
from tests.support.operate.tallies import BUDGET


def test_budget_of_a_range() -> None:
    counter = Counter.__new__(Counter)
    counter._budget, counter.left, counter.bytes_left, counter.rounds_left = BUDGET, 40, 1000, 1
    assert counter.allows(40, 10)
    assert not counter.allows(41, 10)
    assert not counter.allows(40, 26)
    counter.rounds_left = 0
    assert not counter.allows(1, 1)
