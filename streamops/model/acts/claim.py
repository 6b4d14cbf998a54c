"""Taking pending entries over."""

from datetime import timedelta
from typing import Annotated

from msgspec import Struct

from streamops.model.acting import Identity
from streamops.model.acts.fields import argument, inner, option, require_name
from streamops.model.entries import PendingEntry
from streamops.model.ids import EntryId
from streamops.model.streams import Consumer


class ClaimIntent(Struct, frozen=True, kw_only=True):
    """Take pending entries over from consumers that hold them idly.

    ``ValueError`` where the new owner has no name that can be read.
    """

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    to: Annotated[
        str,
        option("Who gets them; created where there is no such consumer.", completes="consumers"),
    ]
    source: Annotated[
        str | None,
        option("Only entries of this consumer; else those of all others.", "from", completes="consumers"),
    ] = None
    min_idle: Annotated[
        timedelta, option("Only entries that nobody was given for so long; 0 takes them from busy workers.")
    ] = timedelta(seconds=60)
    ids: Annotated[
        tuple[EntryId, ...] | None,
        option("Only these entries: IDs with commas between, or - to read them."),
    ] = None
    count: Annotated[int | None, option("At most so many, lowest IDs first.", metavar="N")] = None
    after: Annotated[
        EntryId | None, inner("In the log of versions whose claims were jobs: began after it.")
    ] = None
    until: Annotated[EntryId | None, inner("The same: went no further than to this ID.")] = None

    def __post_init__(self) -> None:
        require_name("--to", self.to)


class Selection(Struct, frozen=True):
    """Pending entries that were selected, without holding all of them.

    Attributes:
        count: How many.
        owners: How many of them by owner, most first.
        sample: The first few.
        longest_idle: The one that is idle for longest; none where there is none.
        last_id: The highest ID; none where there is none.
    """

    count: int = 0
    owners: tuple[tuple[str, int], ...] = ()
    sample: tuple[PendingEntry, ...] = ()
    longest_idle: PendingEntry | None = None
    last_id: EntryId | None = None


class Unfit(Struct, frozen=True):
    """How many of the IDs that were named cannot be taken, by why.

    Attributes:
        absent: Not pending in the group.
        elsewhere: Owned by somebody else than was asked for, or by the new owner already.
        busy: Not idle for long enough.
    """

    absent: int = 0
    elsewhere: int = 0
    busy: int = 0


class Gone(Struct, frozen=True):
    """Selected rows whose entries no longer exist.

    Attributes:
        looked: How many rows were looked at; it takes the whole entries.
        count: How many of those are of entries that no longer exist.
        sample: The first few of them.
    """

    looked: int = 0
    count: int = 0
    sample: tuple[EntryId, ...] = ()


class ClaimEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about them.

    Attributes:
        identity: Which stream and group this is.
        selection: Those that can be taken.
        unfit: Those of the named IDs that cannot.
        consumers: The group's consumers.
        gone: What is known of rows whose entries no longer exist, where the server lets those be claimed
            (Redis 6.2); none where it removes them.
        chosen: Where IDs were named, of each of them, lowest first, whether it is selected: 1 or 0.
    """

    identity: Identity
    selection: Selection
    unfit: Unfit
    consumers: tuple[Consumer, ...]
    gone: Gone | None = None
    chosen: bytes = b""

    def consumer(self, name: str) -> Consumer | None:
        """A consumer of the group by name; none where there is none."""
        return next((one for one in self.consumers if one.name == name), None)
