"""``claim``: take pending entries over from consumers that hold them idly."""

from collections.abc import Sequence
from datetime import timedelta

from streamops.errors import SettingsError
from streamops.model.acting import AuditRecord, Plan
from streamops.model.acts.claim import ClaimEvidence, ClaimIntent
from streamops.model.acts.undo import UndoIntent
from streamops.model.ids import EntryId
from streamops.model.pending import Done, Selection, Unfit
from streamops.model.wording import counted
from streamops.monitor.context import Place
from streamops.monitor.inspection import group_of, read_stream
from streamops.operate.acting.operation import Operation
from streamops.operate.acting.run import Run
from streamops.operate.acting.undo_snapshots import snapshot_writes
from streamops.operate.operations.claiming import Claiming, claimable, ids_of
from streamops.operate.operations.members import read_members
from streamops.plans.claim import gone_entries, plan_claim
from streamops.plans.crowds import ONE_A_MILLISECOND
from streamops.wire.claimable import read_claimable, read_claimable_ids
from streamops.wire.faults import Fault
from streamops.wire.gone import GoneSearch
from streamops.wire.server import Server


async def survey_claim(place: Place, intent: ClaimIntent) -> ClaimEvidence:
    """Count what can be claimed, and look at the consumers it is about."""
    _check(intent)
    server = place.server
    reading, identity = await read_stream(server, intent.stream)
    group_of(reading, intent.group)
    consumers = await read_members(server, intent.stream, intent.group, intent.source)
    # Redis 6.2, which counts no entries added, lets rows be claimed whose entries are gone.
    keeps_gone = reading.bounds_read and reading.entries_added is None
    search = GoneSearch(server, intent.stream, reading.entry_bytes or 0) if keeps_gone else None
    selection, unfit, chosen = await _select(server, intent, search)
    return ClaimEvidence(
        identity=identity,
        selection=selection,
        unfit=unfit,
        consumers=consumers,
        gone=search.found if search else None,
        chosen=chosen,
    )


async def apply_claim(run: Run, intent: ClaimIntent, evidence: ClaimEvidence, plan: Plan) -> None:
    """Claim them batch by batch."""
    work = Claiming(run, intent, evidence)
    await (work.pages() if intent.ids is None else work.named())
    if evidence.gone is not None and evidence.gone.count:
        run.note(gone_entries(evidence.gone))
    if changed := plan.count - run.tally.done:
        run.note(
            f"Changed meanwhile and left alone: {counted(changed, 'entry', 'entries')} "
            "(acknowledged, delivered again, or claimed by somebody else)."
        )


def undo_claim(intent: ClaimIntent, records: Sequence[AuditRecord]) -> UndoIntent:
    """Give them back to their former owners."""
    return UndoIntent(
        audit_id=EntryId.parse(records[0].id),
        stream=intent.stream,
        group=intent.group,
        done=Done.CLAIMED,
        holder=intent.to,
    )


def _check(intent: ClaimIntent) -> None:
    if intent.to == intent.source:
        raise SettingsError(
            f"claim: {intent.to} is both the old owner and the new one", "Name another with --to."
        )
    if intent.min_idle < timedelta(0) or (intent.count is not None and intent.count < 0):
        raise SettingsError("claim: --min-idle and --count cannot be negative", "Give 0 or more.")


async def _select(
    server: Server, intent: ClaimIntent, search: GoneSearch | None
) -> tuple[Selection, Unfit, bytes]:
    what = claimable(intent)
    if intent.ids is not None:
        named = await read_claimable_ids(server, what, ids_of(intent), most=intent.count, search=search)
        if isinstance(named, Fault):
            raise named.error(f"group {intent.stream}/{intent.group}")
        return named
    paged = await read_claimable(server, what, most=intent.count, search=search)
    if isinstance(paged, Fault):
        raise paged.error(f"group {intent.stream}/{intent.group}")
    return paged, Unfit(), b""


CLAIM = Operation(
    name="claim",
    summary="Take pending entries over.",
    intent=ClaimIntent,
    survey=survey_claim,
    plan=plan_claim,
    apply=apply_claim,
    writes=lambda intent: (
        ("XCLAIM", intent.stream),
        ("XAUTOCLAIM", intent.stream),
        *snapshot_writes(intent.stream),
    ),
    stream=lambda intent: intent.stream,
    undo=undo_claim,
    rated=True,
    undo_snapshot=True,
    groups_a_ms=ONE_A_MILLISECOND,
)
