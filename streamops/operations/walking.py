"""Places in a stream by count: how many entries are below an ID, and which ID has so many entries after it.

Redis keeps no index for either: both take walking over the entries, in steps of some milliseconds, from the
nearer end. If that is too far, there are bounds; and where entries were removed meanwhile, which may have been counted
or not. All counts are of the instant at which the stream was looked at, but those of a single step: these are of its own.
"""

from collections.abc import Iterable
from typing import Final

from streamops.model.entries import LAST_ID, ZERO_ID, Amount, EntryId
from streamops.monitor.inspection import StreamInspection, find_stream
from streamops.monitor.lag import entries_added
from streamops.wire.faults import required
from streamops.wire.reads import Count, CountRange, count_entries
from streamops.wire.server import Server
from streamops.wire.stream_reader import SCRIPTED, Depth

STEP: Final = 2_000
STEP_BYTES: Final = 512 << 10
"""What one step takes at most: a few milliseconds of the server."""

NEAR: Final = 100_000
"""Entries walked over from either end where bounds are enough."""


class _Walk:
    """A walk over entries in one direction.

    Attributes:
        counted: Entries so far; all of them were there when it began.
        steps: How many it took.
        at: The last of them, or where it began.
        ended: Whether the end of the range was reached.
    """

    def __init__(
        self, server: Server, look: StreamInspection, start: EntryId, until: EntryId, *, back: bool
    ) -> None:
        self._server = server
        self._look = look
        self._until = until
        self._back = back
        self.counted = 0
        self.steps = 0
        self.at = start
        self.ended = False

    async def step(self, most: int) -> None:
        """Take one step of at most so many entries; raises ``ServerError`` if that cannot be done."""
        look = self._look
        weight = max(1, look.reading.entry_bytes or 0)
        page = CountRange(
            look.reading.name, self.at, self._until, min(most, STEP), STEP_BYTES, weight, back=self._back
        )
        (count,) = await count_entries(
            self._server,
            [page],
            scripts=look.depth in SCRIPTED or self._back,
            read_only=look.depth is Depth.READ_ONLY_SCRIPT,
        )
        found = required(count, f"stream {look.reading.name}")
        self.counted += found.entries
        self.steps += 1
        self.at = found.last_id
        self.ended = found.complete


async def count_below(
    server: Server,
    look: StreamInspection,
    cut: EntryId,
    *,
    near: int | None = NEAR,
    enough: int | None = None,
) -> Amount:
    """How many entries are below an ID.

    Args:
        server: The server.
        look: The stream.
        cut: The ID.
        near: Walk no further than so many entries from either end; none for as far as it takes.
        enough: More than so many need not be distinguished; None if they do.

    Raises:
        ServerError: The entries cannot be walked over.
    """
    stream = look.reading
    if not stream.length or cut <= (stream.first_id or ZERO_ID):
        return Amount(0, 0)
    if stream.last_id is not None and stream.last_id < cut:
        return Amount(stream.length, stream.length)
    below = _Walk(server, look, ZERO_ID, cut.previous(), back=False)
    above = _Walk(server, look, cut.previous(), stream.last_id or LAST_ID, back=False)
    while near is None or below.counted < near:
        await below.step(STEP)
        if enough is not None and below.counted >= enough:
            return Amount(below.counted, below.counted)
        # If the stream's end is not known, what came meanwhile would be counted too.
        if not below.ended and stream.last_id is not None:
            await above.step(STEP)
        if below.ended or above.ended:
            return await _settled(server, look, below, above)
    return _bounds(look, below, above)


def _bounds(look: StreamInspection, below: _Walk, above: _Walk) -> Amount:
    """What two walks towards each other tell, wherever they are: none of those below is above."""
    return Amount(below.counted, max(below.counted, look.reading.length - above.counted))


async def _settled(server: Server, look: StreamInspection, below: _Walk, above: _Walk) -> Amount:
    """How many are below, by two walks of which one has come to its end."""
    if below.ended and below.steps == 1:
        return Amount(below.counted, below.counted)
    bounds, removed = _bounds(look, below, above), await _removed_since(server, look)
    if removed is None:
        return bounds
    # Of those that were removed, each may have been on either side, and counted or not.
    if below.ended:
        return Amount(bounds.lower, min(bounds.upper, bounds.lower + removed))
    return Amount(max(bounds.lower, bounds.upper - removed), bounds.upper)


async def _removed_since(server: Server, look: StreamInspection) -> int | None:
    """How many entries the stream has lost since it was looked at; None if that is not known."""
    stream = look.reading
    if stream.last_id is None:
        return None
    if look.depth in SCRIPTED:
        weight = max(1, stream.entry_bytes or 0)
        page = CountRange(
            *(stream.name, stream.last_id.previous(), stream.last_id, STEP, STEP_BYTES, weight),
            length=stream.length,
        )
        read_only = look.depth is Depth.READ_ONLY_SCRIPT
        found = (await count_entries(server, [page], scripts=True, read_only=read_only))[0]
        if isinstance(found, Count) and found.gone is not None:
            return found.gone
    again = await find_stream(server, stream.name)
    intact = again is not None and entries_added(stream, again.reading) is not None
    return 0 if intact else None


async def count_after_each(
    server: Server, look: StreamInspection, positions: Iterable[EntryId], cut: EntryId, *, most: int
) -> dict[EntryId, Amount]:
    """How many entries come after each of these positions and are below an ID.

    Args:
        server: The server.
        look: The stream.
        positions: The positions; those next to the ID are counted first, and what lies between two of them once.
        cut: The ID.
        most: Walk over so many entries, about, for all of them together; beyond that there are bounds.

    Raises:
        ServerError: The entries cannot be walked over.
    """
    counts: dict[EntryId, Amount] = {}
    doubtful: list[EntryId] = []
    until, total, complete, steps, length = cut, 0, True, 0, look.reading.length
    for position in sorted(set(positions), reverse=True):
        if complete and position < until:
            walk = _Walk(server, look, position, until.previous(), back=False)
            while not walk.ended and total + walk.counted < most:
                await walk.step(STEP)
            until, total, complete = position.next(), total + walk.counted, walk.ended
            steps += walk.steps
        counts[position] = Amount(total, total if complete else max(total, length))
        if steps > 1:
            doubtful.append(position)
    removed = await _removed_since(server, look) if doubtful else 0
    for position in doubtful:
        lower, upper = counts[position].lower, counts[position].upper
        most = length if removed is None else min(length, upper + removed)
        counts[position] = Amount(lower, max(upper, most))
    return counts


async def cut_for_length(server: Server, look: StreamInspection, kept: int) -> EntryId | None:
    """The ID below which all entries are but so many of the newest; None if that is no entry at all.

    Args:
        server: The server.
        look: The stream.
        kept: How many stay.

    Raises:
        ServerError: The entries cannot be walked over.
    """
    stream = look.reading
    surplus = stream.length - kept
    if surplus <= 0 or stream.last_id is None:
        return None
    back = kept < surplus
    start, until = (_after(stream.last_id), ZERO_ID) if back else (ZERO_ID, stream.last_id)
    walk, wanted = _Walk(server, look, start, until, back=back), kept if back else surplus
    while walk.counted < wanted and not walk.ended:
        await walk.step(wanted - walk.counted)
    return walk.at if back else _after(walk.at)


async def position_before(server: Server, look: StreamInspection, position: EntryId, count: int) -> EntryId:
    """The position from which the last ``count`` entries up to and including ``position`` are given again.

    Raises:
        ServerError: The entries cannot be walked over.
    """
    if not count:
        return position
    walk = _Walk(server, look, _after(position), ZERO_ID, back=True)
    while walk.counted < count and not walk.ended:
        await walk.step(count - walk.counted)
    return ZERO_ID if walk.counted < count or walk.at == ZERO_ID else walk.at.previous()


def _after(one: EntryId) -> EntryId:
    return one if one == LAST_ID else one.next()
