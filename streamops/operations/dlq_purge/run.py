"""``dlq purge``: delete dead letters, after writing them to a file."""

from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from streamops.errors import Forbidden
from streamops.model.acting import Plan
from streamops.model.dead_letters import DeadLetter
from streamops.model.wording import counted
from streamops.monitor.context import ServerContext
from streamops.monitor.dead_letters import DeadLetterFilter, chosen_dead_letters, survey_dead_letters
from streamops.operations.backups import BackupWriter, delete_and_report, forbid_existing
from streamops.operations.dlq_purge.intent import PurgeIntent
from streamops.operations.dlq_purge.plan import PurgeEvidence, plan_purge
from streamops.operations.operation import Operation
from streamops.operations.planning import ALL_A_MILLISECOND, gone_meanwhile
from streamops.operations.running import Run
from streamops.wire.writes.entries import Deleting

BATCH: Final = 500


async def survey_purge(place: ServerContext, intent: PurgeIntent) -> PurgeEvidence:
    """Read which letters are meant; raises ``Forbidden`` if the stream is no dead-letter queue."""
    forbid_existing(intent.backup)
    found = await survey_dead_letters(place, intent)
    if not found.is_queue:
        raise Forbidden(
            f"stream {intent.queue} is no dead-letter queue",
            "Its name does not end in :dlq, and `dead_letters` of the configuration does not name it.",
        )
    return PurgeEvidence(identity=found.identity, letters=found.letters, sample=found.sample)


async def apply_purge(run: Run, intent: PurgeIntent, evidence: PurgeEvidence, _: Plan) -> None:
    """Write them to the file and delete them, batch by batch."""
    letters = evidence.letters
    if letters.last is None:
        return
    with BackupWriter(intent.backup) as backup:
        async for page, _at in chosen_dead_letters(
            run.server,
            intent.queue,
            letters.source,
            DeadLetterFilter(intent),
            after=letters.after,
            last=letters.last,
        ):
            await _purge_page(run, intent.queue, evidence, page, backup)
            if not run.remaining:
                break
        if intent.backup:
            run.note(
                f"{counted(backup.written, 'dead letter was', 'dead letters were')} written to {intent.backup}"
            )
    if run.remaining:
        run.note(gone_meanwhile(run.remaining))


async def _purge_page(
    run: Run, queue: str, evidence: PurgeEvidence, page: Sequence[DeadLetter], backup: BackupWriter
) -> None:
    positions = evidence.identity.positions
    async for batch in run.batches(page, BATCH):
        entries, ids = [one.entry for one in batch], [one.id for one in batch]
        await delete_and_report(run, Deleting(queue, positions, what=f"queue {queue}"), ids, entries, backup)


def resolve_purge(intent: PurgeIntent, evidence: PurgeEvidence) -> PurgeIntent:
    """The intent with its bounds."""
    letters = evidence.letters
    return replace(intent, since=None, until=None, after=letters.after, last=letters.last)


PURGE: Final = Operation(
    intent=PurgeIntent,
    survey=survey_purge,
    plan=plan_purge,
    apply=apply_purge,
    writes=("XDEL",),
    key="queue",
    resolve_defaults=resolve_purge,
    groups_a_ms=ALL_A_MILLISECOND,
)
OPERATIONS = (PURGE,)
