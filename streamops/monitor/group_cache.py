"""What collections learned about groups, for the next ones: one cache, by stream and group, dropped in one place.

What is kept holds for the reading that it was made of, which it carries: a key that was made anew, or whose counters were set,
does not match. What a reading cannot tell, another server with the same counters, is a new *epoch*.
"""

from collections.abc import Collection

from msgspec import Struct

from streamops.monitor.lag import CachedCount, NextEntry
from streamops.monitor.pending_scan import PendingScan

GroupKey = tuple[str, str]


class CachedGroup(Struct, gc=False):
    """What is kept of one group; a number of a collection is 0 before the first.

    Attributes:
        counted: Its lag as counted last.
        next_entry: Its next undelivered entry, where no script read it.
        scan: The scan of its pending entries.
        scanned_in: The collection in which that went on last.
        counted_in: The collection in which it last had a large share of the counting.
        checked_in: The round of checks in which its reported lag was last checked.
        is_wrong: Whether its reported lag was found wrong.
    """

    counted: CachedCount | None = None
    next_entry: NextEntry | None = None
    scan: PendingScan | None = None
    scanned_in: int = 0
    counted_in: int = 0
    checked_in: int = 0
    is_wrong: bool = False


class GroupCache:
    """What is kept of all groups of one server.

    Attributes:
        groups: It, by stream and group.
        epoch: The servers that it was read from, as ``Identities`` numbers them.
    """

    def __init__(self) -> None:
        self.groups: dict[GroupKey, CachedGroup] = {}
        self.epoch = 0

    def of(self, stream: str, group: str) -> CachedGroup:
        """What is kept of a group, to be added to."""
        return self.groups.setdefault((stream, group), CachedGroup())

    def invalidate(self, epoch: int) -> None:
        """Drop what was read in another epoch: another server may have the same counters and other entries.

        A reported lag that was found wrong is not believed there either: a replica has the counters of its primary.
        """
        if epoch == self.epoch:
            return
        self.epoch = epoch
        self.groups = {key: CachedGroup(is_wrong=True) for key, one in self.groups.items() if one.is_wrong}

    def keep_only(self, groups: Collection[GroupKey], unread: Collection[str]) -> None:
        """Drop all other groups, except of streams that could not be read."""
        self.groups = {key: one for key, one in self.groups.items() if key in groups or key[0] in unread}
