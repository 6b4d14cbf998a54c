"""The first entries after groups' positions, remembered while nothing about them can have changed."""

from collections.abc import Collection, Sequence

from msgspec import Struct
from msgspec.structs import replace

from streamops.analysis.lag import needs_head
from streamops.model.entries import Entry
from streamops.model.ids import LAST_ID, EntryId
from streamops.model.readings import GroupReading, StreamReading
from streamops.operate.anchors import entries_added
from streamops.wire.faults import Fault
from streamops.wire.reads import EntryRange, read_entries
from streamops.wire.server import Server

MAX_HEAD_BYTES = 8 << 10
"""The next entry's ID is read with the entry where a script did not read it, but only of streams with smaller ones."""

GroupKey = tuple[str, str]


class Head(Struct, frozen=True, gc=False):
    """The first entry after a position, and the reading for which it was.

    Attributes:
        stream: The reading of the stream, without its groups.
        position: The position.
        id: The entry's ID; none where nothing comes after.
    """

    stream: StreamReading
    position: EntryId
    id: EntryId | None

    def holds(self, stream: StreamReading, position: EntryId) -> bool:
        """Whether it is the first after this position in a later reading too, because nothing was removed."""
        if self.position != position:
            return False
        added = entries_added(self.stream, stream)
        return added == 0 or (added is not None and self.id is not None)


class HeadKeeper:
    """Completes readings by the heads that they leave out."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: dict[GroupKey, Head] = {}

    async def complete(self, streams: Sequence[StreamReading]) -> tuple[list[StreamReading], set[str]]:
        """The readings with their heads, and the names of streams whose entries turned out to be large."""
        missing = [
            (stream, group)
            for stream in streams
            if (stream.entry_bytes or 0) <= MAX_HEAD_BYTES
            for group in stream.groups
            if not group.head_read and needs_head(stream, group)
        ]
        if not missing:
            return list(streams), set()
        found: dict[GroupKey, Head] = {}
        unknown: list[tuple[StreamReading, GroupReading]] = []
        for stream, group in missing:
            head = self._known.get((stream.name, group.name))
            if head is not None and head.holds(stream, group.last_delivered_id):
                found[stream.name, group.name] = head
            else:
                unknown.append((stream, group))
        large = await self._read(unknown, found)
        self._known |= found
        return [_completed(stream, found) for stream in streams], large

    def forget_all_but(self, groups: Collection[GroupKey]) -> None:
        """Drop the heads of other groups."""
        if self._known.keys() - groups:
            self._known = {key: head for key, head in self._known.items() if key in groups}

    async def _read(
        self, unknown: Sequence[tuple[StreamReading, GroupReading]], found: dict[GroupKey, Head]
    ) -> set[str]:
        ranges = [EntryRange(stream.name, group.last_delivered_id, LAST_ID, 1) for stream, group in unknown]
        large = set()
        for (stream, group), entries in zip(unknown, await read_entries(self._server, ranges), strict=True):
            if isinstance(entries, Fault):
                continue
            first: Entry | None = entries[0] if entries else None
            if first is not None and first.size > MAX_HEAD_BYTES:
                large.add(stream.name)
            found[stream.name, group.name] = Head(
                stream.alone, group.last_delivered_id, first.id if first else None
            )
        return large


def _completed(stream: StreamReading, heads: dict[GroupKey, Head]) -> StreamReading:
    if not any((stream.name, group.name) in heads for group in stream.groups):
        return stream
    groups = tuple(
        group
        if (head := heads.get((stream.name, group.name))) is None
        else replace(group, head_id=head.id, head_read=True)
        for group in stream.groups
    )
    return replace(stream, groups=groups)
