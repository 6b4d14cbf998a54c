"""Lags that one reading leaves open are counted, carried on and checked."""

from typing import Any

from streamops.model.ids import EntryId
from streamops.model.lag import Lag, LagBasis
from streamops.model.readings import GroupReading, StreamReading
from streamops.monitor.lag_cases import Anchor, entries_added
from tests.support.monitor.lag_watching import STREAM
from tests.support.tables import table


def reading(**fields: Any) -> StreamReading:
    plain: dict[str, Any] = {
        "name": STREAM,
        "length": 10,
        "groups": (),
        "bounds_read": True,
        "first_id": EntryId(1, 0),
        "last_id": EntryId(10, 0),
        "last_generated_id": EntryId(10, 0),
        "entries_added": 10,
        "max_deleted_id": EntryId(0, 0),
        "entry_bytes": 10,
    }
    return StreamReading(**(plain | fields))


ADDED_THREE = {
    "length": 13,
    "entries_added": 13,
    "last_generated_id": EntryId(13, 0),
    "last_id": EntryId(13, 0),
}


@table(
    ("changes", "expected"),
    [
        ({}, 0),
        (ADDED_THREE, 3),
        ({"length": 9}, None),
        (ADDED_THREE | {"length": 12}, None),
        (ADDED_THREE | {"first_id": EntryId(2, 0)}, None),
        (ADDED_THREE | {"last_generated_id": EntryId(10, 0)}, None),
        ({"last_generated_id": EntryId(11, 0)}, None),
        ({"entries_added": 9, "length": 9}, None),
        ({"entries_added": None, "length": 11}, None),
    ],
)
def test_additions_that_are_certain(changes: dict[str, Any], expected: int | None) -> None:
    assert entries_added(reading(), reading(**changes)) == expected


def test_additions_before_redis_7() -> None:
    before = reading(entries_added=None)
    assert entries_added(before, before) == 0
    assert entries_added(before, reading(**(ADDED_THREE | {"entries_added": None}))) is None


def test_anchor_ahead_of_the_group_says_nothing() -> None:
    counted = Lag(5, 5, 5, LagBasis.EXACT, "counted")
    anchor = Anchor(counted, reading(), EntryId(5, 0))
    rewound = GroupReading("billing", 0, 0, EntryId(3, 0), None, None)
    assert anchor.added_since(reading(), rewound) is None
