"""A rolling scan sees every row once in a pass, whatever the size of its pages."""

from collections.abc import Sequence
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from streamops.model.entries import EntryId, PendingEntry
from streamops.model.pending import DELIVERY_BOUNDS, IDLE_BOUNDS
from streamops.monitor.pending_scan import PendingScan, advance_scan, profile_of

counts = st.integers(1, 20)
idles = st.one_of(
    st.sampled_from(IDLE_BOUNDS),
    st.builds(timedelta, milliseconds=st.integers(0, 10_000_000)),
)
deliveries = st.lists(st.tuples(idles, counts), max_size=40)


def rows_of(delivered: Sequence[tuple[timedelta, int]]) -> list[PendingEntry]:
    return [
        PendingEntry(EntryId(number + 1, 0), "worker", idle, count)
        for number, (idle, count) in enumerate(delivered)
    ]


@given(deliveries, st.integers(1, 7))
def test_a_pass_counts_every_row_once(delivered: list[tuple[timedelta, int]], page: int) -> None:
    rows, scan, seen = rows_of(delivered), PendingScan(), 0
    while scan.last_pass is None:
        share = [row for row in rows if scan.cursor is None or row.id > scan.cursor][:page]
        scan = advance_scan(scan, share, end=len(share) < page)
        seen += len(share)
        profile = profile_of(scan, len(rows))
        if scan.last_pass is None:
            assert profile is not None
            assert profile.coverage == seen / len(rows)
            assert sum(profile.idle_buckets) == sum(profile.delivery_buckets) == seen
    whole = scan.last_pass
    assert (whole.scanned, whole.coverage) == (len(rows), 1.0)
    assert scan == PendingScan(last_pass=whole)
    edges = (*IDLE_BOUNDS, timedelta.max)
    assert whole.idle_buckets == tuple(
        sum(low < row.idle <= high for row in rows)
        for low, high in zip((timedelta(-1), *IDLE_BOUNDS), edges, strict=True)
    )
    caps = (*DELIVERY_BOUNDS, 1_000)
    assert whole.delivery_buckets == tuple(
        sum(low < row.delivery_count <= high for row in rows)
        for low, high in zip((0, *DELIVERY_BOUNDS), caps, strict=True)
    )
    assert (whole.longest_idle and whole.longest_idle.idle) == max((row.idle for row in rows), default=None)
    assert (whole.most_delivered and whole.most_delivered.delivery_count) == max(
        (row.delivery_count for row in rows), default=None
    )


def test_nothing_seen_is_nothing_known() -> None:
    assert profile_of(PendingScan(), 10) is None


def test_last_whole_pass_counts_until_the_next_one() -> None:
    (row,) = rows_of([(timedelta(seconds=5), 3)])
    whole = advance_scan(PendingScan(), [row], end=True)
    under_way = advance_scan(whole, [row, row], end=False)
    assert profile_of(under_way, 4) == whole.last_pass


def test_list_that_shrank_is_covered_at_most_once() -> None:
    rows = rows_of([(timedelta(0), 1)] * 5)
    profile = profile_of(advance_scan(PendingScan(), rows, end=False), pending=3)
    assert profile is not None
    assert profile.coverage == 1.0
