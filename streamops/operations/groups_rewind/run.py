"""``groups.rewind``: set a group back or forward."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from streamops.errors import Forbidden, NotFound, Refused, StalePlan
from streamops.model.acting import AuditRecord, Plan
from streamops.model.entries import EPOCH, ZERO_ID, Amount, EntryId
from streamops.model.streams import GroupReading
from streamops.monitor.context import ServerContext
from streamops.monitor.inspection import (
    StreamInspection,
    count_between,
    entries_read_at,
    group_of,
    inspect_stream,
    lag_of,
)
from streamops.operations.audit import undo_blobs
from streamops.operations.groups_rewind.intent import RewindGroupIntent
from streamops.operations.groups_rewind.plan import (
    FormerPosition,
    Overlap,
    RewindGroupEvidence,
    plan_rewind_group,
)
from streamops.operations.operation import Operation
from streamops.operations.packing import pack, unpack
from streamops.operations.planning import ONE_A_MILLISECOND
from streamops.operations.running import Run
from streamops.operations.walking import position_before
from streamops.wire.pending import PendingRange, pending_pages, read_pending_summary
from streamops.wire.server import Server
from streamops.wire.writes.groups import set_group

GROWN: Final = 500
"""Entries delivered since the plan that the script walks over itself; more are counted from here."""

GROWN_BYTES: Final = 4 << 20
ATTEMPTS: Final = 20
PAGE: Final = 1_000
SCANNED: Final = 1_000_000
"""Pending rows that are looked at; if there are more, they are only partly told."""


async def survey_rewind_group(place: ServerContext, intent: RewindGroupIntent) -> RewindGroupEvidence:
    """Find the position that is meant, and what lies between."""
    server = place.server
    look = await inspect_stream(server, intent.stream)
    group = group_of(look.reading, intent.group)
    end = look.reading.last_generated_id
    if end is None:
        raise Refused(
            f"stream {intent.stream}: its last ID cannot be read",
            "XINFO STREAM is not permitted to this user; `streamops doctor --acl operator` prints what is needed.",
        )
    position, target = group.last_delivered_id, await _target(server, look, group, intent, end)
    between = await count_between(server, look, min(position, target), max(position, target))
    overlap = Overlap()
    if target < position:
        overlap = await _read_overlap(server, intent.stream, intent.group, target, position)
    counter = intent.entries_read
    if counter is None and between.upper:
        counter = await _counter(server, look, group, target, between)
    return RewindGroupEvidence(
        identity=look.identity,
        position=position,
        target=target,
        last_generated_id=end,
        between=between,
        overlap=overlap,
        entries_read=counter,
        consumers=group.consumers,
        other_groups=look.others(intent.group),
    )


async def apply_rewind_group(
    run: Run, intent: RewindGroupIntent, evidence: RewindGroupEvidence, plan: Plan
) -> None:
    """Set it, after counting what was delivered since the plan was made."""
    name = f"group {intent.stream}/{intent.group}"
    counted_to, total = evidence.position, plan.count
    back = evidence.target < evidence.position
    for _ in range(ATTEMPTS):
        told = await set_group(
            run.server,
            intent.stream,
            intent.group,
            floor=evidence.position,
            target=evidence.target,
            entries_read=evidence.entries_read,
            back=back,
            counted_to=counted_to,
            most_grown=max(0, min(GROWN, run.most - total)),
            most_bytes=GROWN_BYTES,
            snapshot=run.snapshot,
        )
        if told.before is not None:
            if told.grown + total > plan.count:
                run.note(
                    f"The group had read on: {told.grown + total:,} entries are delivered again, not {plan.count:,}."
                )
            former = FormerPosition(told.before.at, told.before.entries_read, back)
            await run.report(total + told.grown, undo=b"" if run.snapshot else pack(former))
            return
        look = await inspect_stream(run.server, intent.stream)
        total += (await count_between(run.server, look, counted_to, told.at)).upper
        counted_to = told.at
        if total > run.most:
            raise StalePlan(
                f"{name} has read on: more than {run.most:,} entries would be delivered again",
                "Nothing was done. Stop its consumers first, or make a new plan that allows more.",
            )
    raise StalePlan(f"{name} moves faster than it can be counted", "Nothing was done. Stop its consumers.")


def undo_rewind_group(intent: RewindGroupIntent, records: Sequence[AuditRecord]) -> RewindGroupIntent:
    """Set it to where it stood."""
    former = unpack(FormerPosition, undo_blobs(records)[-1])
    return RewindGroupIntent(
        stream=intent.stream,
        group=intent.group,
        to_id=former.position,
        undoing=former.back,
        entries_read=former.entries_read,
    )


async def _target(
    server: Server, look: StreamInspection, group: GroupReading, intent: RewindGroupIntent, end: EntryId
) -> EntryId:
    if intent.to_start:
        return ZERO_ID
    if intent.to_end:
        return end
    if intent.back is not None:
        return await position_before(server, look, group.last_delivered_id, intent.back)
    if intent.to_time is not None:
        return min(end, _before(_instant(intent.to_time, look.now)))
    if intent.to_id is None:
        raise AssertionError("an intent without a position validates itself")
    if intent.undoing and group.last_delivered_id >= intent.to_id:
        return group.last_delivered_id
    if intent.to_id > end:
        raise Forbidden(
            f"stream {intent.stream} ends at {end}: at {intent.to_id} the group would not be delivered what comes next",
            "Give an ID up to that one, or --to-end.",
        )
    return intent.to_id


def _instant(given: datetime | timedelta, now: datetime | None) -> datetime:
    if isinstance(given, datetime):
        return given
    if now is None:
        raise NotFound(
            "the server's clock cannot be read, so how long ago that was is unknown",
            "Give an instant: --to-time 2026-03-01T14:00:00Z.",
        )
    try:
        return now - given
    except OverflowError:
        return EPOCH


def _before(instant: datetime) -> EntryId:
    """The position from which everything added since an instant is given."""
    ms = max(0, (instant - EPOCH) // timedelta(milliseconds=1))
    return EntryId(ms, 0).previous() if ms else ZERO_ID


async def _counter(
    server: Server, look: StreamInspection, group: GroupReading, target: EntryId, between: Amount
) -> int | None:
    """The server's counter at the target, by counting only what has to be."""
    lag = lag_of(look, group)
    if lag.exact and between.exact:
        change = between.upper if target < group.last_delivered_id else -between.upper
        ahead = lag.upper + change
        return await entries_read_at(server, look, target, Amount(ahead, ahead))
    return await entries_read_at(server, look, target)


async def _read_overlap(server: Server, stream: str, group: str, after: EntryId, until: EntryId) -> Overlap:
    """The pending rows after one ID and not after another; raises ``ServerError`` if they cannot be read."""
    pending, smallest, greatest, owners = await read_pending_summary(server, stream, group)
    if smallest is None or greatest is None or smallest > until or greatest <= after:
        return Overlap()
    if smallest > after and greatest <= until:
        return Overlap(pending, _most_first(dict(owners)))
    return await _count_overlap(server, stream, group, after, until)


async def _count_overlap(server: Server, stream: str, group: str, after: EntryId, until: EntryId) -> Overlap:
    found: Counter[str] = Counter()
    scanned = 0
    async for rows in pending_pages(server, PendingRange(stream, group, after, PAGE)):
        if scanned >= SCANNED:
            return Overlap(found.total(), _most_first(found), complete=False)
        found.update(row.consumer for row in rows if row.id <= until)
        scanned += len(rows)
        if rows[-1].id >= until:
            break
    return Overlap(found.total(), _most_first(found))


def _most_first(owners: dict[str, int]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(owners.items(), key=lambda owner: (-owner[1], owner[0])))


REWIND_GROUP = Operation(
    intent=RewindGroupIntent,
    survey=survey_rewind_group,
    plan=plan_rewind_group,
    apply=apply_rewind_group,
    writes=("XGROUP SETID",),
    undo=undo_rewind_group,
    undo_snapshot=True,
    groups_a_ms=ONE_A_MILLISECOND,
)
OPERATIONS = (REWIND_GROUP,)
