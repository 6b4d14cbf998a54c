"""``nack``: give pending entries back, so that another consumer gets them at once."""

from streamops.model.acting import Plan, Skipped
from streamops.model.pending import PendingChange
from streamops.monitor.context import ServerContext
from streamops.monitor.inspection import group_of, read_stream
from streamops.operations.nack.intent import NackIntent
from streamops.operations.nack.plan import NackEvidence, plan_nack
from streamops.operations.operation import Operation
from streamops.operations.pending_rows import read_members
from streamops.operations.planning import ONE_A_MILLISECOND
from streamops.operations.running import Run
from streamops.operations.undo.intent import undo_rows
from streamops.operations.undo_snapshots import undo_of
from streamops.wire.pending import read_pending_by_id
from streamops.wire.writes.pending import nack

BATCH = 500
WHY_LEFT = {
    "gone": "no longer pending",
    "owner": "owned by another consumer by now",
    "idle": "released already",
    "missing": "its entry no longer exists: the server removed the row",
}


async def survey_nack(place: ServerContext, intent: NackIntent) -> NackEvidence:
    """Read which of the IDs are pending, and whose they are."""
    server = place.server
    reading, identity = await read_stream(server, intent.stream)
    group_of(reading, intent.group)
    if intent.source is not None:
        await read_members(server, intent.stream, intent.group, intent.source)
    ids = list(dict.fromkeys(intent.ids))
    pending = await read_pending_by_id(server, intent.stream, intent.group, ids)
    rows = tuple(row for row in pending if intent.source in {None, row.consumer})
    return NackEvidence(
        identity=identity,
        rows=rows,
        absent=len(ids) - len(pending),
        elsewhere=len(pending) - len(rows),
    )


async def apply_nack(run: Run, intent: NackIntent, evidence: NackEvidence, _: Plan) -> None:
    """Give them back batch by batch."""
    stream, group, position = intent.stream, intent.group, evidence.identity.floor(intent.group)
    async for rows in run.batches(evidence.rows, BATCH):
        told = await nack(run.server, stream, group, rows, position=position, snapshot=run.snapshot)
        await run.report(
            told.count,
            skipped=[Skipped(one.id, WHY_LEFT[one.why]) for one in told.left],
            **undo_of(told.count, told.rows),
        )


NACK = Operation(
    intent=NackIntent,
    survey=survey_nack,
    plan=plan_nack,
    apply=apply_nack,
    writes=("XCLAIM",),
    undo=lambda intent, records: undo_rows(records, intent.stream, intent.group, PendingChange.NACKED),
    undo_snapshot=True,
    groups_a_ms=ONE_A_MILLISECOND,
)
OPERATIONS = (NACK,)
