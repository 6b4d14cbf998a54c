"""What undoing needs survives the audit log."""

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from streamops.model.entries import PendingEntry
from streamops.model.ids import EntryId
from streamops.operate.acting.undo_rows import pack_rows, unpack_pages
from tests.support import strategies
from tests.support.invented import NOW

rows = st.builds(
    PendingEntry,
    strategies.entry_ids(),
    strategies.names(),
    st.integers(0, 2**40).map(lambda ms: timedelta(milliseconds=ms)),
    st.integers(0, 2**40),
)


@given(st.lists(rows, max_size=20))
def test_rows_to_undo_are_read_back_as_they_were_packed(pending: list[PendingEntry]) -> None:
    (then,) = unpack_pages(pack_rows(pending, NOW))
    assert (then.at, list(then.rows)) == (NOW, pending)


def test_a_thousand_rows_are_small() -> None:
    pending = [
        PendingEntry(EntryId(1_700_000_000_000 + number, 0), "worker-1", timedelta(seconds=9), 1)
        for number in range(1_000)
    ]
    assert len(pack_rows(pending, NOW)) < 4 * len(pending)
