"""The audit log by actions: pages, newest first; searches by what was done, to what, and when; the state before one."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import UnexpectedReply
from streamops.model.acting import Action, ActionPage, AuditPhase, AuditRecord
from streamops.model.entries import PendingEntry
from streamops.model.ids import LAST_ID, ZERO_ID, EntryId
from streamops.operations.audit import ENDS, read_audit, undo_blobs, undone_actions
from streamops.operations.packing import unpack_values
from streamops.operations.undo_snapshots import unpack_pages
from streamops.wire.server import Server

RECORDS = 200


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


PAGE = 100


class ActionQuery(Struct, frozen=True, kw_only=True):
    """Which actions to find.

    Attributes:
        operation: Only of this operation; empty for all.
        target: Only on this target, or on what lies in it: a stream's name finds its groups too; empty for all.
        start: Begun at this ID or later.
        end: Begun at this ID or before.
        limit: At most so many.
    """

    operation: str = ""
    target: str = ""
    start: EntryId = ZERO_ID
    end: EntryId = LAST_ID
    limit: int = 100

    def selects(self, record: AuditRecord) -> bool:
        """Whether an action is among those, by any of its records."""
        return (
            self.start <= EntryId.parse(record.begun_id) <= self.end
            and self.operation in {"", record.operation}
            and (self.target in {"", record.target} or record.target.startswith(f"{self.target}/"))
        )


async def find_actions(
    read: Callable[[int, ActionPage | None], Awaitable[ActionPage]], query: ActionQuery
) -> list[Action]:
    """Actions that a query selects, newest first, each with what took it back.

    Args:
        read: Reads a page, as ``Console.read_actions`` does.
        query: Which.
    """
    found: list[Action] = []
    undone: dict[str, str] = {}
    page: ActionPage | None = None
    while page is None or (page.next_id is not None and page.next_id >= query.start):
        page = await read(PAGE, page)
        for action in page.actions:
            for target in undone_actions(action.last) if action.last is not None else ():
                undone.setdefault(target, action.first.begun_id)
            if query.selects(action.first):
                undoer = undone.get(action.first.begun_id, "")
                found.append(Action(replace(action.first, undone_by=undoer), action.last))
            if len(found) == query.limit:
                return found
    return found


def action_of(records: Sequence[AuditRecord]) -> Action:
    """One action from all its records, oldest first."""
    ends = [record for record in records if record.phase in ENDS]
    return Action(records[0], ends[-1] if ends else None)


class Before(Struct, frozen=True):
    """What an action changed, as it was before.

    Attributes:
        rows: Pending rows.
        facts: Anything else, as the operation packed it: a group's position.
    """

    rows: tuple[PendingEntry, ...]
    facts: tuple[Mapping[str, Any], ...]


def state_before(records: Sequence[AuditRecord]) -> Before:
    """What an action's records tell of the state before; what is not understood is left out."""
    rows: list[PendingEntry] = []
    facts: list[Mapping[str, Any]] = []
    for blob in undo_blobs(records):
        try:
            rows += [row for page in unpack_pages(blob) for row in page.rows]
        except UnexpectedReply:
            facts += plain_values(blob)
    return Before(tuple(rows), tuple(facts))


def plain_values(blob: bytes) -> list[Mapping[str, Any]]:
    """What ``pack`` wrote, as plain values; nothing where it is none of that."""
    try:
        return [unpack_values(blob)]
    except UnexpectedReply:
        return []
