"""Recorded loads."""

from datetime import UTC, datetime
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.scaling.simulator.history import CLAIRVOYANT, History, per_second, replay_history
from streamops.scaling.simulator.world import World

BEGIN = datetime(2026, 3, 1, 22, tzinfo=UTC)


@pytest.mark.parametrize(
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


def test_replayed_history_ranks_policies() -> None:
    counts = (*[20] * 300, *[900] * 300, *[20] * 300)
    history = History(counts=counts, begins_at=BEGIN)
    replayed = replay_history(history, World(), Random, fixed=(1, 6), against=("keda_lag",))
    ours, one, six, keda, bound = replayed.told
    assert [told.policy for told in replayed.told] == ["ours", "fixed 1", "fixed 6", "keda_lag", CLAIRVOYANT]
    assert bound.worker_hours < ours.worker_hours < six.worker_hours
    assert (one.most, six.most) == (1, 6)
    assert one.late_entries > history.entries / 2
    assert ours.late_entries == round(ours.late * history.entries)
    assert bound.score == 1
    assert ours.score < min(one.score, six.score, keda.score)
    assert len(replayed.steps) == 179
