"""What collections learned about groups is kept, and dropped, in one place."""

import pytest

from streamops.model.entries import EntryId
from streamops.model.lag import Lag, LagBasis
from streamops.model.streams import StreamReading
from streamops.monitor.lag import CachedCount, NextEntry
from streamops.monitor.lag_reader import CachedGroup, GroupCache
from streamops.monitor.pending_scan import PendingScan

POSITION = EntryId(1, 0)
STREAM = StreamReading("orders", 3, ())
EXACT = Lag(2, 2, 2, LagBasis.EXACT, "counted")
BILLING, SHIPPING = ("orders", "billing"), ("payments", "shipping")


@pytest.fixture
def cache() -> GroupCache:
    made = GroupCache()
    for key in (BILLING, SHIPPING):
        cached = made.of(*key)
        cached.counted = CachedCount(EXACT, STREAM, POSITION)
        cached.next_entry = NextEntry(STREAM, POSITION, None)
        cached.scan = PendingScan()
    return made


def test_the_same_epoch_keeps_everything(cache: GroupCache) -> None:
    cache.invalidate(0)
    assert cache.groups.keys() == {BILLING, SHIPPING}


def test_another_epoch_keeps_only_whose_reported_lag_is_wrong(cache: GroupCache) -> None:
    cache.of(*BILLING).is_wrong = True
    cache.invalidate(1)
    assert cache.groups == {BILLING: CachedGroup(is_wrong=True)}


def test_groups_that_are_gone_are_dropped_and_those_not_read_are_not(cache: GroupCache) -> None:
    cache.keep_only({BILLING}, {"payments"})
    assert cache.groups.keys() == {BILLING, SHIPPING}
    cache.keep_only({BILLING}, ())
    assert cache.groups.keys() == {BILLING}
