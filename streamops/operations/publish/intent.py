"""Publishing an entry, now or later."""

from datetime import timedelta
from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.entries import EntryId
from streamops.model.fields import argument, inner, option


class PublishIntent(OperationIntent, frozen=True, kw_only=True):
    """Add an entry, now or after a delay.

    Add an entry to a stream. With --delay, add a delayed message, which becomes an entry once it is due and a
    streamops worker, or `streamops delayed run-now`, moves it.

    Raises:
        ValueError: Its ID can be none of an entry, or it would keep no entry at all.
    """

    operation: ClassVar = "publish"
    impact: ClassVar = Impact.REVERSIBLE
    asks: ClassVar = False
    examples: ClassVar = (
        ("""streamops publish orders 'data={"order_id": "o-1"}'""", "JSON in the field that handlers decode"),
        ("streamops publish orders kind=paid amount=120", "one entry"),
        ("streamops publish orders kind=remind --delay 15m", "due in a quarter of an hour"),
        ("streamops publish orders kind=paid --maxlen 100000 --dry-run", "the plan alone"),
    )

    stream: Annotated[str, argument("The stream; created if it does not exist.", completes="streams")]
    pairs: Annotated[
        tuple[tuple[bytes, bytes], ...],
        argument("Fields and values, in this order; a field may repeat."),
    ]
    delay: Annotated[timedelta | None, option("Add the entry after this delay, by the server's clock.")] = (
        None
    )
    id: Annotated[
        str | None,
        option("The entry's ID, or with --delay the message's; default: generated.", metavar="ID"),
    ] = None
    maxlen: Annotated[
        int | None,
        option(
            "Trim the stream to about N entries; asks first if a group would lose entries that it needs.",
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
