"""The consumers of a group by the instants at which they were seen: what stands still stays the same, whatever the time.

XINFO STREAM FULL tells instants, all other commands ages. A thousand idle groups that are looked at every few seconds need
not have thousands of ages worked out that nobody asks for.
"""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final, overload

from msgspec import Struct

from streamops.model.entries import PendingEntry
from streamops.model.ids import EntryId
from streamops.model.streams import Consumer

MILLISECOND: Final = timedelta(milliseconds=1)
NO_TIME: Final = timedelta(0)


class ConsumerColumns(Struct, frozen=True, gc=False):
    """The consumers of a group, column by column; instants are milliseconds since the epoch, as in IDs.

    Attributes:
        names: Their names.
        pending: Entries pending with each.
        seen: When each was last seen, as ``Consumer.idle`` means it.
        active: When each last got an entry; none where it never did, or on older servers.
        delivered: When the pending entry of each with the smallest ID was last delivered; none where none is pending.
    """

    names: tuple[str, ...] = ()
    pending: tuple[int, ...] = ()
    seen: tuple[int, ...] = ()
    active: tuple[int | None, ...] = ()
    delivered: tuple[int | None, ...] = ()

    @classmethod
    def of(cls, consumers: Sequence[Consumer], now: int) -> "ConsumerColumns":
        """Those of consumers that are told with their ages at an instant."""
        if not consumers:
            return NOBODY
        return cls(
            tuple([one.name for one in consumers]),
            tuple([one.pending for one in consumers]),
            tuple([now - one.idle // MILLISECOND for one in consumers]),
            _ago([one.inactive for one in consumers], now),
            _ago([one.oldest_delivered for one in consumers], now),
        )

    def only(self, places: Sequence[int]) -> "ConsumerColumns":
        """Those at some places alone."""
        return ConsumerColumns(
            tuple([self.names[at] for at in places]),
            tuple([self.pending[at] for at in places]),
            tuple([self.seen[at] for at in places]),
            tuple([self.active[at] for at in places]),
            tuple([self.delivered[at] for at in places]),
        )


NOBODY: Final = ConsumerColumns()


class Delivery(Struct, frozen=True, gc=False):
    """A pending entry with the instant of its last delivery; the other fields are those of ``PendingEntry``.

    Attributes:
        id: The entry's ID.
        consumer: Its owner.
        delivered: When it was last delivered, in milliseconds since the epoch.
        delivery_count: How often the server counted a delivery.
    """

    id: EntryId
    consumer: str
    delivered: int
    delivery_count: int

    def at(self, now: int) -> PendingEntry:
        """The entry as it is now, which is told in milliseconds since the epoch."""
        return PendingEntry(self.id, self.consumer, since(self.delivered, now), self.delivery_count)


class Members(Sequence[Consumer]):
    """The consumers of a group with their ages at one instant, which are worked out when somebody asks for them.

    Args:
        sightings: When they were seen.
        now: The instant, in milliseconds since the epoch.

    Attributes:
        sightings: When they were seen.
        now: The instant.
    """

    __slots__ = ("_consumers", "now", "sightings")

    def __init__(self, sightings: ConsumerColumns, now: int) -> None:
        self.sightings = sightings
        self.now = now
        self._consumers: tuple[Consumer, ...] | None = None

    def __len__(self) -> int:
        """How many there are."""
        return len(self.sightings.names)

    @overload
    def __getitem__(self, at: int) -> Consumer: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Consumer, ...]: ...
    def __getitem__(self, at: int | slice) -> Consumer | tuple[Consumer, ...]:
        """One of them, or some."""
        return self.consumers[at]

    def __iter__(self) -> Iterator[Consumer]:
        """All of them."""
        return iter(self.consumers)

    def __eq__(self, other: object) -> bool:
        """Whether others are the same consumers with the same ages, however they are kept."""
        if isinstance(other, Sequence) and not isinstance(other, str):
            return self.consumers == tuple(other)
        return NotImplemented

    def __hash__(self) -> int:
        """That of the tuple of them."""
        return hash(self.consumers)

    def __repr__(self) -> str:
        """As the tuple of them."""
        return repr(self.consumers)

    @property
    def consumers(self) -> tuple[Consumer, ...]:
        """The consumers."""
        if self._consumers is None:
            self._consumers = tuple(self._made())
        return self._consumers

    @classmethod
    def of(cls, consumers: Sequence[Consumer], now: int) -> "Members":
        """The same of consumers that are told with their ages at that instant."""
        return consumers if isinstance(consumers, Members) else cls(ConsumerColumns.of(consumers, now), now)

    def idle_within(self, span: timedelta) -> bool:
        """Whether each of them was seen within a span of time."""
        seen = self.sightings.seen
        return not seen or (self.now - min(seen)) * MILLISECOND < span

    @property
    def fed_ago(self) -> timedelta | None:
        """How long, at the least, none of them has got an entry; none where there is nobody."""
        told = self.sightings
        fed = [
            seen if active is None else active for seen, active in zip(told.seen, told.active, strict=True)
        ]
        return since(max(fed), self.now) if fed else None

    @property
    def holders_seen_ago(self) -> timedelta | None:
        """Time since one of those that hold pending entries was last seen; none where nobody holds any."""
        told = self.sightings
        held = [seen for seen, pending in zip(told.seen, told.pending, strict=True) if pending]
        return since(max(held), self.now) if held else None

    def _made(self) -> Iterator[Consumer]:
        told, now = self.sightings, self.now
        columns = zip(told.names, told.pending, told.seen, told.active, told.delivered, strict=True)
        for name, pending, seen, active, delivered in columns:
            yield Consumer(
                name,
                pending,
                since(seen, now),
                None if active is None else since(active, now),
                None,
                None if delivered is None else since(delivered, now),
            )


def names_of(consumers: Sequence[Consumer]) -> Sequence[str]:
    """The names of consumers."""
    return consumers.sightings.names if isinstance(consumers, Members) else [one.name for one in consumers]


def _ago(spans: Sequence[timedelta | None], now: int) -> tuple[int | None, ...]:
    return tuple([None if span is None else now - span // MILLISECOND for span in spans])


def since(then: int, now: int) -> timedelta:
    """How long ago an instant was; never negative, as it would be where the server's clock was set back."""
    return (now - then) * MILLISECOND if then < now else NO_TIME
