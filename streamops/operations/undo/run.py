"""``undo``: take an action of the audit log back whose inverse is exact."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import compress
from typing import Any

from streamops.errors import Forbidden
from streamops.model.acting import AuditRecord, Impact, OperationIntent, Plan, Skipped
from streamops.model.effects import WHY_REFUSED
from streamops.model.entries import EntryId, PendingEntry
from streamops.model.pending import PendingChange
from streamops.monitor.context import ServerContext
from streamops.monitor.inspection import group_of, read_stream
from streamops.operations.audit import ENDS, PAGE, read_action, read_audit, undo_blobs, undone_actions
from streamops.operations.operation import Operation
from streamops.operations.packing import unpack_asked
from streamops.operations.pending_rows import read_members
from streamops.operations.planning import ONE_A_MILLISECOND
from streamops.operations.registry import OPERATIONS as ALL_OPERATIONS
from streamops.operations.running import Run
from streamops.operations.undo.intent import UndoIntent
from streamops.operations.undo.plan import UndoEvidence, plan_undo
from streamops.operations.undo_snapshots import RowsThen, snapshot_writes, unpack_pages
from streamops.wire.server import Server
from streamops.wire.writes.audit import ROWS, restore_rows

SAMPLE = 10
RESTORED = "restored"


async def resolve_undo(
    place: ServerContext, intent: UndoIntent
) -> tuple[Operation[Any, Any], OperationIntent, tuple[str, ...]]:
    """The inverse of the action, from its records; raises ``Forbidden`` if it has none or was undone already."""
    records = await read_action(place.server, intent.audit_id)
    first = records[0]
    operation = ALL_OPERATIONS.get(first.operation)
    if operation is None or operation.undo is None:
        raise _for_good(first)
    if undoer := await _undoer(place.server, first):
        raise Forbidden(f"{_named(first)} was undone already, by {undoer}", "Nothing was done.")
    if not undo_blobs(records):
        raise _nothing_to_undo(records)
    asked = unpack_asked(operation.intent, first.intent, _named(first), "Undo it with that version.")
    inverse = operation.undo(asked, records)
    return ALL_OPERATIONS.of(inverse), inverse, (first.id,)


async def survey_undo(place: ServerContext, intent: UndoIntent) -> UndoEvidence:
    """Ask of every row whether it can be given back what it had, without writing."""
    server = place.server
    records = await read_action(server, intent.audit_id)
    reading, identity = await read_stream(server, intent.stream)
    group_of(reading, intent.group)
    members = {one.name for one in await read_members(server, intent.stream, intent.group)}
    looking = _Looking()
    for then in _pages(records):
        for at in range(0, len(then.rows), ROWS):
            rows = then.rows[at : at + ROWS]
            looking.add(rows, await _restore(server, intent, then.at, rows, identity.floor(intent.group)))
    first, last = records[0], records[-1]
    planned = first.plan.count if first.plan is not None else 0
    owners = tuple(looking.owners.most_common())
    return UndoEvidence(
        identity=identity,
        operation=first.operation,
        at=first.at,
        by=str(first.actor),
        ended=last.phase in ENDS,
        restorable=bytes(looking.restorable),
        owners=owners,
        absent_owners=tuple(owner for owner, _ in owners if owner not in members),
        sample=tuple(looking.sample),
        refused=dict(looking.refused),
        refused_sample=tuple(looking.refused_sample),
        recorded=len(looking.restorable),
        counted=planned if last.outcome is None else last.outcome.applied,
    )


async def apply_undo(run: Run, intent: UndoIntent, evidence: UndoEvidence, _: Plan) -> None:
    """Restore the rows that could be when it was planned, batch by batch."""
    position = evidence.identity.floor(intent.group)
    at = 0
    for then in _pages(await read_action(run.server, intent.audit_id)):
        rows = tuple(compress(then.rows, evidence.restorable[at : at + len(then.rows)]))
        at += len(then.rows)
        async for done in run.batches(rows, ROWS):
            came = await _restore(run.server, intent, then.at, done, position, writes=True)
            skipped = [
                Skipped(str(row.id), WHY_REFUSED[why])
                for row, why in zip(done, came, strict=True)
                if why != RESTORED
            ]
            await run.report(len(came) - len(skipped), skipped=skipped)


def _pages(records: Sequence[AuditRecord]) -> Iterator[RowsThen]:
    """The pages of rows that an action changed, as the audit log has them.

    Each once: a process killed right after recording pages has also left them in the snapshot's hash.
    """
    seen = set[tuple[datetime, EntryId]]()
    for blob in undo_blobs(records):
        for then in unpack_pages(blob):
            if then.rows and (page := (then.at, then.rows[0].id)) not in seen:
                seen.add(page)
                yield then


async def _undoer(server: Server, first: AuditRecord) -> str:
    """The action that took one back; empty if none did."""
    start = EntryId.parse(first.id).next()
    while True:
        page = await read_audit(server, start=start, count=PAGE)
        for record in page:
            if first.id in undone_actions(record):
                return record.begun_id
        if len(page) < PAGE:
            return ""
        start = EntryId.parse(page[-1].id).next()


class _Looking:
    def __init__(self) -> None:
        self.restorable = bytearray()
        self.owners: Counter[str] = Counter()
        self.sample: list[PendingEntry] = []
        self.refused: Counter[str] = Counter()
        self.refused_sample: list[tuple[str, str]] = []

    def add(self, rows: Sequence[PendingEntry], came: Sequence[str]) -> None:
        for row, what in zip(rows, came, strict=True):
            self.restorable.append(what == RESTORED)
            if what == RESTORED:
                self.owners[row.consumer] += 1
                if len(self.sample) < SAMPLE:
                    self.sample.append(row)
            else:
                self.refused[what] += 1
                if len(self.refused_sample) < SAMPLE:
                    self.refused_sample.append((str(row.id), what))


async def _restore(
    server: Server,
    intent: UndoIntent,
    at: datetime,
    rows: Sequence[PendingEntry],
    position: EntryId | None,
    *,
    writes: bool = False,
) -> list[str]:
    return await restore_rows(
        server,
        intent.stream,
        intent.group,
        rows,
        done=intent.done or PendingChange.CLAIMED,
        holder=intent.holder,
        at=at,
        position=position,
        writes=writes,
    )


def _for_good(first: AuditRecord) -> Forbidden:
    plan = first.plan
    lost = f"Lost for good: {plan.loses} " if plan is not None and plan.loses else ""
    hint = "`streamops audit ls` shows what was done; act again to change it."
    if plan is not None and plan.impact is Impact.DESTRUCTIVE:
        hint = "Where there is a backup of entries, `streamops restore FILE` adds them again."
    elif plan is not None and plan.opposite:
        hint = f"`{plan.opposite}` reverses it."
    return Forbidden(f"{_named(first)} cannot be undone", f"{lost}{hint}")


def _named(first: AuditRecord) -> str:
    return f"action {first.id} ({first.operation} {first.target})"


def _nothing_to_undo(records: Sequence[AuditRecord]) -> Forbidden:
    first = records[0]
    if records[-1].phase in ENDS:
        return Forbidden(f"{_named(first)} changed nothing that could be undone", "Nothing was done.")
    return Forbidden(
        f"{_named(first)} was interrupted before it had recorded anything that could be undone",
        "Nothing was done. Its first batch may have been applied: `streamops pending ls` shows what is pending now.",
    )


UNDO = Operation(
    intent=UndoIntent,
    survey=survey_undo,
    plan=plan_undo,
    apply=apply_undo,
    writes=lambda intent: (("XCLAIM", intent.stream), *snapshot_writes(intent.stream)),
    resolve=resolve_undo,
    groups_a_ms=ONE_A_MILLISECOND,
)
OPERATIONS = (UNDO,)
