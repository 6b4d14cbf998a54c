"""What is remembered of one reading, and readings over time in little room, however often the server is polled."""

from datetime import datetime, timedelta
from typing import Generic, TypeVar

from msgspec import Struct

from streamops.model.entries import EntryId
from streamops.model.streams import ConsumerGroup, StreamState

Rising = TypeVar("Rising", int, EntryId)


# Samples hold no containers, so no cycles: the collector need not visit the tens of thousands of them that
# the history of many groups is.
class StreamSample(Struct, frozen=True, gc=False):
    """A stream at one instant; the fields are those of ``StreamState``.

    Attributes:
        length: Entries in it.
        first_id: ID of its first entry; None if it is empty or unknown.
        last_generated_id: The highest ID it ever had; None if unknown.
        entries_added: Entries ever added; None if unknown.
        max_deleted_id: The highest ID deleted by XDEL; None if unknown.
    """

    length: int
    first_id: EntryId | None
    last_generated_id: EntryId | None
    entries_added: int | None
    max_deleted_id: EntryId | None


class GroupSample(Struct, frozen=True, gc=False):
    """A group at one instant; the fields are those of ``ConsumerGroup``.

    Attributes:
        stream: Its stream at that instant, shared by all groups of the stream.
        last_delivered_id: Its position.
        entries_read: The server's read counter; None if it has none.
        pending: Entries delivered and not acknowledged.
        lag: Entries still to be delivered; none unless ``exact`` or ``reported``, and of the same moment as the rest.
    """

    stream: StreamSample
    last_delivered_id: EntryId
    entries_read: int | None
    pending: int
    lag: int | None


def sample_stream(state: StreamState) -> StreamSample:
    """What to remember of a stream."""
    return StreamSample(
        state.length,
        state.first_id,
        state.last_generated_id,
        state.entries_added,
        state.max_deleted_id,
    )


def sample_group(group: ConsumerGroup, stream: StreamSample) -> GroupSample:
    """What to remember of a group read together with ``stream``."""
    lag = group.lag
    return GroupSample(
        stream,
        group.last_delivered_id,
        group.entries_read,
        group.pending,
        lag.entries if lag.known and not lag.later else None,
    )


def recreated(earlier: StreamSample, later: StreamSample) -> bool:
    """Whether the key cannot be the same stream any more.

    A stream's counters and IDs only rise, and entries are only ever added at its end, so anything that
    went down belongs to another stream under the same name, or to an older copy of this one.
    """
    return (
        _fell(earlier.entries_added, later.entries_added)
        or _fell(earlier.last_generated_id, later.last_generated_id)
        or _fell(earlier.first_id, later.first_id)
    )


def _fell(earlier: Rising | None, later: Rising | None) -> bool:
    return earlier is not None and later is not None and later < earlier


Item = TypeVar("Item")
Times = tuple[datetime, ...]


class SampleSeries(Struct, Generic[Item], frozen=True, gc=False):
    """Values and when they were read, oldest first. Never empty.

    The last is always the newest reading. Values must not refer back to the column: the cycle collector
    does not visit it, because a history holds tens of thousands of these.

    Attributes:
        times: When the values were read, strictly rising; columns read at the same times share them.
        values: The values, one for each time.
    """

    times: Times
    values: tuple[Item, ...]

    @property
    def span(self) -> timedelta:
        """From the oldest to the newest reading; zero for a single one."""
        return self.times[-1] - self.times[0]


class Tick:
    """One instant at which columns get their next reading.

    A column's last reading gives way to the next one until it stands ``spacing`` away from the one before
    it. So polling faster costs no room, and polling slower lengthens the span.

    Attributes:
        at: The instant, later than every time in the columns.
    """

    def __init__(self, at: datetime, spacing: timedelta, length: int) -> None:
        """A tick for columns that keep ``length`` readings ``spacing`` apart."""
        self.at = at
        self._spacing = spacing
        self._length = length
        self._first = (at,)
        # By identity: thousands of columns share their times, and comparing them would cost more than
        # all the rest. The old times stand beside the new ones so that no other object takes their place.
        self._next: dict[int, tuple[Times, Times, slice]] = {}
        self._step: tuple[Times, Times, slice] = ((), (), slice(0))

    def begin(self, value: Item) -> SampleSeries[Item]:
        """A column with this reading alone."""
        return SampleSeries(self._first, (value,))

    def append(self, column: SampleSeries[Item], value: Item) -> SampleSeries[Item]:
        """The column with this reading at its end."""
        before, times, kept = self._step
        if column.times is not before:
            # Seldom: most columns share their times with the one that came before them.
            self._step = self._next.get(id(column.times)) or self._advance(column.times)
            _, times, kept = self._step
        return SampleSeries(times, column.values[kept] + (value,))

    def _advance(self, times: Times) -> tuple[Times, Times, slice]:
        crowded = len(times) > 1 and times[-1] - times[-2] < self._spacing
        kept = slice(-1) if crowded else slice(1 - self._length, None)
        step = self._next[id(times)] = (times, (*times[kept], self.at), kept)
        return step
