"""``dlq purge``: delete dead letters, after writing them to a file."""

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Final

from msgspec.structs import replace

from streamops.errors import Forbidden
from streamops.model.acting import Plan, Skipped
from streamops.model.dead_letters import DeadLetter
from streamops.model.ids import EntryId
from streamops.model.wording import counted
from streamops.monitor.context import Place
from streamops.monitor.dead_letter_pages import LetterFilter, chosen_letters, survey_letters
from streamops.operations.backups import BackupWriter, forbid_existing
from streamops.operations.dlq_purge.intent import PurgeIntent
from streamops.operations.dlq_purge.plan import PurgeEvidence, plan_purge
from streamops.operations.operation import Operation
from streamops.operations.planning import ALL_A_MILLISECOND, gone_meanwhile
from streamops.operations.running import Run
from streamops.wire.faults import Fault
from streamops.wire.writes.delete import delete, spared

BATCH: Final = 500


async def survey_purge(place: Place, intent: PurgeIntent) -> PurgeEvidence:
    """Read which letters are meant; raises ``Forbidden`` where the stream is no dead-letter queue."""
    if intent.backup is not None:
        forbid_existing(intent.backup)
    found = await survey_letters(place, intent)
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
    with ExitStack() as stack:
        backup = stack.enter_context(BackupWriter(intent.backup)) if intent.backup is not None else None
        async for page, _at in chosen_letters(
            run.server,
            intent.queue,
            letters.source,
            LetterFilter(intent),
            after=letters.after,
            last=letters.last,
        ):
            await _purge_page(run, intent.queue, evidence, page, backup)
            if not run.remaining:
                break
        if backup is not None:
            run.note(f"{counted(backup.written, 'letter was', 'letters were')} written to {intent.backup}")
    if run.remaining:
        run.note(gone_meanwhile(run.remaining))


async def _purge_page(
    run: Run, queue: str, evidence: PurgeEvidence, page: Sequence[DeadLetter], backup: BackupWriter | None
) -> None:
    while page and run.remaining:
        size = await run.batch_size(BATCH)
        await _purge(run, queue, evidence, page[:size], backup)
        page = page[size:]


async def _purge(
    run: Run, queue: str, evidence: PurgeEvidence, letters: Sequence[DeadLetter], backup: BackupWriter | None
) -> None:
    if backup is not None:
        backup.write(queue, [letter.entry for letter in letters])
        backup.kept = True
    ids = [letter.id for letter in letters]
    deleted = await delete(run.server, queue, ids, positions=evidence.identity.positions)
    try:
        if backup is not None:
            backup.take_back(spared(ids, deleted))
    finally:
        # What was deleted is told, whatever becomes of the file.
        await _report(run, queue, ids, deleted)


async def _report(run: Run, queue: str, ids: Sequence[EntryId], deleted: frozenset[EntryId] | Fault) -> None:
    if isinstance(deleted, Fault):
        raise deleted.error(f"queue {queue}")
    await run.report(
        len(deleted), skipped=[Skipped(str(one), "gone already") for one in spared(ids, deleted)]
    )


def settle_purge(intent: PurgeIntent, evidence: PurgeEvidence) -> PurgeIntent:
    """The intent with its bounds."""
    letters = evidence.letters
    return replace(intent, since=None, until=None, after=letters.after, last=letters.last)


PURGE: Final = Operation(
    name="dlq.purge",
    summary="Delete dead letters, after writing them to a file.",
    intent=PurgeIntent,
    survey=survey_purge,
    plan=plan_purge,
    apply=apply_purge,
    writes=lambda intent: (("XDEL", intent.queue),),
    stream=lambda intent: intent.queue,
    settle=settle_purge,
    groups_a_ms=ALL_A_MILLISECOND,
)
OPERATIONS = (PURGE,)
