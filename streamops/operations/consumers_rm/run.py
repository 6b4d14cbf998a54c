"""``consumers.rm``: hand a consumer's pending entries over, and remove it once it has none."""

from typing import Final

from streamops.errors import StalePlan
from streamops.model.acting import Plan, Skipped
from streamops.model.pending import PendingChange
from streamops.model.wording import counted
from streamops.monitor.context import ServerContext
from streamops.monitor.inspection import group_of, inspect_stream
from streamops.operations.consumers_rm.intent import RemoveConsumerIntent
from streamops.operations.consumers_rm.plan import RemoveConsumerEvidence, plan_remove_consumer
from streamops.operations.operation import Operation, Writes
from streamops.operations.pending_rows import note_gone, read_members, unhandled_of
from streamops.operations.planning import ONE_A_MILLISECOND, SAMPLE
from streamops.operations.running import Run
from streamops.operations.undo.intent import undo_rows
from streamops.operations.undo_snapshots import undo_of
from streamops.wire.pending import PendingRange, read_pending_page
from streamops.wire.writes.groups import remove_consumer
from streamops.wire.writes.pending import hand_over

BATCH: Final = 250
GONE: Final = "its entry no longer exists; the server removed its row"


async def survey_remove_consumer(
    place: ServerContext, intent: RemoveConsumerIntent
) -> RemoveConsumerEvidence:
    """Read the consumer and the first of its pending rows."""
    server = place.server
    look = await inspect_stream(server, intent.stream)
    group_of(look.reading, intent.group)
    consumers = await read_members(server, intent.stream, intent.group, intent.consumer)
    first = PendingRange(intent.stream, intent.group, None, SAMPLE, intent.consumer)
    return RemoveConsumerEvidence(
        identity=look.identity,
        consumer=next(one for one in consumers if one.name == intent.consumer),
        sample=await read_pending_page(server, first),
        to_exists=any(one.name == intent.to for one in consumers),
        polls_are_seen=look.server.sees_polls,
    )


async def apply_remove_consumer(
    run: Run, intent: RemoveConsumerIntent, evidence: RemoveConsumerEvidence, plan: Plan
) -> None:
    """Hand its rows over batch by batch, then remove it."""
    floor = evidence.identity.floor(intent.group)
    if evidence.consumer.pending and intent.to is not None:
        await _hand_over(run, intent, evidence, to=intent.to, most=plan.count)
    removed = await remove_consumer(run.server, intent.stream, intent.group, intent.consumer, floor=floor)
    if not removed:
        raise StalePlan(
            f"{_name(intent)} has read entries since the plan was made: it is active",
            "It was not removed. Stop it, and make a new plan.",
        )
    if not evidence.consumer.pending:
        await run.report(1)


async def _hand_over(
    run: Run, intent: RemoveConsumerIntent, evidence: RemoveConsumerEvidence, *, to: str, most: int
) -> None:
    floor = evidence.identity.floor(intent.group)
    unhandled = unhandled_of(intent.stream, intent.group, (evidence.consumer,))
    after = None
    while size := await run.batch_size(BATCH):
        batch = await hand_over(
            run.server,
            intent.stream,
            intent.group,
            floor=floor,
            source=intent.consumer,
            target=to,
            after=after,
            count=size,
            most=most if after is None else None,
            snapshot=run.snapshot,
        )
        if batch.last_id is None:
            run.note(f"{counted(run.remaining, 'entry', 'entries')} acknowledged or claimed since the plan.")
            return
        after = batch.last_id
        moved = batch.changed
        await note_gone(run, unhandled, moved.missing)
        skipped = [Skipped(one, GONE) for one in moved.missing]
        await run.report(moved.count, skipped=skipped, **undo_of(moved.count, moved.rows))


def _name(intent: RemoveConsumerIntent) -> str:
    return f"consumer {intent.stream}/{intent.group}/{intent.consumer}"


def _writes(intent: RemoveConsumerIntent) -> Writes:
    claims = () if intent.to is None else (("XCLAIM", intent.stream),)
    return (*claims, ("XGROUP DELCONSUMER", intent.stream))


REMOVE_CONSUMER = Operation(
    intent=RemoveConsumerIntent,
    survey=survey_remove_consumer,
    plan=plan_remove_consumer,
    apply=apply_remove_consumer,
    writes=_writes,
    undo=lambda intent, records: undo_rows(
        records, intent.stream, intent.group, PendingChange.CLAIMED, intent.to or ""
    ),
    undo_snapshot=True,
    groups_a_ms=ONE_A_MILLISECOND,
)
OPERATIONS = (REMOVE_CONSUMER,)
