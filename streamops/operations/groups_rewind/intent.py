"""Moving a consumer group's position."""

from typing import Annotated, ClassVar

from streamops.model.acting import Impact, OperationIntent
from streamops.model.entries import EntryId
from streamops.model.fields import Instant, argument, inner, option


class RewindGroupIntent(OperationIntent, frozen=True, kw_only=True):
    """Set a group's position: back to redeliver, forward to skip.

    Set a group's position (XGROUP SETID), back or forward. The plan counts the entries that will be delivered
    again, those of them that are still pending and would be taken from their owners, or those that will never
    be delivered. `streamops undo` restores the position.

    Raises:
        ValueError: Not exactly one of the five positions is given, or ``back`` is below zero.
    """

    operation: ClassVar = "groups.rewind"
    impact: ClassVar = Impact.REDELIVERS
    examples: ClassVar = (
        ("streamops groups rewind orders billing --back 100", "deliver the last hundred again"),
        (
            "streamops groups rewind orders billing --to-time 2h --dry-run",
            "how many entries the last two hours are",
        ),
        ("streamops groups rewind orders billing --to-end --expect 1200", "skip what was not delivered yet"),
    )

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    to_id: Annotated[EntryId | None, option("Deliver entries after this ID next.", exclusive="where to")] = (
        None
    )
    to_time: Annotated[
        Instant | None,
        option(
            "Deliver entries added since this time next: a timestamp, or how long ago.", exclusive="where to"
        ),
    ] = None
    back: Annotated[
        int | None,
        option("Deliver the last N delivered entries again.", metavar="N", exclusive="where to"),
    ] = None
    to_start: Annotated[bool, option("Deliver the whole stream again.", exclusive="where to")] = False
    to_end: Annotated[bool, option("Deliver only entries added from now on.", exclusive="where to")] = False
    undoing: Annotated[
        bool, inner("Whether it was set back from there: a group that has come so far again is left alone.")
    ] = False
    entries_read: Annotated[int | None, inner("The server's counter to set with it, where it is known.")] = (
        None
    )

    def __post_init__(self) -> None:
        given = [one is not None for one in (self.to_id, self.to_time, self.back)]
        if sum((*given, self.to_start, self.to_end)) != 1:
            raise ValueError("give one of --to-id, --to-time, --back, --to-start and --to-end")
        if self.back is not None and self.back < 0:
            raise ValueError("--back is below zero")
