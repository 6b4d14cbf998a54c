"""Taking pending entries over."""

from datetime import timedelta
from typing import Annotated

from msgspec import Struct

from streamops.model.fields import argument, inner, option, require_name
from streamops.model.ids import EntryId


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
