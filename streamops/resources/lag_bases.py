"""What a lag rests on, and why it is not known where it is not."""

from typing import Final

from streamops.model.lag import LagBasis

BASES: Final[dict[LagBasis, str]] = {
    LagBasis.EXACT: (
        "Counted, or certain from where the group stands: at the stream's end, before its beginning, or in between "
        "with every entry counted (XRANGE by a script, without payloads)."
    ),
    LagBasis.REPORTED: (
        "The server's own count (XINFO GROUPS lag), of a version whose count is right, checked by counting now and then."
    ),
    LagBasis.UPPER: (
        "The server's count (XINFO GROUPS lag) is known to be too high on this version once trimming overtook a group: "
        "the truth is this or less. Redis 7.4.4 and 8.0, and Valkey 8.1.1, count right."
    ),
    LagBasis.LOWER: (
        "Counting stopped at its budget, so as not to load the server, or entries were removed while it was counted: "
        "the truth is this or more."
    ),
    LagBasis.ESTIMATED: (
        "Guessed from the times in IDs, as if entries came evenly: the server gives no count and there are too many to "
        "count each time."
    ),
    LagBasis.UNKNOWN: (
        "The server gives none: Redis before 7.0 has no such count, and later ones give nil after entries ahead of the "
        "group were deleted, or where its position was set by hand; and counting was not possible or not allowed. "
        "Unknown is not zero."
    ),
}

TIME_LAG: Final = (
    "Lag age is the server's clock (TIME) minus the time in the ID of the first entry after the group's position. "
    "It is not known where IDs are not made of times (XADD with IDs of its own), where that entry may not be read, or "
    "where TIME may not be asked."
)
