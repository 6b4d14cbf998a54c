"""Destroying a consumer group: what the server says about it, and the plan."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from msgspec import Struct

from streamops.errors import Forbidden
from streamops.model.acting import Plan, StreamIdentity
from streamops.model.effects import GROUP_REMOVED, PENDING_LOST, UNGIVEN_LOST, Said
from streamops.model.entries import Amount, EntryId
from streamops.model.fields import Passing
from streamops.model.wording import command, first_few
from streamops.operations.groups_destroy.intent import DestroyGroupIntent
from streamops.operations.planning import GROUP_UNIT, PENDING_UNIT, planned, untouched


class DestroyGroupEvidence(Struct, frozen=True, kw_only=True):
    """What the server says about it.

    Attributes:
        identity: Which stream and group this is.
        now: The server's clock; None if it may not be asked.
        position: Where the group stands.
        entries_read: The server's counter there; None if it has none, or does not know.
        lag: Entries that it was not given yet.
        pending: Entries that are pending.
        owners: How many of them by consumer, most first.
        consumers: How many consumers it has.
        active: Consumers that were seen just now.
        backup: The file that position and pending rows are written to; empty for none.
        other_groups: The stream's other groups.
    """

    identity: StreamIdentity
    now: datetime | None
    position: EntryId
    entries_read: int | None
    lag: Passing[Amount]
    pending: int
    owners: tuple[tuple[str, int], ...]
    consumers: int
    active: Passing[tuple[str, ...]]
    backup: Passing[str]
    other_groups: tuple[str, ...]


DESTROYED_AT_ONCE: Final = 10_000
"""Pending rows that go with the group in one step; above, they are taken off in batches first."""

ROWS_A_MILLISECOND: Final = 6_500
"""About so many pending rows XGROUP DESTROY frees in a millisecond: 990,000 took 152 ms on Redis 7.0."""


def plan_destroy_group(intent: DestroyGroupIntent, evidence: DestroyGroupEvidence) -> Plan:
    """Destroy a group.

    Raises:
        Forbidden: It has so many pending rows that they are taken off in batches, and there is no backup that shows
            which they were if that ends midway.
    """
    group, pending, backup = intent.group, evidence.pending, evidence.backup
    if pending > DESTROYED_AT_ONCE and not backup:
        raise Forbidden(
            f"group {intent.stream}/{group} has {pending:,} pending rows and no backup",
            f"Nothing was done. More than {DESTROYED_AT_ONCE:,} are removed in batches, which may be "
            "interrupted: name a file with --backup.",
        )
    return planned(
        intent,
        pending or 1,
        unit=PENDING_UNIT if pending else GROUP_UNIT,
        effects=_effects(intent, evidence),
        loses=[
            f"The record of what was delivered to the group, up to {evidence.position}.",
            PENDING_LOST(pending, group=group, names=evidence.owners),
            UNGIVEN_LOST(evidence.lag, group=group),
        ],
        warnings=[
            bool(evidence.active)
            and f"Seen just now: {first_few(evidence.active)}. Consumers that wait for entries of this group get the error "
            "NOGROUP.",
            pending
            and not backup
            and "No backup file is named: the IDs of the pending entries will be lost.",
        ],
    )


def _effects(intent: DestroyGroupIntent, evidence: DestroyGroupEvidence) -> Iterator[Said]:
    pending, position, counter = evidence.pending, evidence.position, evidence.entries_read
    yield GROUP_REMOVED(evidence.consumers, position, group=intent.group)
    if pending:
        owners = first_few([f"{owner} ({count:,})" for owner, count in evidence.owners])
        yield f"Its pending entries, by consumer: {owners}."
    if pending > DESTROYED_AT_ONCE:
        yield (
            f"Its {pending:,} pending rows are removed in batches first: at once they would block the "
            f"server for about {pending // ROWS_A_MILLISECOND:,} ms."
        )
    if evidence.backup:
        yield f"Position and pending rows are written to {evidence.backup} first, for the record."
    options = f"--at {position}" + ("" if counter is None else f" --entries-read {counter}")
    again = command("groups create", intent.stream, intent.group, options=options)
    yield f"`{again}` restores the position{', but nothing that was pending' if pending else ''}."
    yield untouched(evidence.other_groups)
