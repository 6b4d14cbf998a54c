"""Deleting entries by their IDs: what the server says about them, and the plan."""

from collections.abc import Iterator

from msgspec import Struct

from streamops.model.acting import Plan, StreamIdentity
from streamops.model.effects import (
    ALL_READ,
    DELETED,
    FOR_GOOD,
    KEEPS_DANGLING,
    NEVER_GETS,
    NO_ENTRY,
    ROWS_DELETED,
    Effect,
    Said,
)
from streamops.model.entries import EntryId
from streamops.model.wording import counted, first_few, quoted
from streamops.operations.planning import planned
from streamops.operations.streams_rm_entry.intent import DeleteIntent


class GroupEffect(Struct, frozen=True):
    """What a group has to do with entries that are to be deleted.

    Attributes:
        group: Its name.
        unread: How many it has yet to read.
        pending: How many of them are pending, by consumer, the most first.
    """

    group: str
    unread: int
    pending: tuple[tuple[str, int], ...]


class DeleteEvidence(Struct, frozen=True):
    """What the server says about them.

    Attributes:
        identity: Which stream this is, and where its groups stand.
        existing: Those that exist, in the order asked for.
        groups: What each of its groups has to do with those.
        entry_bytes: Size of the larger of the stream's first and last entry.
        counts_lag: Whether this server counts a lag, which an entry deleted ahead of a group makes unknown.
        by_xdelex: Whether the server can delete an entry and its pending rows together, and its version is sound.
    """

    identity: StreamIdentity
    existing: tuple[EntryId, ...]
    groups: tuple[GroupEffect, ...]
    entry_bytes: int
    counts_lag: bool
    by_xdelex: bool = False


NAMED = 5
"""Groups that have a sentence of their own."""


def plan_delete(intent: DeleteIntent, evidence: DeleteEvidence) -> Plan:
    """Delete those of the IDs that exist."""
    found, backup = evidence.existing, intent.backup
    ahead = [group.group for group in evidence.groups if group.unread]
    way_back = " for good: no backup is written"
    if backup is not None:
        again = f"`streamops restore {quoted(backup)} --new-ids` adds them again at the end of the stream"
        way_back = f"; {again}, for every group"
    return planned(
        intent,
        len(found),
        sample=map(str, found),
        effects=_effects(intent, evidence) if found else (),
        loses=[FOR_GOOD(len(found), way_back)],
        warnings=[
            NO_ENTRY(len(set(intent.ids)) - len(found)),
            bool(ahead)
            and evidence.counts_lag
            and f"The server will not know the lag of {'group' if len(ahead) == 1 else 'groups'} {first_few(ahead)} "
            "until they have read up to the end.",
        ],
        facts=(fact for group in _concerned(evidence)[NAMED:] for fact in _facts(group, evidence)),
    )


def _effects(intent: DeleteIntent, evidence: DeleteEvidence) -> Iterator[Said]:
    by = "XDELEX with DELREF: their pending rows go as well" if evidence.by_xdelex else "XDEL"
    yield DELETED(len(evidence.existing), by)
    concerned = _concerned(evidence)
    for group in concerned[:NAMED]:
        yield from _facts(group, evidence)
    if (more := len(concerned) - NAMED) > 0:
        yield f"{counted(more, 'further group has', 'further groups have')} some of them pending or unread."
    yield ALL_READ(len(evidence.groups) - len(concerned))
    if intent.backup is not None:
        yield f"Each is written to {intent.backup} before it is deleted."


def _concerned(evidence: DeleteEvidence) -> list[GroupEffect]:
    return [group for group in evidence.groups if group.unread or group.pending]


def _facts(one: GroupEffect, evidence: DeleteEvidence) -> Iterator[Effect | None]:
    """What a group misses, and what becomes of its pending rows."""
    yield NEVER_GETS(one.unread, group=one.group)
    rows = ROWS_DELETED if evidence.by_xdelex else KEEPS_DANGLING
    yield rows(sum(count for _, count in one.pending), group=one.group, names=one.pending)
