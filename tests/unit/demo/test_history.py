from datetime import UTC, datetime
from random import Random

from streamops.demo.history import past_entries
from streamops.demo.sources import SOURCES, Source
from tests.support.tables import table

NOW = datetime(2026, 8, 1, 12, tzinfo=UTC)


@table("source", SOURCES)
def test_past_entries_rise_to_now_over_the_whole_history(source: Source) -> None:
    ids = [entry_id for entry_id, _ in past_entries(source, Random(3), NOW)]
    assert len(ids) == source.past_entries
    assert ids == sorted(set(ids))
    first, last = ids[0].time, ids[-1].time
    assert first is not None
    assert last is not None
    assert NOW - source.history <= first <= NOW - source.history * 0.95
    assert NOW - source.history * 0.05 <= last <= NOW
