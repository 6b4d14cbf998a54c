"""What a trim has to know first: what its bound comes to, who still needs what, how many entries may go."""

from datetime import timedelta
from typing import Final

from msgspec.structs import replace

from streamops.errors import Refused
from streamops.model.acts.trim import Holder, TrimEvidence, TrimIntent
from streamops.model.entries import Amount
from streamops.model.ids import EPOCH, LAST_ID, ZERO_ID, EntryId
from streamops.model.readings import GroupReading
from streamops.monitor.context import Place
from streamops.monitor.inspection import Look, lag_of, look_at
from streamops.operate.backups import forbid_existing, part_of
from streamops.operate.operations.trim_losses import read_losses
from streamops.operate.operations.trimming import lag_after_overtaking, references_are_sound
from streamops.operate.operations.walking import NEAR, count_after_each, count_below, cut_for_length
from streamops.plans.trim import needed_by
from streamops.wire.server import Server
from streamops.wire.writes.trim import knows_references

FAR: Final = 1_000_000
"""Entries counted from either end where a trim is exact, or heeds no group."""


async def survey_trim(place: Place, intent: TrimIntent) -> TrimEvidence:
    """Find out what a bound comes to, who still needs what, and how many entries may go."""
    if intent.backup is not None:
        forbid_existing(intent.backup)
        if not intent.is_rest:
            forbid_existing(part_of(intent.backup))
    server = place.server
    look = await look_at(server, intent.stream)
    for group in look.reading.groups:
        if group.pending and group.oldest_pending is None:
            raise Refused(
                f"group {intent.stream}/{group.name}: its pending entries cannot be read",
                "Ask for the permission of XPENDING; `streamops doctor --acl operator` prints what is needed.",
            )
    evidence = TrimEvidence(
        identity=look.identity,
        length=look.reading.length,
        entry_bytes=look.reading.entry_bytes or 0,
        asked=_asked_id(look, intent),
        wanted=Amount(0, 0),
        removable=Amount(0, 0),
    )
    return await (_survey_safe if intent.safe else _survey_unsafe)(server, look, intent, evidence)


def _asked_id(look: Look, intent: TrimIntent) -> EntryId | None:
    """The ID that ``--minid`` or ``--before`` means."""
    if intent.before is None:
        return intent.minid
    if look.now is None:
        raise Refused(
            f"stream {intent.stream}: the server's clock may not be read, so an age is no time",
            "Ask for the permission of TIME, or give --minid.",
        )
    return EntryId(max(0, (look.now - intent.before - EPOCH) // timedelta(milliseconds=1)), 0)


async def _survey_safe(
    server: Server, look: Look, intent: TrimIntent, evidence: TrimEvidence
) -> TrimEvidence:
    groups = look.reading.groups
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
        holder=await _holder(server, look, group, free),
        references=await _references(server, look),
    )


async def _count_free(server: Server, look: Look, group: GroupReading, *, near: int, enough: int) -> Amount:
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


async def _count_at(server: Server, look: Look, one: EntryId) -> int:
    """1 where an entry of that ID exists, otherwise 0."""
    if one in {ZERO_ID, LAST_ID}:
        return 0
    before = one.previous()
    return (await count_after_each(server, look, [before], one.next(), most=1))[before].lower


async def _holder(server: Server, look: Look, group: GroupReading, free: Amount) -> Holder:
    needs, oldest = needed_by(group), group.oldest_pending
    if oldest is not None and oldest.id == needs:
        exists = await _count_at(server, look, needs) == 1
        return Holder(group.name, needs, oldest, entry_exists=exists)
    unread = lag_of(look, group)
    if not unread.exact and free.exact:
        known = look.reading.length - free.upper - await _count_at(server, look, needs)
        unread = Amount(known, known)
    return Holder(group.name, needs, None, unread=unread)


async def _references(server: Server, look: Look) -> bool:
    return references_are_sound(look.server.nodes) and await knows_references(server, look.reading.name)


async def _survey_unsafe(
    server: Server, look: Look, intent: TrimIntent, evidence: TrimEvidence
) -> TrimEvidence:
    cut = evidence.asked
    if intent.maxlen is not None:
        cut = await cut_for_length(server, look, intent.maxlen)
        if cut is None and look.reading.length > intent.maxlen:
            raise Refused(
                f"stream {intent.stream}: where it begins and ends cannot be read",
                "Ask for the permission of XINFO STREAM; `streamops doctor --acl operator` prints what is needed.",
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


def _no_further(look: Look, cut: EntryId) -> EntryId:
    """A cut that spares whatever arrives from now on: nobody has said who loses that."""
    last = look.reading.last_generated_id
    return cut if last is None or last >= cut else last.next()
