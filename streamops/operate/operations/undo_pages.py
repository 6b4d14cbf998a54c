"""The rows that an undo gives back, page by page, as the audit log has them."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from msgspec.structs import replace

from streamops.model.acting import AuditRecord
from streamops.model.acts.undo import UndoIntent
from streamops.model.ids import EntryId
from streamops.operate.acting.undo_rows import RowsThen, unpack_pages


def pages(records: Sequence[AuditRecord]) -> Iterator[tuple[AuditRecord, int, RowsThen]]:
    """Each page of rows, with its record and how many rows of that come before it.

    Each once: whoever was killed right after putting pages on record has kept them beside the stream too.
    """
    seen = set[tuple[str, datetime, EntryId]]()
    for record in records:
        before = 0
        for then in unpack_pages(record.undo) if record.undo else ():
            if not then.rows:
                continue
            page = (record.begun_id, then.at, then.rows[0].id)
            if page not in seen:
                yield record, before, then
            seen.add(page)
            before += len(then.rows)


def batches(
    intent: UndoIntent, records: Sequence[AuditRecord]
) -> Iterator[tuple[AuditRecord, int, RowsThen]]:
    """The same of what is still to be taken back."""
    for record, before, then in pages(records):
        dealt_with = max(0, intent.rows_before(record.id) - before)
        if intent.wants(record.id) and dealt_with < len(then.rows):
            yield record, before + dealt_with, replace(then, rows=then.rows[dealt_with:])
