"""One action of the audit log as a whole, and the state that it changed."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from streamops.errors import UnexpectedReply
from streamops.model.acting import Action, AuditRecord
from streamops.model.entries import PendingEntry
from streamops.operate.acting.actions import ENDS
from streamops.operate.acting.audit import undo_blobs
from streamops.operate.acting.packing import unpack_values
from streamops.operate.acting.undo_snapshots import unpack_pages


def action_of(records: Sequence[AuditRecord]) -> Action:
    """One action from all its records, oldest first."""
    ends = [record for record in records if record.phase in ENDS]
    return Action(records[0], ends[-1] if ends else None)


class Before(Struct, frozen=True):
    """What an action changed, as it was before.

    Attributes:
        rows: Pending rows.
        facts: Anything else, as the operation packed it: a group's position.
    """

    rows: tuple[PendingEntry, ...]
    facts: tuple[Mapping[str, Any], ...]


def state_before(records: Sequence[AuditRecord]) -> Before:
    """What an action's records tell of the state before; what is not understood is left out."""
    rows: list[PendingEntry] = []
    facts: list[Mapping[str, Any]] = []
    for blob in undo_blobs(records):
        try:
            rows += [row for page in unpack_pages(blob) for row in page.rows]
        except UnexpectedReply:
            facts += plain_values(blob)
    return Before(tuple(rows), tuple(facts))


def plain_values(blob: bytes) -> list[Mapping[str, Any]]:
    """What ``pack`` wrote, as plain values; nothing where it is none of that."""
    try:
        return [unpack_values(blob)]
    except UnexpectedReply:
        return []
