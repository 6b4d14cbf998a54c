"""The first entries after groups' positions, remembered while nothing about them can have changed."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct
from msgspec.structs import replace

from streamops.model.entries import Entry
from streamops.model.ids import LAST_ID, EntryId
from streamops.model.readings import GroupReading, StreamReading
from streamops.monitor.lag import needing_heads
from streamops.monitor.lag_cases import entries_added
from streamops.wire.faults import Fault
from streamops.wire.reads import EntryRange, read_entries
from streamops.wire.server import Server

MAX_HEAD_BYTES = 8 << 10
"""The next entry's ID is read with the entry where a script did not read it, but only of streams with smaller ones."""


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

    def holds(self, position: EntryId, added: int | None) -> bool:
        """Whether it is the first after this position in a later reading too.

        Args:
            position: The position there.
            added: Entries added since, where none was removed; none where that is not certain.
        """
        return self.position == position and (added == 0 or (added is not None and self.id is not None))


class HeadKeeper:
    """Completes readings by the heads that they leave out."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._known: dict[str, dict[str, Head]] = {}
        self._era = 0

    def heed(self, era: int) -> None:
        """Drop what is known where another server answers than before: it may lack that entry, and count others.

        Args:
            era: Which servers answer, as ``Identities`` counts.
        """
        if era != self._era:
            self._era = era
            # Somebody may be about to add to what is known of a stream.
            self._known = {name: {} for name in self._known}

    async def complete(self, streams: Sequence[StreamReading]) -> tuple[list[StreamReading], set[str]]:
        """The readings with their heads, and the names of streams whose entries turned out to be large."""
        wanting = {
            at: wanted
            for at, stream in enumerate(streams)
            if (stream.entry_bytes or 0) <= MAX_HEAD_BYTES
            and (wanted := [group for group in needing_heads(stream) if not group.head_read])
        }
        unknown = [
            (streams[at], group)
            for at, wanted in wanting.items()
            for group in self._not_held(streams[at], wanted)
        ]
        large = await self._read(unknown) if unknown else set()
        completed = list(streams)
        for at in wanting:
            completed[at] = _completed(streams[at], self._known.get(streams[at].name, {}))
        return completed, large

    def forget_all_but(self, streams: AbstractSet[str]) -> None:
        """Drop the heads of other streams."""
        if not self._known.keys() <= streams:
            self._known = {name: heads for name, heads in self._known.items() if name in streams}

    def _not_held(self, stream: StreamReading, wanted: Sequence[GroupReading]) -> list[GroupReading]:
        """The groups whose heads are not known any more; what is known no more is dropped."""
        before, held = self._known.get(stream.name, {}), dict[str, Head]()
        since, added = None, None
        for group in wanted:
            if (head := before.get(group.name)) is None:
                continue
            if head.stream is not since:
                since, added = head.stream, entries_added(head.stream, stream)
            if head.holds(group.last_delivered_id, added):
                held[group.name] = head
        self._known[stream.name] = held
        return [group for group in wanted if group.name not in held]

    async def _read(self, unknown: Sequence[tuple[StreamReading, GroupReading]]) -> set[str]:
        ranges = [EntryRange(stream.name, group.last_delivered_id, LAST_ID, 1) for stream, group in unknown]
        alone = {stream.name: stream.alone for stream, _ in unknown}
        large = set()
        for (stream, group), entries in zip(unknown, await read_entries(self._server, ranges), strict=True):
            if isinstance(entries, Fault):
                continue
            first: Entry | None = entries[0] if entries else None
            if first is not None and first.size > MAX_HEAD_BYTES:
                large.add(stream.name)
            self._known[stream.name][group.name] = Head(
                alone[stream.name], group.last_delivered_id, first.id if first else None
            )
        return large


def _completed(stream: StreamReading, heads: Mapping[str, Head]) -> StreamReading:
    groups = [
        group if (head := heads.get(group.name)) is None else replace(group, head_id=head.id, head_read=True)
        for group in stream.groups
    ]
    return replace(stream, groups=tuple(groups))
