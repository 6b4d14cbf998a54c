"""``ack``: acknowledge pending entries by their IDs."""

from collections.abc import Sequence

from streamops.model.acting import AuditRecord, Plan, Skipped
from streamops.model.acts.ack import AckEvidence, AckIntent
from streamops.model.acts.undo import Done, UndoIntent
from streamops.model.ids import EntryId
from streamops.operate.acting.operation import Operation
from streamops.operate.acting.place import Place
from streamops.operate.acting.reading import group_of, read_stream
from streamops.operate.acting.run import Run
from streamops.operate.operations.keeping import keeping, undo_of
from streamops.plans.ack import plan_ack
from streamops.plans.crowds import ONE_A_MILLISECOND
from streamops.wire.faults import Fault
from streamops.wire.reads import read_existing, read_pending_by_id
from streamops.wire.writes.ack import LeftAlone, ack

BATCH = 500


async def survey_ack(place: Place, intent: AckIntent) -> AckEvidence:
    """Read which of the IDs are pending, and which entries still exist."""
    server = place.server
    reading, identity = await read_stream(server, intent.stream)
    group_of(reading, intent.group)
    ids = list(dict.fromkeys(intent.ids))
    rows = await read_pending_by_id(server, intent.stream, intent.group, ids)
    existing = await read_existing(server, intent.stream, [row.id for row in rows])
    others = tuple(group.name for group in reading.groups if group.name != intent.group)
    return AckEvidence(identity, tuple(rows), frozenset(existing), others)


async def apply_ack(run: Run, intent: AckIntent, evidence: AckEvidence, _: Plan) -> None:
    """Acknowledge them batch by batch."""
    rows, position = evidence.rows, evidence.identity.floor(intent.group)
    while rows:
        size = await run.batch_size(BATCH)
        batch, rows = rows[:size], rows[size:]
        told = await ack(
            run.server, intent.stream, intent.group, batch, position=position, kept_in=run.kept_in
        )
        if isinstance(told, Fault):
            raise told.error(f"group {intent.stream}/{intent.group}")
        skipped = [Skipped(one.id, _why_left(one)) for one in told.alone]
        await run.report(told.count, skipped=skipped, **undo_of(told.count, told.rows))


def _why_left(one: LeftAlone) -> str:
    if one.why == "owner":
        return f"now owned by {one.owner or 'nobody'}"
    return "delivered again since" if one.why == "delivered" else "no longer pending"


def undo_ack(intent: AckIntent, records: Sequence[AuditRecord]) -> UndoIntent:
    """Make them pending again."""
    return UndoIntent(
        audit_id=EntryId.parse(records[0].id), stream=intent.stream, group=intent.group, done=Done.ACKED
    )


ACK = Operation(
    name="ack",
    summary="Acknowledge pending entries by ID.",
    intent=AckIntent,
    survey=survey_ack,
    plan=plan_ack,
    apply=apply_ack,
    writes=lambda intent: (("XACK", intent.stream), *keeping(intent.stream)),
    stream=lambda intent: intent.stream,
    undo=undo_ack,
    keeps_rows=True,
    groups_a_ms=ONE_A_MILLISECOND,
)
