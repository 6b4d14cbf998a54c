"""Creating, moving and destroying consumer groups."""

from datetime import datetime
from typing import Annotated

from msgspec import Struct

from streamops.model.acting import Identity
from streamops.model.entries import Amount
from streamops.model.fields import Moment, argument, backup_file, inner, option, require_name
from streamops.model.ids import EntryId


class CreateGroupIntent(Struct, frozen=True, kw_only=True):
    """Create a consumer group; ``ValueError`` where it has no name that can be read, or a counter that fits nothing."""

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("The new group's name.")]
    at: Annotated[
        str,
        option(
            "Where it begins: 0 for the whole stream, $ for what comes from now on, or what comes after an ID.",
            metavar="0|$|ID",
        ),
    ] = "$"
    entries_read: Annotated[
        int | None,
        option(
            "The server's counter of entries read that goes with --at ID; counted unless given.", metavar="N"
        ),
    ] = None
    mkstream: Annotated[bool, option("Create the stream too, where there is none.")] = False

    def __post_init__(self) -> None:
        require_name("the group", self.group)
        if self.entries_read is not None and (self.at == "$" or self.entries_read < 0):
            raise ValueError("--entries-read is 0 or more, and goes with --at ID")


class CreateGroupEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about it.

    Attributes:
        identity: Which stream this is; none where there is none.
        length: Entries in the stream.
        position: Where the group would stand; ``$`` as it was then.
        existing: Where a group of that name stands already; none where there is none.
        ahead: How many entries it would be given.
        entries_read: The server's counter that goes with the position; none where it has none, or it is not known.
        other_groups: The stream's groups.
    """

    identity: Identity | None
    length: int
    position: EntryId
    existing: EntryId | None
    ahead: Amount
    entries_read: int | None
    other_groups: tuple[str, ...]


class RewindGroupIntent(Struct, frozen=True, kw_only=True):
    """Set a group back, or forward: change what it is given next.

    ``ValueError`` where not exactly one of the five positions is given, or ``back`` is below zero.
    """

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    to_id: Annotated[
        EntryId | None, option("What comes after this ID is given next.", exclusive="where to")
    ] = None
    to_time: Annotated[
        Moment | None,
        option("What was added since is given next: an instant, or how long ago.", exclusive="where to"),
    ] = None
    back: Annotated[
        int | None,
        option("The last N entries that it was given are given again.", metavar="N", exclusive="where to"),
    ] = None
    to_start: Annotated[bool, option("The whole stream is given again.", exclusive="where to")] = False
    to_end: Annotated[bool, option("Only what comes from now on is given.", exclusive="where to")] = False
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


class Overlap(Struct, frozen=True):
    """Entries that would be delivered again while they are still pending.

    Attributes:
        entries: How many.
        owners: How many of them by owner, most first.
        complete: Whether all were counted; otherwise there are at least so many.
    """

    entries: int = 0
    owners: tuple[tuple[str, int], ...] = ()
    complete: bool = True


class RewindGroupEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about it.

    Attributes:
        identity: Which stream and group this is.
        position: Where the group stands.
        target: Where it would stand.
        last_generated_id: The stream's last generated ID.
        between: How many entries are between the two.
        overlap: Those of them that are pending; nothing where it goes forward.
        entries_read: The server's counter at the target; none where it has none, or it is not known.
        consumers: How many consumers the group has.
        other_groups: The stream's other groups.
    """

    identity: Identity
    position: EntryId
    target: EntryId
    last_generated_id: EntryId
    between: Amount
    overlap: Overlap
    entries_read: int | None
    consumers: int
    other_groups: tuple[str, ...]


class FormerPosition(Struct, frozen=True):
    """What undoing needs.

    Attributes:
        position: Where the group stood.
        entries_read: The server's counter there; none where it had none.
        back: Whether it was set back from there.
    """

    position: EntryId
    entries_read: int | None
    back: bool = False


class DestroyGroupIntent(Struct, frozen=True, kw_only=True):
    """Destroy a consumer group: its position and its pending entries list."""

    stream: Annotated[str, argument("The stream.", completes="streams")]
    group: Annotated[str, argument("Its group.", completes="groups")]
    backup: Annotated[str | None, backup_file("position and pending rows")] = None


class DestroyGroupEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about it.

    Attributes:
        identity: Which stream and group this is.
        now: The server's clock; none where it may not be asked.
        position: Where the group stands.
        entries_read: The server's counter there; none where it has none, or does not know.
        lag: Entries that it was not given yet.
        pending: Entries that are pending.
        owners: How many of them by consumer, most first.
        consumers: How many consumers it has.
        active: Consumers that were seen just now.
        backup: The file that position and pending rows are written to; empty for none.
        other_groups: The stream's other groups.
    """

    identity: Identity
    now: datetime | None
    position: EntryId
    entries_read: int | None
    lag: Amount
    pending: int
    owners: tuple[tuple[str, int], ...]
    consumers: int
    active: tuple[str, ...]
    backup: str
    other_groups: tuple[str, ...]
