"""Trimming a stream."""

from datetime import timedelta
from typing import Annotated

from msgspec import Struct

from streamops.model.acting import Identity
from streamops.model.entries import Amount, PendingEntry
from streamops.model.fields import argument, inner, option
from streamops.model.ids import EntryId


class TrimIntent(Struct, frozen=True, kw_only=True):
    """Drop the oldest entries of a stream, by length, ID or age.

    ``ValueError`` where not exactly one of the three bounds is given, or a bound cannot be.
    """

    stream: Annotated[str, argument("The stream.", completes="streams")]
    maxlen: Annotated[
        int | None, option("Keep so many of the newest entries.", metavar="N", exclusive="bound")
    ] = None
    minid: Annotated[
        EntryId | None, option("Drop entries with a smaller ID.", metavar="ID", exclusive="bound")
    ] = None
    before: Annotated[
        timedelta | None,
        option("Drop entries older than this, by the server's clock.", metavar="AGE", exclusive="bound"),
    ] = None
    exact: Annotated[
        bool, option("Drop to the last entry; otherwise whole nodes of the stream only, which is cheaper.")
    ] = False
    safe: Annotated[
        bool,
        option(
            "Keep what any group has yet to read or acknowledge; --unsafe drops it, and asks for the stream's name.",
            off="unsafe",
        ),
    ] = True
    backup: Annotated[
        str | None, option("With --unsafe: write the entries to this new file first.", metavar="FILE")
    ] = None
    is_rest: Annotated[bool, inner("Whether it is the rest of a job.")] = False

    def __post_init__(self) -> None:
        bounds = [bound for bound in (self.maxlen, self.minid, self.before) if bound is not None]
        if len(bounds) != 1:
            raise ValueError("give one of --maxlen, --minid and --before")
        if self.maxlen is not None and self.maxlen < 0:
            raise ValueError("--maxlen is below zero")
        if self.before is not None and self.before < timedelta(0):
            raise ValueError("--before is in the future")
        if self.backup is not None and self.safe:
            raise ValueError(
                "--backup goes with --unsafe: what a safe trim removes, every group has acknowledged"
            )

    @property
    def drops_all(self) -> bool:
        """Whether it goes to the last entry: what stays for being part of a node must not stand in a backup."""
        return self.exact or self.backup is not None


class Holder(Struct, frozen=True):
    """The group that needs the oldest entry that any group needs.

    Attributes:
        group: Its name.
        needs: The ID: nothing from there on may go.
        oldest_pending: Its pending entry of that ID; none where the position itself is the bound.
        entry_exists: Whether that pending entry still exists.
        unread: Entries after its position.
    """

    group: str
    needs: EntryId
    oldest_pending: PendingEntry | None
    entry_exists: bool = True
    unread: Amount = Amount(0, 0)


class GroupLoss(Struct, frozen=True):
    """What a group loses by a trim that does not heed it.

    Attributes:
        group: Its name.
        unread: Entries that it has yet to read.
        pending: Pending entries by consumer, the most first.
        pending_complete: Whether all of those were counted; otherwise there are at least so many.
    """

    group: str
    unread: Amount
    pending: tuple[tuple[str, int], ...]
    pending_complete: bool = True

    @property
    def pending_count(self) -> int:
        """Its pending entries that go, as far as they were counted."""
        return sum(count for _, count in self.pending)


class TrimEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about a stream that is to be trimmed.

    Attributes:
        identity: Which stream this is, and where its groups stand.
        length: Entries in it.
        entry_bytes: Size of the larger of its first and last entry.
        asked: The ID that the bound came to; none for a safe trim by length, which has none.
        wanted: Entries that the bound alone would remove, if groups were not heeded.
        removable: Entries that may go.
        holder: Who needs the oldest entry that is needed; none where nobody was asked, or there is no group.
        losses: What each group loses; of an unsafe trim only.
        references: Whether XTRIM's exact form can be told of pending rows: ``ACKED`` where the trim is safe, else
            ``DELREF``, so that the rows go with their entries.
        lag_goes_wrong: How the server's lag of groups that were overtaken goes wrong, in words; empty where it
            does not.
    """

    identity: Identity
    length: int
    entry_bytes: int
    asked: EntryId | None
    wanted: Amount
    removable: Amount
    holder: Holder | None = None
    losses: tuple[GroupLoss, ...] = ()
    references: bool = False
    lag_goes_wrong: str = ""
