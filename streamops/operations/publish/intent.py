"""Publishing an entry, now or later."""

from datetime import timedelta
from typing import Annotated

from msgspec import Struct

from streamops.model.fields import argument, inner, option
from streamops.model.ids import EntryId


class PublishIntent(Struct, frozen=True, kw_only=True):
    """Add an entry to a stream, or a message that becomes one later.

    ``ValueError`` where its ID can be none of an entry, or it would keep no entry at all.
    """

    stream: Annotated[str, argument("The stream; it is created where there is none.", completes="streams")]
    pairs: Annotated[
        tuple[tuple[bytes, bytes], ...],
        argument("Fields with their values, in their order; a field may repeat."),
    ]
    delay: Annotated[timedelta | None, option("Only after so long, by the server's clock.")] = None
    id: Annotated[
        str | None,
        option(
            "The entry's ID, or with --delay the message's; the server's choice unless given.", metavar="ID"
        ),
    ] = None
    maxlen: Annotated[
        int | None,
        option(
            "Trim the stream to about so many entries; it is asked about where a group loses some that it needs.",
            metavar="N",
        ),
    ] = None

    queue: Annotated[str, inner("The queue of a delayed message, once it is known by its key.")] = ""

    def __post_init__(self) -> None:
        if self.maxlen is not None and self.maxlen < 1:
            raise ValueError("--maxlen is 1 or more: the entry itself stays")
        if self.delay is None and self.id is not None:
            try:
                EntryId.parse(self.id)
            except ValueError as error:
                raise ValueError(f"--id: {error}") from None
