"""How rows that scripts keep beside a stream go into the audit log."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from streamops.operate.acting.kept import RECORD_BYTES, in_records
from streamops.wire.writes.kept_rows import KeptPage

pages = st.lists(
    st.integers(1, RECORD_BYTES + 10).map(lambda size: KeptPage(b"1/1-1", bytes(size))), max_size=8
)


@given(pages)
def test_records_hold_all_pages_and_no_more_than_there_is_room_for(kept: list[KeptPage]) -> None:
    records = list(in_records(kept))
    assert [page for record in records for page in record] == kept
    for record in records:
        assert len(record) == 1 or sum(len(page.rows) for page in record) <= RECORD_BYTES
    for record, following in pairwise(records):
        assert sum(len(page.rows) for page in (*record, following[0])) > RECORD_BYTES
