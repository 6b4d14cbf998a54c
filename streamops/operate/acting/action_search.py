"""Actions of the audit log by what they did, to what, and when."""

from collections.abc import Awaitable, Callable

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.acting import Action, ActionPage, AuditRecord
from streamops.model.ids import LAST_ID, ZERO_ID, EntryId
from streamops.operate.acting.audit import undone_actions

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
