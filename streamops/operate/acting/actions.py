"""The audit log by actions: each with its first record and its last, newest first, in pages."""

from streamops.model.acting import Action, ActionPage, AuditPhase
from streamops.model.ids import LAST_ID, EntryId
from streamops.operate.acting.audit import read_audit
from streamops.wire.server import Server

RECORDS = 200
ENDS = frozenset({AuditPhase.DONE, AuditPhase.FAILED})


async def read_actions(server: Server, count: int, after: ActionPage | None = None) -> ActionPage:
    """About ``count`` actions: the newest, or those after a page; raises ``ServerError`` where they cannot be read."""
    loose = {record.begun_id: record for record in after.loose} if after else {}
    end = LAST_ID if after is None else after.next_id
    actions: list[Action] = []
    while end is not None and len(actions) < count:
        records = await read_audit(server, end=end, count=RECORDS, newest_first=True)
        for record in records:
            if record.phase in ENDS:
                # The newest counts: who was taken for dead may have ended its trail after all.
                loose.setdefault(record.begun_id, record)
            elif record.phase is AuditPhase.BEGUN:
                actions.append(Action(record, loose.pop(record.id, None)))
        end = EntryId.parse(records[-1].id).previous() if len(records) == RECORDS else None
    if end is None:
        # The log is capped: their first records are gone.
        actions += [Action(record, record) for record in loose.values()]
        loose = {}
    return ActionPage(tuple(actions), end, tuple(loose.values()))
