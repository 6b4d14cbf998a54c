"""Taking an action back."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from msgspec import Struct

from streamops.model.acting import Identity
from streamops.model.entries import PendingEntry
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


class UndoEvidence(Struct, frozen=True, kw_only=True):
    """What the audit log says was done, and what the server says has become of it.

    Attributes:
        identity: Which stream and group this is.
        operation: The operation that is taken back.
        at: When it began; none where that is no time.
        by: Who did it.
        ended: Whether it has come to an end.
        restorable: Of each row, in the order of the log, whether it can be given back what it had: 1 or 0.
        owners: How many of them by owner, most first.
        absent_owners: Owners among them that are no consumers of the group any more.
        sample: The first few of them, as they were before.
        refused: How many rows cannot, by why.
        refused_sample: The first few of those, each with why.
        recorded: How many rows its records hold.
        counted: How many units it did, as it told at its end; without one, how many it had planned.
    """

    identity: Identity
    operation: str
    at: datetime | None
    by: str
    ended: bool
    restorable: bytes
    owners: tuple[tuple[str, int], ...]
    absent_owners: tuple[str, ...]
    sample: tuple[PendingEntry, ...]
    refused: Mapping[str, int]
    refused_sample: tuple[tuple[str, str], ...]
    recorded: int = 0
    counted: int = 0
