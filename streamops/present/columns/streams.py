"""Streams: what ``streams ls`` shows."""

from typing import Final

from streamops.model.observation import StreamView
from streamops.present.cells import (
    NAME_WIDTH,
    compact_cell,
    count_cell,
    id_cell,
    id_text,
    name_cell,
    rate_cell,
    rounded,
)
from streamops.present.table import Align, Cell, Column, Tone
from streamops.present.units import health_text, size


def _source(view: StreamView) -> Cell:
    return name_cell(view.stream.source)


def _pending(view: StreamView) -> int:
    return sum(group.group.pending for group in view.groups)


STREAM_COLUMNS: Final[tuple[Column[StreamView], ...]] = (
    Column(
        key="stream",
        title="STREAM",
        help="The stream's key.",
        source="SCAN TYPE stream, or the names in the configuration",
        cell=lambda view: name_cell(view.stream.name),
        value=lambda view: view.stream.name,
        width=NAME_WIDTH,
        flexible=True,
        priority=0,
    ),
    Column(
        key="health",
        title="HEALTH",
        help="The worst of the findings about the stream and its groups.",
        source="streamops's own rules, over the stream and its groups",
        cell=lambda view: health_text(view.health),
        value=lambda view: view.health.word,
        rank=lambda view: view.health,
        width=9,
        priority=0,
        descending=True,
    ),
    Column(
        key="length",
        title="LENGTH",
        help="Entries in the stream (XLEN), whoever has read them.",
        source="XLEN",
        cell=lambda view: count_cell(view.stream.length),
        value=lambda view: view.stream.length,
        width=9,
        align=Align.RIGHT,
        priority=0,
        descending=True,
    ),
    Column(
        key="groups",
        title="GROUPS",
        help="Consumer groups of the stream.",
        source="XINFO STREAM groups",
        cell=lambda view: count_cell(len(view.groups)),
        value=lambda view: len(view.groups),
        width=6,
        align=Align.RIGHT,
        descending=True,
    ),
    Column(
        key="pending",
        title="PENDING",
        help="Entries delivered to consumers and not acknowledged yet, all groups together.",
        source="the sum of XINFO GROUPS pending",
        cell=lambda view: count_cell(_pending(view)),
        value=_pending,
        width=8,
        align=Align.RIGHT,
        descending=True,
    ),
    Column(
        key="added_per_second",
        title="ADDED",
        help="Entries added a second, over the recent past; a dash before there are two readings.",
        source="XINFO STREAM entries-added of two readings (before Redis 7.0: XLEN), over the time between them",
        cell=lambda view: rate_cell(view.added_per_second),
        value=lambda view: rounded(view.added_per_second),
        width=9,
        align=Align.RIGHT,
        priority=2,
        descending=True,
    ),
    Column(
        key="role",
        title="ROLE",
        help="What the stream is for, by its name and the configuration: events, dead_letters or retry.",
        source="the stream's name, or the configuration's dead_letters",
        cell=lambda view: Cell(view.stream.role),
        value=lambda view: str(view.stream.role),
        width=12,
        priority=3,
    ),
    Column(
        key="last_id",
        title="LAST ID",
        help="ID of the stream's last entry; a dash where it is empty or unknown.",
        source="XINFO STREAM last-entry, its ID alone",
        cell=lambda view: id_cell(view.stream.last_id),
        value=lambda view: id_text(view.stream.last_id),
        rank=lambda view: view.stream.last_id,
        width=18,
        priority=2,
        descending=True,
    ),
    Column(
        key="entry_bytes",
        title="ENTRY",
        help="Size of the larger of the first and last entry; ? where unknown.",
        source="the larger of first-entry and last-entry of XINFO STREAM, measured on the server",
        cell=lambda view: Cell(
            size(view.stream.entry_bytes),
            Tone.UNKNOWN if view.stream.entry_bytes is None else Tone.PLAIN,
        ),
        value=lambda view: view.stream.entry_bytes,
        width=9,
        align=Align.RIGHT,
        priority=4,
        descending=True,
    ),
)
"""What a table of streams shows."""

STREAM_DETAIL_COLUMNS: Final[tuple[Column[StreamView], ...]] = (
    Column(
        key="first_id",
        title="FIRST ID",
        help="ID of the stream's first entry; a dash where it is empty or unknown.",
        source="XINFO STREAM first-entry, its ID alone",
        cell=lambda view: id_cell(view.stream.first_id),
        value=lambda view: id_text(view.stream.first_id),
        rank=lambda view: view.stream.first_id,
        width=18,
    ),
    Column(
        key="last_generated_id",
        title="LAST GENERATED",
        help="The highest ID the stream ever had; a dash where unknown.",
        source="XINFO STREAM last-generated-id",
        cell=lambda view: id_cell(view.stream.last_generated_id),
        value=lambda view: id_text(view.stream.last_generated_id),
        rank=lambda view: view.stream.last_generated_id,
        width=18,
    ),
    Column(
        key="max_deleted_id",
        title="MAX DELETED",
        help="The highest ID deleted by XDEL; a dash where unknown (before Redis 7.0).",
        source="XINFO STREAM max-deleted-entry-id (Redis 7.0 and later)",
        cell=lambda view: id_cell(view.stream.max_deleted_id),
        value=lambda view: id_text(view.stream.max_deleted_id),
        rank=lambda view: view.stream.max_deleted_id,
        width=18,
    ),
    Column(
        key="entries_added",
        title="ADDED EVER",
        help="Entries ever added to the stream; ? where unknown (before Redis 7.0).",
        source="XINFO STREAM entries-added (Redis 7.0 and later)",
        cell=lambda view: compact_cell(view.stream.entries_added),
        value=lambda view: view.stream.entries_added,
        width=10,
        align=Align.RIGHT,
        descending=True,
    ),
    Column(
        key="source",
        title="SOURCE",
        help="For dead letters and retry streams, the stream they came from.",
        source="the stream's name, or the configuration's dead_letters",
        cell=_source,
        value=lambda view: view.stream.source,
        width=NAME_WIDTH,
        flexible=True,
    ),
)
"""What scripts and ``--fields`` can have besides."""
