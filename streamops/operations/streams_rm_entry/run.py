"""``entries rm``: delete entries by their IDs, after writing them to a file."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from streamops.model.acting import Plan
from streamops.model.entries import EntryId, PendingEntry
from streamops.model.streams import GroupReading
from streamops.model.wording import counted
from streamops.monitor.context import ServerContext
from streamops.monitor.inspection import inspect_stream
from streamops.operations.backups import BackupWriter, delete_and_report, forbid_existing
from streamops.operations.operation import Operation
from streamops.operations.planning import ALL_A_MILLISECOND
from streamops.operations.running import Run
from streamops.operations.streams_rm_entry.intent import DeleteIntent
from streamops.operations.streams_rm_entry.plan import DeleteEvidence, GroupEffect, plan_delete
from streamops.wire.pending import PendingRange, pending_pages, read_pending_by_id
from streamops.wire.reads import read_by_id, read_existing
from streamops.wire.server import Server
from streamops.wire.writes.entries import Deleting, has_xdelex, references_are_sound

BATCH: Final = 500
BATCH_BYTES: Final = 4 << 20
PENDING_PAGE: Final = 1_000


async def survey_delete(place: ServerContext, intent: DeleteIntent) -> DeleteEvidence:
    """Read which of the IDs exist, and for which groups they are pending or unread."""
    forbid_existing(intent.backup)
    server = place.server
    look = await inspect_stream(server, intent.stream)
    reading = look.reading
    ids = list(dict.fromkeys(intent.ids))
    entry_bytes = reading.entry_bytes or 0
    existing: set[EntryId] = set()
    for batch in _batches(ids, entry_bytes):
        existing |= await read_existing(server, intent.stream, batch)
    found = tuple(one for one in ids if one in existing)
    groups = tuple([await _effect(server, intent.stream, group, found) for group in reading.groups])
    return DeleteEvidence(
        look.identity,
        found,
        groups,
        entry_bytes,
        counts_lag=reading.entries_added is not None,
        by_xdelex=references_are_sound(look.server.nodes) and await has_xdelex(server, intent.stream),
    )


async def _effect(server: Server, stream: str, group: GroupReading, ids: Collection[EntryId]) -> GroupEffect:
    unread = sum(one > group.last_delivered_id for one in ids)
    rows = await _pending_of(server, stream, group, ids) if group.pending and unread < len(ids) else ()
    return GroupEffect(group.name, unread, tuple(Counter(row.consumer for row in rows).most_common()))


async def _pending_of(
    server: Server, stream: str, group: GroupReading, ids: Collection[EntryId]
) -> Iterable[PendingEntry]:
    """The rows of those IDs that are pending: asked for one by one, or picked from all there are."""
    if group.pending > len(ids):
        return await read_pending_by_id(server, stream, group.name, [*ids])
    wanted, pages = set(ids), pending_pages(server, PendingRange(stream, group.name, None, PENDING_PAGE))
    return [row async for page in pages for row in page if row.id in wanted]


async def apply_delete(run: Run, intent: DeleteIntent, evidence: DeleteEvidence, _: Plan) -> None:
    """Write them to the file and delete them, batch by batch."""
    how = Deleting(intent.stream, evidence.identity.positions, references=intent.by_xdelex)
    with BackupWriter(intent.backup) as backup:
        async for batch in run.batches(evidence.existing, _batch_size(evidence.entry_bytes)):
            entries = await read_by_id(run.server, intent.stream, batch)
            await delete_and_report(run, how, batch, entries, backup)
        if intent.backup:
            run.note(f"{counted(backup.written, 'entry was', 'entries were')} written to {intent.backup}")


def _batch_size(entry_bytes: int) -> int:
    return max(1, min(BATCH, BATCH_BYTES // max(1, entry_bytes)))


def _batches(ids: Sequence[EntryId], entry_bytes: int) -> Iterable[Sequence[EntryId]]:
    size = _batch_size(entry_bytes)
    return (ids[at : at + size] for at in range(0, len(ids), size))


DELETE = Operation(
    intent=DeleteIntent,
    survey=survey_delete,
    plan=plan_delete,
    apply=apply_delete,
    writes=lambda intent: (("XDELEX" if intent.by_xdelex else "XDEL", intent.stream),),
    resolve_defaults=lambda intent, evidence: replace(intent, by_xdelex=evidence.by_xdelex),
    groups_a_ms=ALL_A_MILLISECOND,
)
OPERATIONS = (DELETE,)
