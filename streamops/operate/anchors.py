"""What a count is anchored in: the state of stream and group that it holds for, and how far it carries."""

from msgspec import Struct

from streamops.model.ids import EntryId
from streamops.model.lag import Lag
from streamops.model.readings import GroupReading, StreamReading


class Anchor(Struct, frozen=True):
    """A lag that was once counted, as far as the budget went, and the reading, without its groups, that it was counted for."""

    lag: Lag
    stream: StreamReading
    position: EntryId

    def same(self, stream: StreamReading, group: GroupReading) -> bool:
        """Whether nothing was added, removed or delivered since."""
        return self.position == group.last_delivered_id and is_same(self.stream, stream)

    def added_since(self, stream: StreamReading, group: GroupReading) -> int | None:
        """Entries added since, where it is certain that none was removed meanwhile; none otherwise."""
        added = entries_added(self.stream, stream)
        return added if self.position <= group.last_delivered_id else None


def is_same(before: StreamReading, after: StreamReading) -> bool:
    """Whether a stream has the same entries in both readings."""
    return (
        before.last_generated_id == after.last_generated_id
        and before.length == after.length
        and before.first_id == after.first_id
        and before.entries_added == after.entries_added
    )


def entries_added(before: StreamReading, after: StreamReading) -> int | None:
    """Entries added between two readings of a stream, where none was removed; none where that is not certain.

    Before Redis 7.0 servers do not tell, unless nothing changed at all.
    """
    if before.entries_added is None or after.entries_added is None:
        return 0 if is_same(before, after) else None
    added = after.entries_added - before.entries_added
    # With nothing removed the first entry stays, and only additions move the last ID: where that is not so,
    # another stream stands under the same name, or somebody set its counters.
    if (
        added == after.length - before.length
        and added >= 0
        and before.first_id == after.first_id
        and (added > 0) == (before.last_generated_id != after.last_generated_id)
    ):
        return added
    return None
