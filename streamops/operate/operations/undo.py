"""``undo``: take an action of the audit log back."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import Forbidden
from streamops.model.acting import AuditPhase, AuditRecord, Job, JobState, Plan, Skipped, Tier
from streamops.model.acts.undo import Done, UndoEvidence, UndoIntent
from streamops.model.entries import PendingEntry
from streamops.model.ids import EntryId
from streamops.operate.acting.audit import PAGE, read_action, read_audit, undo_blobs, undone_action
from streamops.operate.acting.operation import Operation, Resolved
from streamops.operate.acting.packing import unpack
from streamops.operate.acting.place import Place
from streamops.operate.acting.reading import group_of, read_stream
from streamops.operate.acting.run import Run
from streamops.operate.acting.undo_rows import RowsThen, unpack_rows
from streamops.operate.operations.members import read_members
from streamops.plans.undo import WHY_REFUSED, plan_undo
from streamops.wire.faults import Fault
from streamops.wire.server import Server
from streamops.wire.writes.jobs import list_jobs, read_jobs
from streamops.wire.writes.restore_rows import ROWS, restore_rows

JOB_FROM = 1_000
SAMPLE = 10
RESTORED = "restored"
JOBS_LOOKED_AT = 1_000
UNFINISHED = frozenset({JobState.RUNNING, JobState.INTERRUPTED})


def undo_operation(
    find: Callable[[str], Operation[Any, Any] | None], find_for: Callable[[Struct], Operation[Any, Any]]
) -> Operation[UndoIntent, UndoEvidence]:
    """The operation, which has to know all others.

    Args:
        find: An operation by its name; none where there is none.
        find_for: The operation that an intent asks for.
    """

    async def resolve(place: Place, intent: UndoIntent) -> Resolved:
        undoes = str(intent.audit_id)
        if intent.done is not None:
            return Resolved(find_for(intent), intent, undoes)
        records = await read_action(place.server, intent.audit_id)
        operation = find(records[0].operation)
        if operation is None or operation.undo is None:
            raise _for_good(records[0])
        begun = await _check_not_undone(place.server, records)
        if not undo_blobs(records):
            raise Forbidden(
                f"{_named(records[0])} changed nothing that could be taken back", "Nothing was done."
            )
        inverse = operation.undo(_asked(operation, records[0]), records)
        if begun:
            await _check_not_begun(place.server, records[0], inverse, begun)
        return Resolved(find_for(inverse), inverse, undoes)

    return Operation(
        name="undo",
        summary="Take an action of the audit log back.",
        intent=UndoIntent,
        survey=survey_undo,
        plan=plan_undo,
        apply=apply_undo,
        writes=lambda intent: (("XCLAIM", intent.stream),),
        stream=lambda intent: intent.stream,
        job_from=JOB_FROM,
        resume=resume_undo,
        resolve=resolve,
    )


async def survey_undo(place: Place, intent: UndoIntent) -> UndoEvidence:
    """Ask of every row whether it can be given back what it had, without writing."""
    server = place.server
    records = await read_action(server, intent.audit_id)
    reading, identity = await read_stream(server, intent.stream)
    group_of(reading, intent.group)
    members = {one.name for one in await read_members(server, intent.stream, intent.group)}
    looking = _Looking()
    for _, then in _batches(intent, records):
        rows = then.rows
        while rows:
            came = await _restore(
                server, intent, then, rows[:ROWS], identity.floor(intent.group), writes=False
            )
            looking.add(rows, came)
            rows = rows[len(came) :]
    first = records[0]
    owners = tuple(looking.owners.most_common())
    return UndoEvidence(
        identity=identity,
        operation=first.operation,
        at=first.at,
        by=str(first.actor),
        ended=records[-1].phase in {AuditPhase.DONE, AuditPhase.FAILED},
        restorable=bytes(looking.restorable),
        owners=owners,
        absent_owners=tuple(owner for owner, _ in owners if owner not in members),
        sample=tuple(looking.sample),
        refused=dict(looking.refused),
        refused_sample=tuple(looking.refused_sample),
        recorded=sum(len(unpack_rows(record.undo).rows) for record in records if record.undo),
        counted=_counted(records),
    )


async def apply_undo(run: Run, intent: UndoIntent, evidence: UndoEvidence, _: Plan) -> None:
    """Restore the rows that could be when it was planned, batch by batch."""
    position = evidence.identity.floor(intent.group)
    records = await read_action(run.server, intent.audit_id)
    at = 0
    for record, then in _batches(intent, records):
        chosen = evidence.restorable[at : at + len(then.rows)]
        at += len(then.rows)
        rows = tuple(compress(then.rows, chosen))
        # Of each of them, how many of the record's rows are dealt with after it.
        ends = tuple(compress(range(intent.rows_before(record.id) + 1, sys.maxsize), chosen))
        while rows and (most := await run.batch_size(ROWS)):
            came = await _restore(run.server, intent, then, rows[:most], position, writes=True)
            done, rows = rows[: len(came)], rows[len(came) :]
            end, ends = ends[len(came) - 1], ends[len(came) :]
            skipped = [
                Skipped(str(row.id), WHY_REFUSED[why])
                for row, why in zip(done, came, strict=True)
                if why != RESTORED
            ]
            # What is told too late would be given out a second time by whoever goes on with the job.
            await run.report(
                len(came) - len(skipped),
                skipped=skipped,
                cursor=f"{record.id}/{end}" if rows else record.id,
                at_once=True,
            )


def resume_undo(intent: UndoIntent, job: Job) -> UndoIntent:
    """The rest of an interrupted undo.

    The cursor is the last record of the log that was dealt with, and how many of its rows, where not all.
    """
    if not job.cursor:
        return intent
    after, _, rows = job.cursor.partition("/")
    return replace(intent, after=EntryId.parse(after), within=int(rows) if rows else None)


def _counted(records: Sequence[AuditRecord]) -> int:
    """Units that an action did, as it told at its end; without one, those that it planned."""
    if (outcome := records[-1].outcome) is not None:
        return outcome.applied
    plan = records[0].plan
    return plan.count if plan is not None else 0


class _Looking:
    def __init__(self) -> None:
        self.restorable = bytearray()
        self.owners: Counter[str] = Counter()
        self.sample: list[PendingEntry] = []
        self.refused: Counter[str] = Counter()
        self.refused_sample: list[tuple[str, str]] = []

    def add(self, rows: Sequence[PendingEntry], came: Sequence[str]) -> None:
        for row, what in zip(rows, came, strict=False):
            self.restorable.append(what == RESTORED)
            if what == RESTORED:
                self.owners[row.consumer] += 1
                if len(self.sample) < SAMPLE:
                    self.sample.append(row)
            else:
                self.refused[what] += 1
                if len(self.refused_sample) < SAMPLE:
                    self.refused_sample.append((str(row.id), what))


def _batches(intent: UndoIntent, records: Sequence[AuditRecord]) -> Iterator[tuple[AuditRecord, RowsThen]]:
    for record in records:
        if record.undo and intent.wants(record.id):
            then = unpack_rows(record.undo)
            yield record, replace(then, rows=then.rows[intent.rows_before(record.id) :])


async def _restore(
    server: Server,
    intent: UndoIntent,
    then: RowsThen,
    rows: Sequence[PendingEntry],
    position: EntryId | None,
    *,
    writes: bool,
) -> list[str]:
    came = await restore_rows(
        server,
        intent.stream,
        intent.group,
        rows,
        done=intent.done or Done.CLAIMED,
        holder=intent.holder,
        at=then.at,
        position=position,
        writes=writes,
    )
    if isinstance(came, Fault):
        raise came.error(f"group {intent.stream}/{intent.group}")
    return came


def _for_good(first: AuditRecord) -> Forbidden:
    plan = first.plan
    lost = f"Lost for good: {plan.loses} " if plan is not None and plan.loses else ""
    backed_up = plan is not None and plan.tier is Tier.LOSES
    hint = (
        "Where there is a backup, `streamops restore FILE` adds its entries again."
        if backed_up
        else "`streamops audit ls` tells what was done; act again to change it."
    )
    return Forbidden(f"{_named(first)} cannot be undone", f"{lost}{hint}")


def _named(first: AuditRecord) -> str:
    return f"action {first.id} ({first.operation} {first.target})"


async def _check_not_undone(server: Server, records: Sequence[AuditRecord]) -> dict[str, bool]:
    """The actions that began to take it back, each with whether it has no end.

    Raises:
        Forbidden: One of them took it back already.
    """
    first, start = records[0], EntryId.parse(records[-1].id)
    open_ended: dict[str, bool] = {}
    while True:
        page = await read_audit(server, start=start, count=PAGE)
        for record in page:
            if undone_action(record) == first.id:
                raise Forbidden(
                    f"{_named(first)} was undone already, by {record.begun_id}", "Nothing was done."
                )
            if record.undoes == first.id or record.begun_id in open_ended:
                open_ended[record.begun_id] = record.phase is AuditPhase.BEGUN
        if len(page) < PAGE:
            return open_ended
        start = EntryId.parse(page[-1].id).next()


async def _check_not_begun(
    server: Server, first: AuditRecord, inverse: Struct, open_ended: Mapping[str, bool]
) -> None:
    """Raises ``Forbidden`` where an undo that was begun should be gone on with.

    Acknowledged entries that it gave back may have been processed since: a second undo would not know, and give
    them out again. Of claims and nacks the rows themselves tell.
    """
    ids = await list_jobs(server, JOBS_LOOKED_AT)
    for job in [] if isinstance(ids, Fault) else await read_jobs(server, ids):
        if isinstance(job, Job) and job.audit_id in open_ended and job.state in UNFINISHED:
            raise Forbidden(
                f"{_named(first)} is being undone, by {job.audit_id}, and that has not come to its end",
                f"Nothing was done. `streamops jobs resume {job.id}` goes on with it.",
            )
    again = isinstance(inverse, UndoIntent) and inverse.done is Done.ACKED
    if again and (cut_off := [begun for begun, without_end in open_ended.items() if without_end]):
        raise Forbidden(
            f"{_named(first)} was begun to be undone, by {cut_off[-1]}, and how far that came is not known",
            f"Nothing was done. `streamops audit ls --id {cut_off[-1]}` tells what it was about to do.",
        )


def _asked(operation: Operation[Any, Any], first: AuditRecord) -> Struct:
    try:
        asked: Struct = unpack(operation.intent, first.intent)
    except msgspec.MsgspecError:
        raise Forbidden(
            f"{_named(first)} was begun by another version of streamops", "Undo it with that version."
        ) from None
    return asked
