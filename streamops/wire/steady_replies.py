"""Replies about streams that stand still, and the proof that they do. Pure."""

from collections.abc import Sequence
from operator import sub
from typing import Final

from msgspec import Struct, msgpack
from msgspec.structs import replace

from streamops.model.consumer_table import MILLISECOND, Delivery
from streamops.model.ids import EPOCH, EntryId
from streamops.model.readings import GroupReading, StreamReading
from streamops.wire.faults import fault
from streamops.wire.full_replies import DENIED
from streamops.wire.node import Command, Reply
from streamops.wire.picking import Picker, Row
from streamops.wire.replies import ConsumersDecoder, decode_clock, decode_name

NOISE: Final = 100
"""Milliseconds by which ages may differ from what has passed: the clock is read before them, and replies take their time."""

PENDING_AGE: Final = 2
"""The place of the age in a row of XPENDING."""

_pack: Final = msgpack.Encoder().encode


class Stood(Struct, frozen=True, gc=False):
    """What was told of a stream's groups, their consumers and pending entries.

    Attributes:
        at: When, in milliseconds since the epoch.
        ages: All ages that were told, in milliseconds.
        digest: A digest of the rest: 64 bits, by a key of this process.
        reading: What was made of it.
    """

    at: int
    ages: tuple[int, ...]
    digest: int
    reading: StreamReading

    def holds(self, now: int, ages: Sequence[int], digest: int) -> bool:
        """Whether what is told now is the same, but for time that has passed."""
        if digest != self.digest:
            return False
        passed, grown = now - self.at, list(map(sub, ages, self.ages))
        return not grown or (min(grown) >= passed - NOISE and max(grown) <= passed + NOISE)


class SteadyDecoder:
    """Decodes one server's replies of one round trip, as they come in: the clock first.

    Attributes:
        refused: Whether a command may not be sent without which no stream can be read in this way.
    """

    def __init__(self) -> None:
        self.refused = False
        self._now: int | None = None
        self._consumers = ConsumersDecoder()
        self._group = Picker(
            (b"name", b"consumers", b"pending", b"last-delivered-id"), (b"entries-read", b"lag")
        )
        self._places: dict[int, tuple[int, ...]] = {}

    def hear_time(self, reply: Reply) -> Reply:
        """Take note of the clock in the reply of TIME, which stays as it is."""
        self._hear(reply, None)
        return reply

    def hear_info(self, reply: Reply) -> Reply:
        """The same from the reply of INFO, for servers where TIME may not be asked."""
        if self._now is None:
            self._hear(DENIED, reply)
        return reply

    def decode(self, stood: StreamReading, told: Stood | None, replies: list[Reply]) -> Stood | None:
        """What is told of a stream that stands as it stood; none if it does not, or nobody can say.

        Args:
            stood: A reading of it.
            told: What was told of it before; where nothing has happened since, that is the answer.
            replies: The replies to ``steady_commands`` of that reading.
        """
        now = self._now
        faults = [fault(reply) for reply in replies if isinstance(reply, Exception)]
        if now is None or faults:
            self.refused = self.refused or any(why.denies_command for why in faults)
            return None
        rows, length, *details = replies
        if length != stood.length:
            return None
        ages = self._take_ages(details)
        digest = hash(_pack((rows, details)))
        if told is not None and told.holds(now, ages, digest):
            return told
        groups = self._proven(stood, rows)
        if groups is None:
            return None
        self._put_back(details, ages)
        whole = [
            replace(
                group,
                members=self._consumers.sightings(consumers),
                oldest_delivery=_delivery(oldest[0], now) if oldest else None,
            )
            for group, oldest, consumers in zip(groups, details[::2], details[1::2], strict=True)
        ]
        return Stood(now, tuple(ages), digest, replace(stood, groups=tuple(whole)))

    def _hear(self, time: Reply, info: Reply) -> None:
        at = decode_clock(time, info)
        if at is not None:
            self._now = (at - EPOCH) // MILLISECOND
            self._consumers = ConsumersDecoder(self._now)

    def _take_ages(self, details: Sequence[list[list[Reply]]]) -> list[int]:
        """The ages in rows of pending entries and of consumers, in whose places nothing is left."""
        ages, places = [], self._places
        for oldest in details[::2]:
            for row in oldest:
                ages.append(row[PENDING_AGE])
                row[PENDING_AGE] = None
        for consumers in details[1::2]:
            for row in consumers:
                for place in places.get(len(row)) or self._learn(row):
                    # Who never got an entry is told to have got one a millisecond in the future.
                    if (age := row[place]) >= 0:
                        ages.append(age)
                        row[place] = None
        return ages

    def _put_back(self, details: Sequence[list[list[Reply]]], ages: Sequence[int]) -> None:
        left = iter(ages)
        for rows in (*details[::2], *details[1::2]):
            for row in rows:
                row[:] = [next(left) if part is None else part for part in row]

    def _learn(self, row: Row) -> tuple[int, ...]:
        """Where rows of this length tell ages: those of one server that are of one length have one layout."""
        names = row[::2]
        learnt = tuple(2 * names.index(name) + 1 for name in (b"idle", b"inactive") if name in names)
        self._places[len(row)] = learnt
        return learnt

    def _proven(self, stood: StreamReading, rows: Sequence[Row]) -> list[GroupReading] | None:
        """The groups, if they tell that nothing was added and no position has moved."""
        try:
            told = list(self._group.pick_all(rows))
        except KeyError:
            return None
        groups = []
        if len(told) != len(stood.groups):
            return None
        for group, (name, consumers, pending, position, entries_read, lag) in zip(
            stood.groups, told, strict=True
        ):
            if decode_name(name) != group.name or EntryId.parse(position) != group.last_delivered_id:
                return None
            groups.append(
                GroupReading(
                    group.name,
                    consumers,
                    pending,
                    group.last_delivered_id,
                    entries_read,
                    lag,
                    next_id=group.next_id,
                    next_read=group.next_read,
                )
            )
        return groups if tells_added(groups, stood.entries_added, stood.length) else None


def steady_commands(reading: StreamReading) -> list[Command]:
    """What is asked of a stream to see whether it still stands as it was read.

    The groups come before the length: a stream that has its length still, and had nothing added when they told, lost
    nothing either, unless as many came in between, which the next reading shows.
    """
    name = reading.name
    commands: list[Command] = [("XINFO", "GROUPS", name), ("XLEN", name)]
    for group in reading.groups:
        commands.append(("XPENDING", name, group.name, "-", "+", 1))
        commands.append(("XINFO", "CONSUMERS", name, group.name))
    return commands


def tells_added(groups: Sequence[GroupReading], added: int | None, length: int) -> bool:
    """Whether the groups tell that so many entries were ever added to their stream: what each read and what it lags.

    One whose lag is the stream's length tells nothing: Redis 8 says that of every group that stands before the first entry,
    however many were added. Where one tells otherwise than another, nobody is believed.
    """
    told = {
        group.entries_read + group.reported_lag
        for group in groups
        if group.entries_read is not None and group.reported_lag is not None and group.reported_lag != length
    }
    return told == {added}


def _delivery(row: Row, now: int) -> Delivery:
    entry_id, consumer, idle, deliveries = row
    return Delivery(EntryId.parse(entry_id), decode_name(consumer), now - max(0, idle), deliveries)
