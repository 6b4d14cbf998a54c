"""``streamops pending ls`` and ``summary``."""

from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

from streamops.cli.options import command
from streamops.cli.params import Group, Stream
from streamops.cli.printer import Section
from streamops.cli.reading import note_profile, observe_stream, only_group, only_stream
from streamops.cli.session import Session
from streamops.errors import NotFound
from streamops.model.entries import EntryId
from streamops.model.fields import option
from streamops.model.json_text import text_json
from streamops.model.pending import PendingProfile
from streamops.monitor.search import PendingSearch, PendingSummary, search_pending
from streamops.resources.kinds import id_text
from streamops.resources.pending import (
    OWNER_COLUMNS,
    PENDING_COLUMNS,
    PROFILE_COLUMNS,
    SUMMARY_COLUMNS,
    OwnerRow,
    PendingRow,
    SummaryRow,
    pending_json,
    profile_json,
    profile_rows,
)

if TYPE_CHECKING:
    from streamops.operations.console import Console

MAX_SCAN: Final = 100_000


@command(
    examples=[
        ("streamops pending ls orders billing", "the oldest hundred"),
        (
            "streamops pending ls orders billing --min-idle 10m --consumer worker-7",
            "what worker-7 has held for ten minutes",
        ),
    ],
    exits={1: "no such stream, group or consumer"},
)
def ls(
    session: Session,
    *,
    stream: Stream,
    group: Group,
    consumer: Annotated[str | None, option("Only entries that this consumer owns.", metavar="NAME")] = None,
    min_idle: Annotated[
        timedelta | None, option("Only entries last delivered at least this long ago.")
    ] = None,
    min_deliveries: Annotated[int, option("Only entries delivered at least N times.")] = 0,
    after: Annotated[EntryId | None, option("Start after this ID.")] = None,
) -> None:
    """List entries delivered to a group and not acknowledged, by ID, so the oldest first.

    At most 100 rows are listed unless --limit is given, and at most 100,000 scanned.
    """
    printer = session.printer(PENDING_COLUMNS)
    query = PendingSearch(
        after=after,
        consumer=consumer,
        min_idle=min_idle or timedelta(0),
        min_deliveries=min_deliveries,
        limit=session.limit,
    )
    found = session.run(lambda console: search_pending(partial(console.read_pending, stream, group), query))
    if consumer is not None and not found.rows:
        _require_consumer(session, stream, group, consumer)
    rows = [PendingRow(entry, found.now) for entry in found.rows]
    printer.print_rows(
        rows,
        lambda: {
            "schema": "streamops.pending.ls/1",
            "stream": text_json(stream),
            "group": text_json(group),
            "entries": [pending_json(row) for row in rows],
            "scanned": found.scanned,
            "next_id": id_text(found.next_id),
        },
        pending_json,
    )
    note = session.narrator.note
    if not rows:
        note(f"no pending entries match in group {group} of stream {stream}; scanned {found.scanned:,}")
    if found.next_id is not None:
        note(f"scanned {found.scanned:,} and there are more; continue with --after {found.next_id}")


def _require_consumer(session: Session, stream: str, group: str, consumer: str) -> None:
    """Raise ``NotFound`` where the group has no consumer of that name."""
    members = only_group(only_stream(observe_stream(session, stream), stream), group).group.members
    names = [member.name for member in members or ()]
    if members is not None and consumer not in names:
        raise NotFound(
            f"group {stream}/{group} has no consumer {consumer}",
            f"Its consumers: {', '.join(names)}." if names else "It has no consumers.",
        )


@command(
    examples=[("streamops pending summary orders billing", "by consumer, idle time and deliveries")],
    exits={1: "no such stream or group"},
)
def summary(session: Session, *, stream: Stream, group: Group) -> None:
    """Sum up a group's pending entries: count, first and last ID, by consumer, by idle time, by deliveries.

    Idle times and deliveries are counted over at most 100,000 entries, the oldest first; the share that this
    is of all is printed.
    """
    printer = session.printer(SUMMARY_COLUMNS)

    async def read(console: "Console") -> tuple[PendingSummary, PendingProfile | None]:
        total = await console.read_pending_summary(stream, group)
        return total, await console.scan_pending(stream, group, limit=MAX_SCAN)

    total, profile = session.run(read)
    row = SummaryRow(stream, group, total.pending, total.smallest_id, total.greatest_id, len(total.consumers))
    owners = [OwnerRow(*owner) for owner in sorted(total.consumers, key=lambda owner: -owner[1])]
    printer.print_record(
        row,
        lambda: {
            "schema": "streamops.pending.summary/1",
            "stream": text_json(stream),
            "group": text_json(group),
            "pending": total.pending,
            "smallest_id": id_text(total.smallest_id),
            "greatest_id": id_text(total.greatest_id),
            "consumers": [
                {"consumer": text_json(owner.consumer), "pending": owner.pending} for owner in owners
            ],
            "profile": None if profile is None else profile_json(profile),
        },
        sections=[
            Section("Consumers", OWNER_COLUMNS, owners),
            Section("Distribution", PROFILE_COLUMNS, profile_rows(profile) if profile else ()),
        ],
    )
    if profile:
        note_profile(session, profile)
