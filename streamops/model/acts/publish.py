"""Publishing an entry, now or later."""

from datetime import timedelta
from typing import Annotated

from msgspec import Struct

from streamops.model.acts.trim import TrimEvidence
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


class PublishEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about the stream.

    Attributes:
        exists: Whether there is such a stream.
        length: Entries in it.
        last_generated_id: Its last generated ID; none where it is not known, or there is no stream.
        groups: Its groups.
        cap: What trimming it to its cap removes, and who loses what; none where there is nothing to remove.
        taken: Whether there is a delayed message of that ID.
        queue: The key of the stream's queue of delayed messages.
    """

    exists: bool
    length: int
    last_generated_id: EntryId | None
    groups: tuple[str, ...]
    cap: TrimEvidence | None = None
    taken: bool = False
    queue: str = ""
