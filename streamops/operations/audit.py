"""Reading the audit log: its records, and by actions: pages, newest first; searches by what was done, to what, and when; the state before one."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from streamops.errors import NotFound, Refused, UnexpectedReply
from streamops.model.acting import (
    Action,
    ActionPage,
    Actor,
    AuditPhase,
    AuditRecord,
    Environment,
    Outcome,
    Plan,
)
from streamops.model.entries import LAST_ID, ZERO_ID, EntryId, PendingEntry, StreamEntry
from streamops.operations.packing import unpack, unpack_values
from streamops.operations.undo_snapshots import pack_pages, snapshot_key, unpack_pages
from streamops.wire.server import Server
from streamops.wire.writes.audit import SnapshotPage, read_records, read_snapshot

ENDS = frozenset({AuditPhase.DONE, AuditPhase.FAILED})

PAGE = 100
Noun = TypeVar("Noun", bound=Struct)

_PHASES = frozenset(AuditPhase)
_ENVIRONMENTS = frozenset(Environment)


async def read_audit(
    server: Server,
    *,
    start: EntryId = ZERO_ID,
    end: EntryId = LAST_ID,
    count: int,
    newest_first: bool = False,
) -> list[AuditRecord]:
    """Records of the log; raises ``ServerError`` if it cannot be read."""
    entries = await read_records(server, start=start, end=end, count=count, newest_first=newest_first)
    return [decode_record(entry) for entry in entries]


async def read_action(server: Server, audit_id: EntryId) -> list[AuditRecord]:
    """All records of one action, oldest first; raises ``NotFound`` if there is none of that ID."""
    found: list[AuditRecord] = []
    start = audit_id
    while True:
        page = await read_audit(server, start=start, count=PAGE)
        found += [record for record in page if record.begun_id == str(audit_id)]
        ended = bool(found) and found[-1].phase in {AuditPhase.DONE, AuditPhase.FAILED}
        if ended or len(page) < PAGE:
            break
        start = EntryId.parse(page[-1].id).next()
    if not found or found[0].phase is not AuditPhase.BEGUN:
        raise NotFound(
            f"the audit log has no action {audit_id}",
            "List them with `streamops audit ls`; the log keeps about 10,000 records.",
        )
    # Kept by who was killed before it went into the log; or, rarely, written by who had been taken for dead.
    at = 1 if ended else len(found)
    found[at:at] = await _not_gathered(server, found[0], found[at - 1])
    return found


async def _not_gathered(server: Server, begun: AuditRecord, before: AuditRecord) -> list[AuditRecord]:
    """What is kept beside the stream, as one more record that comes after a certain one."""
    key = snapshot_key(server, begun.snapshot_stream, begun.id)
    pages: list[SnapshotPage] = []
    with suppress(Refused, NotFound):
        pages = await read_snapshot(server, key) if key else []
    if not pages:
        return []
    undo = pack_pages([page.rows for page in pages])
    after = EntryId.parse(before.id).next()
    return [replace(begun, id=str(after), phase=AuditPhase.BATCH, undo=undo, intent=b"", plan=None)]


def decode_record(entry: StreamEntry) -> AuditRecord:
    """A record of the log; what is not understood of it is left out, and never fails."""
    fields = dict(entry.fields)

    def text(name: bytes) -> str:
        return fields.get(name, b"").decode("utf-8", "surrogateescape")

    phase = AuditPhase(text(b"phase")) if text(b"phase") in _PHASES else AuditPhase.OTHER
    own, begun = str(entry.id), text(b"begun")
    return AuditRecord(
        id=own,
        phase=phase,
        begun_id=own if phase in {AuditPhase.BEGUN, AuditPhase.OTHER} or not _is_id(begun) else begun,
        at=entry.id.time,
        operation=text(b"operation"),
        target=text(b"target"),
        actor=Actor(
            user=text(b"user"),
            host=text(b"host"),
            pid=int(fields.get(b"pid", b"")) if fields.get(b"pid", b"").isdigit() else 0,
            context=text(b"context"),
            environment=(
                Environment(text(b"environment"))
                if text(b"environment") in _ENVIRONMENTS
                else Environment.PRODUCTION
            ),
        ),
        reason=text(b"reason"),
        intent=fields.get(b"intent", b""),
        plan=_understood(Plan, fields.get(b"plan")),
        outcome=_understood(Outcome, fields.get(b"outcome")),
        undo=fields.get(b"undo", b""),
        undoes=tuple(text(b"undoes").split()),
        continues=text(b"continues"),
        snapshot_stream=text(b"keeps_beside"),
    )


def undo_blobs(records: Sequence[AuditRecord]) -> list[bytes]:
    """What undoing an action needs, batch by batch."""
    return [record.undo for record in records if record.undo]


def undone_actions(record: AuditRecord) -> tuple[str, ...]:
    """The actions that a record says were taken back, to their end; None if it says nothing of the kind."""
    return record.undoes if record.phase is AuditPhase.DONE else ()


def _is_id(text: str) -> bool:
    try:
        EntryId.parse(text)
    except ValueError:
        return False
    return True


def _understood(kind: type[Noun], data: bytes | None) -> Noun | None:
    try:
        return None if data is None else unpack(kind, data)
    except UnexpectedReply:
        return None


RECORDS = 200


async def read_actions(server: Server, count: int, after: ActionPage | None = None) -> ActionPage:
    """About ``count`` actions: the newest, or those after a page; raises ``ServerError`` if they cannot be read."""
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
    """What ``pack`` wrote, as plain values; nothing if it is none of that."""
    try:
        return [unpack_values(blob)]
    except UnexpectedReply:
        return []
