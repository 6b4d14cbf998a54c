"""``undo``: take an action of the audit log back."""

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import Forbidden, UnexpectedReply
from streamops.model.acting import AuditRecord, Job, Plan, Skipped, Tier
from streamops.model.acts.undo import Done, UndoEvidence, UndoIntent
from streamops.model.entries import PendingEntry
from streamops.model.ids import EntryId
from streamops.model.server import Mode
from streamops.operate.acting.actions import ENDS
from streamops.operate.acting.audit import read_action, undo_blobs
from streamops.operate.acting.operation import Operation, Resolved
from streamops.operate.acting.orphans import gather_orphans
from streamops.operate.acting.packing import unpack_asked
from streamops.operate.acting.place import Place
from streamops.operate.acting.reading import group_of, read_stream
from streamops.operate.acting.run import Run
from streamops.operate.acting.undo_rows import RowsThen
from streamops.operate.operations.aftermath import check_not_begun, read_aftermath, read_all
from streamops.operate.operations.keeping import keeping
from streamops.operate.operations.members import read_members
from streamops.operate.operations.undo_pages import batches, pages
from streamops.plans.crowds import ONE_A_MILLISECOND
from streamops.plans.undo import WHY_REFUSED, plan_undo
from streamops.wire.faults import Fault
from streamops.wire.keys import same_slot, undone_key
from streamops.wire.server import Server
from streamops.wire.writes.restore_rows import ROWS, restore_rows

JOB_FROM = 1_000
SAMPLE = 10
RESTORED = "restored"


def undo_operation(
    find: Callable[[str], Operation[Any, Any] | None], find_for: Callable[[Struct], Operation[Any, Any]]
) -> Operation[UndoIntent, UndoEvidence]:
    """The operation, which has to know all others.

    Args:
        find: An operation by its name; none where there is none.
        find_for: The operation that an intent asks for.
    """

    async def resolve(place: Place, intent: UndoIntent) -> Resolved:
        if intent.done is not None:
            return Resolved(find_for(intent), intent, _undone_by(intent))
        first = (await read_action(place.server, intent.audit_id))[0]
        operation = find(first.operation)
        if operation is None or operation.undo is None:
            raise _for_good(first)
        after = await read_aftermath(place.server, first)
        if undoer := after.undone_by.get(first.id):
            raise Forbidden(f"{_named(first)} was undone already, by {undoer}", "Nothing was done.")
        records = await read_all(place.server, (intent.audit_id, *after.left))
        if not undo_blobs(records):
            raise _nothing_to_undo(records)
        inverse = operation.undo(_asked(operation, first), records)
        acked = isinstance(inverse, UndoIntent) and inverse.done is Done.ACKED
        kept = isinstance(inverse, UndoIntent) and bool(_given_in(place.server, inverse))
        await check_not_begun(place.server, _named(first), after.undoing, acked=acked, kept=kept)
        if not isinstance(inverse, UndoIntent):
            return Resolved(find_for(inverse), inverse, (first.id,))
        inverse = replace(inverse, also=after.left)
        undo = find_for(inverse)
        # How far it came has to be known: what was given back may have been processed, and must not be again.
        return Resolved(replace(undo, job_from=1) if acked else undo, inverse, _undone_by(inverse))

    return Operation(
        name="undo",
        summary="Take an action of the audit log back.",
        intent=UndoIntent,
        survey=survey_undo,
        plan=plan_undo,
        apply=apply_undo,
        writes=lambda intent: (("XCLAIM", intent.stream), *keeping(intent.stream), *_giving(intent)),
        stream=lambda intent: intent.stream,
        job_from=JOB_FROM,
        resume=resume_undo,
        resolve=resolve,
        groups_a_ms=ONE_A_MILLISECOND,
    )


async def survey_undo(place: Place, intent: UndoIntent) -> UndoEvidence:
    """Ask of every row whether it can be given back what it had, without writing."""
    server = place.server
    records = await read_all(server, (intent.audit_id, *intent.also))
    reading, identity = await read_stream(server, intent.stream)
    group_of(reading, intent.group)
    members = {one.name for one in await read_members(server, intent.stream, intent.group)}
    looking = _Looking()
    for _, _, then in batches(intent, records):
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
        ended=all(one[-1].phase in ENDS for one in _by_action(records)),
        restorable=bytes(looking.restorable),
        owners=owners,
        absent_owners=tuple(owner for owner, _ in owners if owner not in members),
        sample=tuple(looking.sample),
        refused=dict(looking.refused),
        refused_sample=tuple(looking.refused_sample),
        recorded=sum(len(then.rows) for _, _, then in pages(records)),
        counted=_counted(records),
    )


async def apply_undo(run: Run, intent: UndoIntent, evidence: UndoEvidence, _: Plan) -> None:
    """Restore the rows that could be when it was planned, batch by batch."""
    position = evidence.identity.floor(intent.group)
    actions = (intent.audit_id, *intent.also)
    await gather_orphans(run.server, run.actor, actions)
    records = await read_all(run.server, actions)
    at = 0
    for record, before, then in batches(intent, records):
        chosen = evidence.restorable[at : at + len(then.rows)]
        at += len(then.rows)
        rows = tuple(compress(then.rows, chosen))
        # Of each of them, how many of the record's rows are dealt with after it.
        ends = tuple(compress(range(before + 1, sys.maxsize), chosen))
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
                cursor=f"{record.id}/{end if rows else before + len(then.rows)}",
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
    """Units that actions did, as each told at its end; without one, those that it planned."""
    return sum(map(_counted_of_one, _by_action(records)))


def _counted_of_one(records: Sequence[AuditRecord]) -> int:
    if (outcome := records[-1].outcome) is not None:
        return outcome.applied
    plan = records[0].plan
    return plan.count if plan is not None else 0


def _by_action(records: Sequence[AuditRecord]) -> list[list[AuditRecord]]:
    actions: dict[str, list[AuditRecord]] = {}
    for record in records:
        actions.setdefault(record.begun_id, []).append(record)
    return [*actions.values()]


def _undone_by(intent: UndoIntent) -> tuple[str, ...]:
    """The actions that an undo takes back."""
    return tuple(map(str, (intent.audit_id, *intent.also)))


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
        given_in=_given_in(server, intent),
    )
    if isinstance(came, Fault):
        raise came.error(f"group {intent.stream}/{intent.group}")
    return came


def _given_in(server: Server, intent: UndoIntent) -> str:
    """Where what is pending again is kept: it may be processed before anybody could tell that it was given back."""
    key = undone_key(intent.stream, str(intent.audit_id))
    beside = intent.done is Done.ACKED and (
        server.options.mode is not Mode.CLUSTER or same_slot(intent.stream, key)
    )
    return key if beside else ""


def _giving(intent: UndoIntent) -> tuple[tuple[str, str], ...]:
    key = undone_key(intent.stream, "none")
    return (("HGET", key), ("HSET", key), ("EXPIRE", key)) if intent.done is Done.ACKED else ()


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


def _nothing_to_undo(records: Sequence[AuditRecord]) -> Forbidden:
    first = records[0]
    if all(one[-1].phase in ENDS for one in _by_action(records)):
        return Forbidden(f"{_named(first)} changed nothing that could be taken back", "Nothing was done.")
    return Forbidden(
        f"{_named(first)} was cut off before it had put anything on record that could be taken back",
        "Nothing was done. Its first batch may have been done all the same: `streamops pending ls` tells what is "
        "pending now.",
    )


def _asked(operation: Operation[Any, Any], first: AuditRecord) -> Struct:
    try:
        asked: Struct = unpack_asked(operation.intent, first.intent)
    except UnexpectedReply:
        raise Forbidden(
            f"{_named(first)} was begun by another version of streamops", "Undo it with that version."
        ) from None
    return asked
