"""Rows that scripts keep beside a stream as they were, until the audit log has them: where, and how many a record."""

from collections.abc import Iterator, Sequence
from typing import Final

from streamops.model.server import Mode
from streamops.wire.keys import same_slot, undo_key
from streamops.wire.server import Server
from streamops.wire.writes.kept_rows import KeptPage

RECORD_BYTES: Final = 1 << 18
"""Rows of one record at most, before they are compressed to an eighth or a quarter of that."""


def kept_beside(server: Server, stream: str, action: str) -> str:
    """The key; empty where there is no stream, or where a script could not touch both together."""
    key = undo_key(stream, action) if stream else ""
    return key if server.options.mode is not Mode.CLUSTER or same_slot(stream, key) else ""


def in_records(pages: Sequence[KeptPage]) -> Iterator[list[KeptPage]]:
    """Pages as records hold them: as many as one has room for, and at least one."""
    record: list[KeptPage] = []
    size = 0
    for page in pages:
        if record and size + len(page.rows) > RECORD_BYTES:
            yield record
            record, size = [], 0
        record.append(page)
        size += len(page.rows)
    if record:
        yield record
