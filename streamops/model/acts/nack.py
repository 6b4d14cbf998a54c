"""Giving pending entries back."""

from typing import Annotated

from msgspec import Struct

from streamops.model.acting import Identity
from streamops.model.entries import PendingEntry
from streamops.model.fields import argument, option
from streamops.model.ids import EntryId


class NackIntent(Struct, frozen=True, kw_only=True):
    """Give entries of a group back, so that another consumer gets them at once."""

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    ids: Annotated[tuple[EntryId, ...], option("The entries: IDs with commas between, or - to read them.")]
    source: Annotated[str | None, option("Only entries of this consumer.", "from", completes="consumers")] = (
        None
    )


class NackEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about them.

    Attributes:
        identity: Which stream and group this is.
        rows: Those that can be given back, in the order asked for.
        absent: How many of the IDs are not pending in the group.
        elsewhere: How many are owned by another consumer than was asked for.
    """

    identity: Identity
    rows: tuple[PendingEntry, ...]
    absent: int
    elsewhere: int
