"""Deleting entries that a backup is to hold: written first, then deleted, then those taken back that were not."""

from collections.abc import Sequence
from contextlib import suppress

from streamops.errors import SettingsError, StalePlan
from streamops.model.acting import Skipped
from streamops.model.entries import StreamEntry
from streamops.model.ids import EntryId
from streamops.operations.backups import BackupWriter
from streamops.operations.running import Run
from streamops.wire.writes.delete import Deleting, delete


async def delete_and_report(
    run: Run, how: Deleting, ids: Sequence[EntryId], entries: Sequence[StreamEntry], backup: BackupWriter
) -> None:
    """Delete a batch of entries.

    Args:
        run: Whom to tell.
        how: From where.
        ids: Those that were selected.
        entries: Those of them that are there.
        backup: The file that keeps them.
    """
    backup.write(how.stream, entries)
    backup.kept = True
    there = [entry.id for entry in entries]
    try:
        deleted = await delete(run.server, how, there)
    except StalePlan:
        with suppress(SettingsError):
            backup.take_back(there)
        raise
    try:
        backup.take_back(one for one in there if one not in deleted)
    finally:
        # What was deleted is told, whatever becomes of the file.
        skipped = [Skipped(str(one), "gone already") for one in ids if one not in deleted]
        await run.report(len(deleted), skipped=skipped)
