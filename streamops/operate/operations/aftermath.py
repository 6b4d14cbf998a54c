"""What became of an action after it: who went on with its job, and who took it back, or began to."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.acting import AuditPhase, AuditRecord, Job, JobState
from streamops.model.ids import EntryId
from streamops.operate.acting.audit import PAGE, read_action, read_audit, undone_actions
from streamops.wire.faults import Fault
from streamops.wire.replies import decode_time
from streamops.wire.server import Server
from streamops.wire.writes.audit import AUDIT
from streamops.wire.writes.jobs import list_jobs, read_jobs
from streamops.wire.writes.restore import KEPT

JOBS_LOOKED_AT = 1_000
UNFINISHED = frozenset({JobState.RUNNING, JobState.INTERRUPTED})


class Aftermath(Struct, frozen=True):
    """What the log tells since an action began.

    Attributes:
        continued: The actions that went on with its job, oldest first.
        undone_by: Of these and itself, what was taken back, and by which action.
        undoing: The actions that began to take any of them back, each with whether it has no end.
    """

    continued: tuple[str, ...]
    undone_by: Mapping[str, str]
    undoing: Mapping[str, bool]

    @property
    def left(self) -> tuple[EntryId, ...]:
        """The actions that went on with it and were not taken back yet."""
        return tuple(EntryId.parse(one) for one in self.continued if one not in self.undone_by)


async def read_aftermath(server: Server, first: AuditRecord) -> Aftermath:
    """Read the log from an action's first record on; raises ``ServerError`` where it cannot be read."""
    members, undone_by, undoing = {first.id: None}, dict[str, str](), dict[str, bool]()
    start = EntryId.parse(first.id).next()
    while True:
        page = await read_audit(server, start=start, count=PAGE)
        for record in page:
            if record.continues in members:
                members[record.id] = None
            if record.begun_id in undoing or not members.keys().isdisjoint(record.undoes):
                undoing[record.begun_id] = record.phase is AuditPhase.BEGUN
            for undone in members.keys() & {*undone_actions(record)}:
                undone_by[undone] = record.begun_id
        if len(page) < PAGE:
            _, *continued = members
            return Aftermath(tuple(continued), undone_by, undoing)
        start = EntryId.parse(page[-1].id).next()


async def read_all(server: Server, actions: Sequence[EntryId]) -> list[AuditRecord]:
    """All records of several actions, in the order of the log."""
    records = [record for one in actions for record in await read_action(server, one)]
    # Who was taken for dead may have told of its last batch when somebody else had begun.
    return sorted(records, key=lambda record: EntryId.parse(record.id))


async def check_not_begun(
    server: Server, named: str, undoing: Mapping[str, bool], *, acked: bool, kept: bool
) -> None:
    """Raises ``Forbidden`` where an undo that was begun should be gone on with.

    Acknowledged entries that it gave back may have been processed since: a second undo gives them out again, unless it
    is kept which they were. Of claims and nacks the rows themselves tell.

    Args:
        server: Where.
        named: The action, in words.
        undoing: Who began to take it back, each with whether it has no end.
        acked: Whether it acknowledged entries.
        kept: Whether it is kept for some days which of them were given back.
    """
    if not undoing:
        return
    ids = await list_jobs(server, JOBS_LOOKED_AT)
    for job in [] if isinstance(ids, Fault) else await read_jobs(server, ids):
        if isinstance(job, Job) and job.audit_id in undoing and job.state in UNFINISHED:
            raise Forbidden(
                f"{named} is being undone, by {job.audit_id}, and that has not come to its end",
                f"Nothing was done. `streamops jobs resume {job.id}` goes on with it.",
            )
    cut_off = [begun for begun, without_end in undoing.items() if without_end]
    if acked and cut_off and not (kept and await _is_recent(server, cut_off[0])):
        raise Forbidden(
            f"{named} was begun to be undone, by {cut_off[-1]}, and how far that came is not known: its job is gone",
            f"Nothing was done. `streamops audit ls --id {cut_off[-1]}` tells what it was about to do.",
        )


async def _is_recent(server: Server, begun: str) -> bool:
    """Whether what an undo gave back is still kept."""
    at, now = EntryId.parse(begun).time, await server.single(AUDIT, "TIME")
    return at is not None and not isinstance(now, Exception) and decode_time(now) - at < KEPT
