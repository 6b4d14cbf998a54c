"""Taking an action back."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Struct

from streamops.model.acting import AuditRecord
from streamops.model.fields import argument, inner
from streamops.model.ids import EntryId
from streamops.model.pending import Done


class UndoIntent(Struct, frozen=True, kw_only=True):
    """Take an action of the audit log back.

    What the action was says what this comes down to: giving pending rows back what they had, for which the
    inner fields are filled in, or another operation altogether.
    """

    audit_id: Annotated[EntryId, argument("The action, by its ID in the audit log.", completes="actions")]
    stream: Annotated[str, inner("The stream.")] = ""
    group: Annotated[str, inner("Its group.")] = ""
    done: Annotated[Done | None, inner("What was done to the rows.")] = None
    holder: Annotated[str, inner("Who claimed them.")] = ""


def undo_rows(
    records: Sequence[AuditRecord], stream: str, group: str, done: Done, holder: str = ""
) -> UndoIntent:
    """The intent that gives pending rows back what they had before an action, whose records these are."""
    action = EntryId.parse(records[0].id)
    return UndoIntent(audit_id=action, stream=stream, group=group, done=done, holder=holder)
