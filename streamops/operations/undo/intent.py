"""Taking an action back."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

from streamops.model.acting import AuditRecord, Impact, OperationIntent
from streamops.model.entries import EntryId
from streamops.model.fields import argument, inner
from streamops.model.pending import PendingChange


class UndoIntent(OperationIntent, frozen=True, kw_only=True):
    """Undo an action of the audit log.

    Undo an action of the audit log that has an exact inverse: a claim, a nack, the removal of a consumer, the
    rewind of a group. What has changed since is left alone and reported.
    """

    operation: ClassVar = "undo"
    impact: ClassVar = Impact.REVERSIBLE
    examples: ClassVar = (
        (
            "streamops undo 1526919030474-0 --dry-run",
            "what would be undone; `streamops audit ls` lists the IDs",
        ),
    )

    audit_id: Annotated[EntryId, argument("The action, by its ID in the audit log.", completes="actions")]
    stream: Annotated[str, inner("The stream.")] = ""
    group: Annotated[str, inner("Its group.")] = ""
    done: Annotated[PendingChange | None, inner("What was done to the rows.")] = None
    holder: Annotated[str, inner("Who claimed them.")] = ""


def undo_rows(
    records: Sequence[AuditRecord], stream: str, group: str, done: PendingChange, holder: str = ""
) -> UndoIntent:
    """The intent that gives pending rows back what they had before an action, whose records these are."""
    action = EntryId.parse(records[0].id)
    return UndoIntent(audit_id=action, stream=stream, group=group, done=done, holder=holder)
