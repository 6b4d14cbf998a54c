"""What a count holds for: one state of its stream, and one position."""

from msgspec.structs import replace

from streamops.model.ids import EntryId
from streamops.model.lag import Lag, LagBasis
from streamops.model.readings import GroupReading, StreamReading
from streamops.monitor.lag_cases import Anchor

STREAM = StreamReading(
    "orders",
    5,
    (),
    bounds_read=True,
    first_id=EntryId(1, 0),
    last_id=EntryId(5, 0),
    last_generated_id=EntryId(5, 0),
    entries_added=5,
)
GROUP = GroupReading("billing", 1, 0, EntryId(2, 0), None, None)
COUNTED = Anchor(Lag(3, 3, 3, LagBasis.EXACT, "counted"), STREAM, EntryId(2, 0))


def test_a_count_holds_while_neither_its_stream_nor_its_group_has_moved() -> None:
    assert COUNTED.same(STREAM, GROUP)
    assert not COUNTED.same(STREAM, replace(GROUP, last_delivered_id=EntryId(3, 0)))
    assert not COUNTED.same(replace(STREAM, length=4), GROUP)
