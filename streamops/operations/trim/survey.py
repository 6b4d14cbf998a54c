"""What a trim has to know first: what its bound comes to, who still needs what, how many entries may go, and what each group loses."""

from collections import Counter
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from streamops.errors import Refused
from streamops.model.entries import EPOCH, LAST_ID, ZERO_ID, Amount, EntryId
from streamops.model.streams import Flavour, GroupReading, ServerNode, StreamReading
from streamops.monitor.context import ServerContext
from streamops.monitor.inspection import StreamInspection, inspect_stream, lag_of
from streamops.operations.backups import forbid_existing, part_of
from streamops.operations.losses import BlockingGroup, GroupLoss, TrimEvidence
from streamops.operations.trim.intent import TrimIntent
from streamops.operations.trim.plan import needed_by
from streamops.operations.walking import NEAR, count_after_each, count_below, cut_for_length
from streamops.wire.pending import PendingRange, read_pending_at_once, read_pending_page, read_pending_summary
from streamops.wire.server import Server
from streamops.wire.writes.entries import knows_references, references_are_sound

LAG_SOUND_REDIS: Final = (7, 4, 4)

MOST_UNREAD: Final = 1_000_000
"""Entries that are counted for all groups of a stream together."""

MOST_PENDING: Final = 100_000
"""Pending rows of one group that are counted from either end."""

PAGE: Final = 1_000

MOST_NEWER: Final = 2_000
"""Pending rows that may have come while a group's were counted: with more, it is not known whether any went."""

Owners = tuple[tuple[str, int], ...]


async def read_losses(
    server: Server, look: StreamInspection, cut: EntryId, removable: Amount
) -> tuple[GroupLoss, ...]:
    """What each group of a stream loses where all entries below an ID go, so many of them.

    Raises:
        ServerError: Entries or pending rows cannot be read.
    """
    unread = await _unread(server, look, cut, removable)
    return tuple(
        [
            GroupLoss(group.name, unread[group.name], *await _pending_below(server, look, group, cut))
            for group in look.reading.groups
        ]
    )


async def _unread(
    server: Server, look: StreamInspection, cut: EntryId, removable: Amount
) -> dict[str, Amount]:
    """Entries below the cut that each group has yet to read."""
    told = {
        group.name: unread_below(look.reading, group.last_delivered_id, cut, removable)
        for group in look.reading.groups
    }
    unknown = {
        group.name: group.last_delivered_id for group in look.reading.groups if not told[group.name].exact
    }
    counted = await count_after_each(server, look, unknown.values(), cut, most=MOST_UNREAD)
    return told | {name: _narrowed(told[name], counted[position]) for name, position in unknown.items()}


def _narrowed(told: Amount, counted: Amount) -> Amount:
    """What both say; where they disagree, what was counted."""
    if counted.exact:
        return counted
    lower = max(told.lower, counted.lower)
    return Amount(lower, max(lower, min(told.upper, counted.upper)))


async def _pending_below(
    server: Server, look: StreamInspection, group: GroupReading, cut: EntryId
) -> tuple[Owners, bool]:
    """A group's pending entries below an ID, by consumer, the most first; and whether these are all."""
    if group.oldest_pending is None or group.oldest_pending.id >= cut:
        return (), True
    stream = look.reading.name
    _, _, greatest, owners = await read_pending_summary(server, stream, group.name)
    counts, complete = Counter(dict(owners)), True
    if greatest is not None and greatest >= cut:
        counts, complete = await _counted_below(
            server, PendingRange(stream, group.name, None, PAGE), (cut, greatest), counts
        )
    return tuple(counts.most_common()), complete


async def _counted_below(
    server: Server, start: PendingRange, bounds: tuple[EntryId, EntryId], every: Counter[str]
) -> tuple[Counter[str], bool]:
    """Rows below an ID by consumer, counted from the nearer end; and whether these are all.

    Args:
        server: The server.
        start: The first page of the group's list.
        bounds: The ID, and that of the last row that ``every`` has: what came later is no part of it.
        every: All rows of the group by consumer.
    """
    cut, greatest = bounds
    below, above = Counter[str](), Counter[str]()
    low, high = start, start._replace(after=cut.previous())
    since = start._replace(after=greatest, limit=MOST_NEWER)
    while below.total() < MOST_PENDING:
        rows = await read_pending_page(server, low)
        beyond = [row for row in await read_pending_page(server, high) if row.id <= greatest]
        below.update(row.consumer for row in rows if row.id < cut)
        if len(rows) < PAGE or rows[-1].id >= cut:
            # One page is as it was at its own instant.
            return below, low is start or await _removed_since(server, since, every) == Counter()
        above.update(row.consumer for row in beyond)
        if len(beyond) < PAGE:
            return _certain(below, every - above, await _removed_since(server, since, every))
        low, high = low._replace(after=rows[-1].id), high._replace(after=beyond[-1].id)
    return below, False


def _certain(
    below: Counter[str], rest: Counter[str], removed: Counter[str] | None
) -> tuple[Counter[str], bool]:
    """What is known of the rows below an ID; and whether these are all.

    Args:
        below: Those that were counted.
        rest: All rows but those that were counted above it.
        removed: Rows that are gone since all were counted, some of which may have been above and not counted there.
    """
    if removed is None:
        return below, False
    return max(rest - removed, below, key=Counter.total), not removed


async def _removed_since(server: Server, since: PendingRange, every: Counter[str]) -> Counter[str] | None:
    """Rows by consumer that a group had and has no more; None if that is not known.

    Args:
        server: The server.
        since: What came after the last row that it had.
        every: All rows that it had.
    """
    told = await read_pending_at_once(server, since)
    if told is None or len(told[1]) == since.limit:
        return None
    left = Counter(told[0])
    left.subtract(row.consumer for row in told[1])
    # Rows that came between those that it had, as claims can make them, leave nothing to conclude.
    return None if left.total() > every.total() else every - left


FAR: Final = 1_000_000
"""Entries counted from either end where a trim is exact, or heeds no group."""


async def survey_trim(place: ServerContext, intent: TrimIntent) -> TrimEvidence:
    """Find out what a bound comes to, who still needs what, and how many entries may go."""
    forbid_existing(intent.backup)
    if intent.backup is not None and not intent.is_rest:
        forbid_existing(part_of(intent.backup))
    server = place.server
    look = await inspect_stream(server, intent.stream)
    for group in look.reading.groups:
        if group.pending and group.oldest_pending is None:
            await read_pending_page(server, PendingRange(intent.stream, group.name, None, 1))
            raise Refused(
                "a trim is a script, and this user may not run scripts",
                "Ask for permission for EVAL and EVALSHA; `streamops doctor --acl operator` prints what is needed.",
            )
    evidence = TrimEvidence(
        identity=look.identity,
        length=look.reading.length,
        entry_bytes=look.reading.entry_bytes or 0,
        asked=_asked_id(look, intent),
        wanted=Amount(0, 0),
        removable=Amount(0, 0),
    )
    return await (_survey_safe if intent.safe else _survey_unsafe)(place, look, intent, evidence)


def _asked_id(look: StreamInspection, intent: TrimIntent) -> EntryId | None:
    """The ID that ``--minid`` or ``--before`` means."""
    if intent.before is None:
        return intent.minid
    if look.now is None:
        raise Refused(
            f"stream {intent.stream}: the server's clock cannot be read, so an age has no meaning",
            "Ask for permission for TIME, or give --minid.",
        )
    return EntryId(max(0, (look.now - intent.before - EPOCH) // timedelta(milliseconds=1)), 0)


async def _survey_safe(
    place: ServerContext, look: StreamInspection, intent: TrimIntent, evidence: TrimEvidence
) -> TrimEvidence:
    server, groups = place.server, look.reading.groups
    near = FAR if intent.exact else NEAR
    if intent.maxlen is not None:
        surplus = max(0, look.reading.length - intent.maxlen)
        wanted = Amount(surplus, surplus)
    else:
        wanted = await count_below(server, look, evidence.asked or ZERO_ID, near=near)
    if not groups:
        return replace(evidence, wanted=wanted)
    group = min(groups, key=lambda one: (needed_by(one), one.name))
    free = await _count_free(server, look, group, near=near, enough=wanted.upper)
    return replace(
        evidence,
        wanted=wanted,
        removable=Amount(min(wanted.lower, free.lower), min(wanted.upper, free.upper)),
        holder=await _holder(place, look, group, free),
        references=await _references(server, look),
    )


async def _count_free(
    server: Server, look: StreamInspection, group: GroupReading, *, near: int, enough: int
) -> Amount:
    """How many entries are below the oldest one that is needed; beyond ``enough`` it may be more."""
    needs = needed_by(group)
    free = await count_below(server, look, needs, near=near, enough=enough)
    if free.exact or needs != group.last_delivered_id:
        return free
    lag = lag_of(look, group)
    if not lag.exact:
        return free
    known = look.reading.length - lag.upper - await _count_at(server, look, needs)
    return Amount(known, known) if free.lower <= known <= free.upper else free


async def _count_at(server: Server, look: StreamInspection, one: EntryId) -> int:
    """1 where an entry of that ID exists, otherwise 0."""
    if one in {ZERO_ID, LAST_ID}:
        return 0
    before = one.previous()
    return (await count_after_each(server, look, [before], one.next(), most=1))[before].lower


async def _holder(
    place: ServerContext, look: StreamInspection, group: GroupReading, free: Amount
) -> BlockingGroup:
    server, needs, oldest = place.server, needed_by(group), group.oldest_pending
    if oldest is not None and oldest.id == needs:
        exists = await _count_at(server, look, needs) == 1
        is_poison = exists and oldest.delivery_count >= place.thresholds.poison_deliveries
        return BlockingGroup(group.name, needs, oldest, entry_exists=exists, is_poison=is_poison)
    unread = lag_of(look, group)
    if not unread.exact and free.exact:
        known = look.reading.length - free.upper - await _count_at(server, look, needs)
        unread = Amount(known, known)
    return BlockingGroup(group.name, needs, None, unread=unread)


async def _references(server: Server, look: StreamInspection) -> bool:
    return references_are_sound(look.server.nodes) and await knows_references(server, look.reading.name)


async def _survey_unsafe(
    place: ServerContext, look: StreamInspection, intent: TrimIntent, evidence: TrimEvidence
) -> TrimEvidence:
    server, cut = place.server, evidence.asked
    if intent.maxlen is not None:
        cut = await cut_for_length(server, look, intent.maxlen)
        if cut is None and look.reading.length > intent.maxlen:
            raise Refused(
                f"stream {intent.stream}: where it begins and ends cannot be read",
                "Ask for permission for XINFO STREAM; `streamops doctor --acl operator` prints what is needed.",
            )
    if cut is None or not look.reading.length:
        return evidence
    cut = _no_further(look, cut)
    if intent.maxlen is not None:
        surplus = look.reading.length - intent.maxlen
        removable = Amount(surplus, surplus)
    else:
        removable = await count_below(server, look, cut, near=FAR)
    return replace(
        evidence,
        asked=cut,
        wanted=removable,
        removable=removable,
        losses=await read_losses(server, look, cut, removable),
        references=await _references(server, look),
        lag_goes_wrong=lag_after_overtaking(look.server.nodes),
    )


def _no_further(look: StreamInspection, cut: EntryId) -> EntryId:
    """A cut that spares entries that arrive from now on: the plan does not say which group loses those."""
    last = look.reading.last_generated_id
    return cut if last is None or last >= cut else last.next()


def lag_after_overtaking(nodes: Sequence[ServerNode]) -> str:
    """How the server's lag of a group goes wrong where trimming overtook it, in words; empty if it does not.

    Source: redis #13338, #13473, #13958; and thousands of random histories on 7.0 and Valkey 8.1 and 9.1.
    """
    if any(node.flavour is Flavour.VALKEY for node in nodes):
        return "the server's lag will be too high until the group reads on"
    versions = [node.version for node in nodes]
    if any((7, 0, 0) <= version < LAG_SOUND_REDIS for version in versions):
        return "the server's lag will stay too high, even once the group has read everything; streamops counts instead"
    return ""


def unread_below(stream: StreamReading, position: EntryId, cut: EntryId, removable: Amount) -> Amount:
    """How many entries below an ID come after a position, as far as the position alone shows.

    Args:
        stream: The stream.
        position: Where the group stands.
        cut: The ID.
        removable: How many entries are below it.
    """
    end = stream.end_id
    if position >= cut or (end is not None and position >= end):
        return Amount(0, 0)
    if stream.first_id is None:
        return Amount(0, removable.upper)
    if position < stream.first_id:
        return removable
    # The first entry is below the ID as well, and the group was given it.
    return Amount(0, max(0, removable.upper - 1))
