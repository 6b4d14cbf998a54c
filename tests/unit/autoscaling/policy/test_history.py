"""Recorded loads."""

from datetime import UTC, datetime
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from streamops.autoscaling.history import ArrivalHistory, per_second, replay_history
from tests.support.autoscaling.policy.pools import WORKERS
from tests.support.tables import table

BEGIN = datetime(2026, 3, 1, 22, tzinfo=UTC)


@table(
    ("points", "counts"),
    [
        ([(0, 0), (1, 3), (2, 3), (3, 10)], (3, 0, 7)),
        ([(0, 0), (4, 10)], (2, 3, 2, 3)),
        ([(0, 0), (2.5, 5), (5, 10)], (2, 2, 2, 2, 2)),
        ([(0, 0)], ()),
    ],
)
def test_figures_are_spread_over_seconds(points: list[tuple[float, float]], counts: tuple[int, ...]) -> None:
    assert per_second(points) == counts


@given(st.lists(st.tuples(st.integers(1, 90), st.integers(0, 10_000)), min_size=1, max_size=30))
def test_no_entry_is_lost_or_made_up(steps: list[tuple[int, int]]) -> None:
    points, at, total = [(0.0, 0.0)], 0, 0
    for span, count in steps:
        at, total = at + span, total + count
        points.append((float(at), float(total)))
    counts = per_second(points)
    assert (len(counts), sum(counts)) == (at, total)
    assert min(counts) >= 0


def test_policy_is_late_less_often_than_too_few_workers_and_cheaper_than_enough() -> None:
    history = ArrivalHistory(counts=(*[20] * 300, *[900] * 300, *[20] * 300), begins_at=BEGIN)
    rows = replay_history(history, WORKERS, Random(1), fixed=(1, 6))
    ours, one, six = (row.result for row in rows)
    assert [row.policy for row in rows] == ["ours", "fixed 1", "fixed 6"]
    assert (one.most, six.most) == (1, 6)
    assert one.late_entries > history.entries / 2 > ours.late_entries
    assert one.worker_seconds < ours.worker_seconds < six.worker_seconds
    assert len(ours.steps) == 179


def test_without_numbers_the_mean_and_the_most_of_the_policy_are_compared() -> None:
    history = ArrivalHistory(counts=(*[20] * 300, *[900] * 300, *[20] * 300), begins_at=BEGIN)
    ours, mean, most = replay_history(history, WORKERS, Random(1))
    assert most.policy == f"fixed {ours.result.most}"
    assert mean.result.worker_seconds >= ours.result.worker_seconds > mean.result.worker_seconds - 900
