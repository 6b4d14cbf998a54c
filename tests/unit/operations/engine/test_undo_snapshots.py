"""What undoing needs survives the audit log."""

from datetime import timedelta
from itertools import pairwise

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from streamops.model.entries import EPOCH, PendingEntry
from streamops.operations.undo_snapshots import (
    MILLISECOND,
    RECORD_BYTES,
    in_records,
    pack_pages,
    unpack_pages,
)
from streamops.wire.writes.audit import SnapshotPage
from tests.support import strategies
from tests.support.invented import NOW

rows = st.builds(
    PendingEntry,
    strategies.entry_ids(),
    strategies.names(),
    st.integers(0, 2**40).map(lambda ms: timedelta(milliseconds=ms)),
    st.integers(0, 2**40),
)
pages = st.lists(
    st.integers(1, RECORD_BYTES + 10).map(lambda size: SnapshotPage(b"1/1-1", bytes(size))), max_size=8
)


def packed(pending: list[PendingEntry]) -> bytes:
    """A page as scripts pack it, each row a run of its own."""
    runs = [
        part
        for number, row in enumerate(pending)
        for part in (number, row.idle // MILLISECOND, row.delivery_count, number)
    ]
    owners = [row.consumer.encode("utf-8", "surrogateescape").hex() for row in pending]
    page = ((NOW - EPOCH) // MILLISECOND, owners, [str(row.id) for row in pending], runs)
    return msgspec.msgpack.encode(page)


@given(st.lists(rows, max_size=20))
def test_rows_to_undo_are_read_back_as_they_were_packed(pending: list[PendingEntry]) -> None:
    (then,) = unpack_pages(pack_pages([packed(pending)]))
    assert (then.at, list(then.rows)) == (NOW, pending)


@given(pages)
def test_records_hold_all_pages_and_no_more_than_there_is_room_for(kept: list[SnapshotPage]) -> None:
    records = list(in_records(kept))
    assert [page for record in records for page in record] == kept
    for record in records:
        assert len(record) == 1 or sum(len(page.rows) for page in record) <= RECORD_BYTES
    for record, following in pairwise(records):
        assert sum(len(page.rows) for page in (*record, following[0])) > RECORD_BYTES
