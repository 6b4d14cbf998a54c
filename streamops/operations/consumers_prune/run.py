"""``consumers.prune``: remove consumers that have been idle for long and have nothing pending."""

from datetime import timedelta
from typing import Final

from streamops.errors import SettingsError
from streamops.model.acting import Plan, Skipped
from streamops.monitor.context import ServerContext
from streamops.monitor.inspection import group_of, inspect_stream
from streamops.operations.consumers_prune.intent import PruneConsumersIntent
from streamops.operations.consumers_prune.plan import PruneConsumersEvidence, plan_prune_consumers
from streamops.operations.operation import Operation
from streamops.operations.pending_rows import read_members
from streamops.operations.planning import ONE_A_MILLISECOND
from streamops.operations.running import Run
from streamops.wire.server import Server
from streamops.wire.writes.groups import Pruned, prune_consumers

BATCH: Final = 500
MANY: Final = 2_000
"""With more consumers than this, a script that asks how long each was idle would hold the server too long."""

REASONS: Final = {
    Pruned.GONE: "it is gone",
    Pruned.PENDING: "it has pending entries now",
    Pruned.ACTIVE: "it has been active since",
}


async def survey_prune_consumers(
    place: ServerContext, intent: PruneConsumersIntent
) -> PruneConsumersEvidence:
    """Read the consumers, and judge each by its idle time."""
    if intent.idle <= timedelta(0):
        raise SettingsError("--idle: every consumer is idle for that long", "Give a span such as 1h.")
    look = await inspect_stream(place.server, intent.stream)
    group_of(look.reading, intent.group)
    consumers = await read_members(place.server, intent.stream, intent.group)
    long = sorted(
        (one for one in consumers if one.idle >= intent.idle), key=lambda one: one.idle, reverse=True
    )
    return PruneConsumersEvidence(
        identity=look.identity,
        idle=tuple(one for one in long if not one.pending),
        kept=tuple(one for one in long if one.pending),
        active=len(consumers) - len(long),
        replica=look.server.is_replica,
        polls_are_seen=look.server.sees_polls,
    )


async def apply_prune_consumers(
    run: Run, intent: PruneConsumersIntent, evidence: PruneConsumersEvidence, _: Plan
) -> None:
    """Remove them batch by batch, each only if it is still so."""
    names = [consumer.name for consumer in evidence.idle]
    many = len(evidence.idle) + len(evidence.kept) + evidence.active > MANY
    floor = evidence.identity.floor(intent.group)
    async for batch in run.batches(names, BATCH):
        active = await _active(run.server, intent) if many else frozenset()
        idle = [name for name in batch if name not in active]
        became = await prune_consumers(
            run.server, intent.stream, intent.group, idle, floor=floor, idle=None if many else intent.idle
        )
        skipped = [
            Skipped(name, REASONS[one]) for name, one in zip(idle, became, strict=True) if one in REASONS
        ]
        skipped += [Skipped(name, REASONS[Pruned.ACTIVE]) for name in batch if name in active]
        await run.report(len(batch) - len(skipped), skipped=skipped)


async def _active(server: Server, intent: PruneConsumersIntent) -> frozenset[str]:
    """Who is not idle any more: asked for right before, if it is too much for the script."""
    consumers = await read_members(server, intent.stream, intent.group)
    return frozenset(one.name for one in consumers if one.idle < intent.idle)


PRUNE_CONSUMERS = Operation(
    intent=PruneConsumersIntent,
    survey=survey_prune_consumers,
    plan=plan_prune_consumers,
    apply=apply_prune_consumers,
    writes=("XGROUP DELCONSUMER",),
    groups_a_ms=ONE_A_MILLISECOND,
)
OPERATIONS = (PRUNE_CONSUMERS,)
