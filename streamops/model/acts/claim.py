"""Taking pending entries over."""

from datetime import timedelta
from typing import Annotated

from msgspec import Struct

from streamops.model.acting import Identity
from streamops.model.fields import argument, inner, option, require_name
from streamops.model.ids import EntryId
from streamops.model.pending import Gone, Selection, Unfit
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
