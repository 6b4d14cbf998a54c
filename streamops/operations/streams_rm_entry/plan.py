"""Deleting entries by their IDs: what the server says about them, and the plan."""

from collections.abc import Iterator

from msgspec import Struct

from streamops.model.acting import Identity, Impact, Plan
from streamops.model.ids import EntryId
from streamops.model.wording import counted, first_few, quoted
from streamops.operations.commands import equivalent_command
from streamops.operations.planning import fingerprint, sample
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

    identity: Identity
    existing: tuple[EntryId, ...]
    groups: tuple[GroupEffect, ...]
    entry_bytes: int
    counts_lag: bool
    by_xdelex: bool = False


NAMED = 5
"""Groups that have a sentence of their own."""


def plan_delete(intent: DeleteIntent, evidence: DeleteEvidence) -> Plan:
    """Delete those of the IDs that exist."""
    found = evidence.existing
    return Plan(
        operation="streams.rm-entry",
        target=intent.stream,
        impact=Impact.DESTRUCTIVE,
        count=len(found),
        sample=sample(map(str, found)),
        effects=tuple(_effects(intent, evidence)) if found else (),
        loses=_loses(intent, len(found)) if found else "",
        command=equivalent_command("streams.rm-entry", intent),
        confirm=intent.stream,
        warnings=tuple(_warnings(intent, evidence)),
        fingerprint=fingerprint(evidence.identity.positions, found, evidence.groups),
    )


def _effects(intent: DeleteIntent, evidence: DeleteEvidence) -> Iterator[str]:
    yield f"{counted(len(evidence.existing), 'entry goes', 'entries go')} for every group, by {_by(evidence)}."
    concerned = [group for group in evidence.groups if group.unread or group.pending]
    yield from (_sentence(group, dangling=not evidence.by_xdelex) for group in concerned[:NAMED])
    if (more := len(concerned) - NAMED) > 0:
        yield f"{counted(more, 'further group has', 'further groups have')} some of them pending or unread."
    if untouched := len(evidence.groups) - len(concerned):
        yield f"{counted(untouched, 'group has', 'groups have')} read and acknowledged all of them."
    if intent.backup is not None:
        yield f"Each is written to {intent.backup} before it is deleted."


def _by(evidence: DeleteEvidence) -> str:
    """The command; the newer one takes the pending rows along."""
    return "XDELEX with DELREF: their pending rows go as well" if evidence.by_xdelex else "XDEL"


def _sentence(group: GroupEffect, *, dangling: bool) -> str:
    parts = []
    if group.unread:
        parts.append(f"never gets {counted(group.unread, 'entry', 'entries')} that it has yet to read")
    if pending := sum(count for _, count in group.pending):
        owners = first_few([f"{consumer} {count:,}" for consumer, count in group.pending])
        rows = (
            f"keeps {counted(pending, 'pending row that points', 'pending rows that point')} to nothing"
            if dangling
            else f"loses {counted(pending, 'pending entry', 'pending entries')}"
        )
        parts.append(f"{rows} ({owners})")
    return f"Group {group.group} {', and '.join(parts)}."


def _loses(intent: DeleteIntent, count: int) -> str:
    entries = counted(count, "entry", "entries")
    if intent.backup is None:
        return f"{entries} for good: no backup is written."
    again = f"`streamops restore {quoted(intent.backup)} --new-ids` adds them again at the end of the stream"
    return f"{entries}; {again}, for every group."


def _warnings(intent: DeleteIntent, evidence: DeleteEvidence) -> Iterator[str]:
    if absent := len(set(intent.ids)) - len(evidence.existing):
        yield f"{counted(absent, 'ID is no entry', 'IDs are no entries')} of the stream, and will be left out."
    ahead = [group.group for group in evidence.groups if group.unread]
    if ahead and evidence.counts_lag:
        names = ", ".join(ahead[:NAMED]) + (" and others" if len(ahead) > NAMED else "")
        yield (
            f"The server will not know the lag of {'group' if len(ahead) == 1 else 'groups'} {names} "
            "until they have read up to the end."
        )
