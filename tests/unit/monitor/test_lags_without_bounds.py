"""Where only lengths and groups may be read, a count is exact only if a reported lag shows that nothing came."""

from streamops.model.ids import EntryId
from streamops.model.readings import GroupReading, StreamReading
from streamops.monitor.lag_reader import _is_intact
from tests.support.monitor.lag_watching import STREAM
from tests.support.tables import table


def bare(*groups: GroupReading, length: int = 9) -> StreamReading:
    return StreamReading(STREAM, length, groups)


def stalled(entries_read: int | None, reported_lag: int | None) -> GroupReading:
    return GroupReading("billing", 0, 0, EntryId(5, 0), entries_read, reported_lag)


@table(
    ("before", "after", "intact"),
    [
        (bare(stalled(5, 4)), bare(stalled(5, 4)), True),
        (bare(stalled(None, None), stalled(5, 4)), bare(stalled(None, None), stalled(5, 4)), True),
        (bare(stalled(5, 4)), bare(stalled(5, 5)), False),
        (bare(stalled(5, 4)), bare(stalled(5, 4), length=8), False),
        (bare(), bare(), False),
        (bare(stalled(None, None)), bare(stalled(None, None)), False),
        # A group before the first entry has the length for its lag, whatever came and went.
        (bare(stalled(5, 9)), bare(stalled(5, 9)), False),
        (bare(stalled(None, 4)), bare(stalled(None, 4)), False),
    ],
)
def test_without_bounds_only_a_reported_lag_tells_that_nothing_came_and_went(
    before: StreamReading, after: StreamReading, *, intact: bool
) -> None:
    assert _is_intact(before, after) is intact
