"""A destroyed group brought back: its position, and those of its pending rows whose entries still exist."""

from itertools import islice
from typing import Final

from streamops.model.acting import Skipped
from streamops.model.acts.restore import RestoreEvidence, RestoreIntent, SavedGroup
from streamops.model.acts.undo import Done
from streamops.model.ids import EPOCH
from streamops.operate.acting.run import Run
from streamops.operate.restore_files import read_rows
from streamops.plans.restore import restored_before
from streamops.plans.undo import WHY_REFUSED
from streamops.wire.faults import Fault
from streamops.wire.writes.groups import create_group
from streamops.wire.writes.restore_rows import ROWS, Mark, restore_rows

RESTORED: Final = "restored"


async def restore_group(
    run: Run, intent: RestoreIntent, evidence: RestoreEvidence, group: SavedGroup, marker: str
) -> None:
    """Create a group anew where there is none of that name, and then its pending rows, batch by batch.

    Each row is given back once, so that nothing that was processed since is given out again: the marker beside the
    stream says how many are done.

    Raises:
        StalePlan: The stream or the group is not as the plan saw it any more.
        ServerError: It could not be written.
    """
    server, target = run.server, evidence.target
    if group.group not in dict(evidence.groups):
        created = await create_group(
            server,
            target,
            group.group,
            at=str(group.position),
            entries_read=evidence.entries_read,
            mkstream=False,
        )
        if isinstance(created, Fault):
            raise created.error(f"group {target}/{group.group}")
    done, said = restored_before(intent, evidence), evidence.said
    rows = read_rows(intent.file, evidence.file, done)
    while batch := tuple(islice(rows, ROWS)):
        while batch and (most := await run.batch_size(ROWS)):
            came = await restore_rows(
                server,
                target,
                group.group,
                batch[:most],
                done=Done.ACKED,
                holder="",
                at=group.at or EPOCH,
                position=None,
                writes=True,
                mark=Mark(marker, said, done),
            )
            if isinstance(came, Fault):
                raise came.error(f"group {target}/{group.group}")
            said = done = done + len(came)
            looked, batch = batch[: len(came)], batch[len(came) :]
            told = zip(looked, came, strict=True)
            skipped = [Skipped(str(row.id), WHY_REFUSED[why]) for row, why in told if why != RESTORED]
            await run.report(len(came) - len(skipped), cursor=str(done), skipped=skipped)
