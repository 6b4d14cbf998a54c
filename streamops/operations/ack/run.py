"""``ack``: acknowledge pending entries by their IDs."""

from streamops.model.acting import Plan, Skipped
from streamops.monitor.context import ServerContext
from streamops.monitor.inspection import group_of, read_stream
from streamops.operations.ack.intent import AckIntent
from streamops.operations.ack.plan import AckEvidence, plan_ack
from streamops.operations.operation import Operation
from streamops.operations.planning import ONE_A_MILLISECOND
from streamops.operations.running import Run
from streamops.wire.pending import read_pending_by_id
from streamops.wire.reads import read_existing
from streamops.wire.writes.pending import LeftRow, ack

BATCH = 500


async def survey_ack(place: ServerContext, intent: AckIntent) -> AckEvidence:
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
    position = evidence.identity.floor(intent.group)
    async for rows in run.batches(evidence.rows, BATCH):
        told = await ack(run.server, intent.stream, intent.group, rows, position=position)
        skipped = [Skipped(one.id, _why_left(one)) for one in told.left]
        await run.report(told.count, skipped=skipped)


def _why_left(one: LeftRow) -> str:
    if one.why == "owner":
        return f"now owned by {one.owner or 'no consumer'}"
    return "delivered again since" if one.why == "delivered" else "no longer pending"


ACK = Operation(
    intent=AckIntent,
    survey=survey_ack,
    plan=plan_ack,
    apply=apply_ack,
    writes=("XACK",),
    groups_a_ms=ONE_A_MILLISECOND,
)
OPERATIONS = (ACK,)
