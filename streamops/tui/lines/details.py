"""A row told in full: its findings and what to do, its numbers and what they rest on. Pure lines of cells."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from streamops.model.observation import Finding, GroupView, Health, Observation, Retries, StreamView
from streamops.model.pending import PendingProfile
from streamops.model.streams import ReadError
from streamops.resources.groups import GROUP_COLUMNS, GROUP_DETAIL_COLUMNS, GroupRow
from streamops.resources.kinds import NOT_THERE
from streamops.resources.pending import DELIVERY_BUCKETS, IDLE_BUCKETS
from streamops.resources.streams import STREAM_COLUMNS, STREAM_DETAIL_COLUMNS
from streamops.resources.table import Cell, Column, Fact, Resource, Tone
from streamops.resources.text import safe
from streamops.resources.units import count, health_text, lag_text, percent
from streamops.tui.widgets.paint import BLANK_LINE, Line, cell_width, wrap

LABEL_WIDTH: Final = 14
BAR_WIDTH: Final = 12
GROUP_FACTS: Final = (
    ("time_lag_seconds", "pending", "oldest_pending_age_seconds", "oldest_pending_idle_seconds"),
    ("oldest_pending_deliveries", "oldest_pending_id", "oldest_pending_consumer"),
    ("added_per_second", "delivered_per_second", "acked_per_second", "lag_per_second", "trend"),
    ("consumers", "length", "last_delivered_id", "entries_read", "lost"),
)
STREAM_FACTS: Final = (
    ("length", "groups", "pending", "added_per_second", "entries_added"),
    ("first_id", "last_id", "last_generated_id", "max_deleted_id"),
    ("role", "source", "entry_bytes"),
)
LABELS: Final = {
    "oldest_pending_deliveries": "Deliveries",
    "oldest_pending_id": "Oldest ID",
    "consumers": "Consumers",
    "entries_read": "Entries read",
    "entries_added": "Added ever",
    "first_id": "First ID",
    "last_id": "Last ID",
    "entry_bytes": "Entry size",
}
GROUP_BY_KEY: Final = {column.key: column for column in (*GROUP_COLUMNS, *GROUP_DETAIL_COLUMNS)}
STREAM_BY_KEY: Final = {column.key: column for column in (*STREAM_COLUMNS, *STREAM_DETAIL_COLUMNS)}
GLYPHS: Final = {Tone.WARN: "▲ ", Tone.CRITICAL: "✗ ", Tone.OK: "✓ "}
MARKS: Final = tuple("▲✗✓▸‖?")
IMPACT: Final = "impact"
ELSEWHERE: Final = "Elsewhere: "
"""What sets findings that are not about the row apart from those of the row."""
NO_NAMES: Final[Mapping[str, str]] = {}
OLDEST: Final = (
    "oldest_pending_idle_seconds",
    "oldest_pending_deliveries",
    "oldest_pending_id",
    "oldest_pending_consumer",
)


def group_lines(row: GroupRow, width: int) -> list[Line]:
    """A group, or a stream without groups, in full."""
    if row.group is None:
        return stream_lines(row.stream, width)
    view = row.group
    lines = title_lines((row.stream.stream.name, view.group.name), view.health, width)
    lines += finding_lines((*view.findings, *row.stream.findings), width)
    return lines + _numbers(row, width)


def _numbers(row: GroupRow, width: int) -> list[Line]:
    if row.group is None:
        return _stream_numbers(row.stream, width)
    view = row.group
    lines = _lag(view, width)
    for keys in GROUP_FACTS:
        shown = _shown(view, keys)
        lines += [*_facts(row, GROUP_BY_KEY, shown, width), BLANK_LINE] if shown else []
    if view.retries is not None:
        lines += [*_retry_lines(view.retries, width), BLANK_LINE]
    return lines + profile_lines(view.group.profile)


def brief_lines(row: GroupRow, width: int) -> list[Line]:
    """What was found about a group, or a stream without groups, and the fix; without findings, its first numbers."""
    findings = (*(row.group.findings if row.group is not None else ()), *row.stream.findings)
    if not findings:
        return _numbers(row, width)
    lines: list[Line] = []
    for finding in findings:
        mark = finding_mark(finding)
        lines += paragraph(f"{mark.text}: {safe(finding.text)}", width, mark.tone, hang=2)
        lines += paragraph(f"→ {safe(finding.advice)}", width, Tone.OK, hang=2) if finding.advice else []
    return lines


def stream_lines(view: StreamView, width: int) -> list[Line]:
    """A stream in full, without its groups."""
    lines = title_lines((view.stream.name,), view.health, width)
    lines += finding_lines(view.findings, width)
    return lines + _stream_numbers(view, width)


def _stream_numbers(view: StreamView, width: int) -> list[Line]:
    lines: list[Line] = []
    for keys in STREAM_FACTS:
        lines += _facts(view, STREAM_BY_KEY, keys, width)
        lines.append(BLANK_LINE)
    return lines


def server_lines(observation: Observation, width: int) -> list[Line]:
    """What was found that no row has: about delayed queues, about the server, and what could not be read."""
    lines: list[Line] = []
    for stream in dict.fromkeys(finding.stream for finding in observation.findings):
        about = "the server" if stream is None else f"delayed messages of {safe(stream)}"
        found = [finding for finding in observation.findings if finding.stream == stream]
        lines += [*paragraph(f"{ELSEWHERE}{about}", width, Tone.STRONG), *finding_lines(found, width)]
    if observation.snapshot.gaps and not lines:
        lines.append(heading(f"{ELSEWHERE}the server"))
    for gap in observation.snapshot.gaps:
        lines += paragraph(gap_text(gap), width, Tone.UNKNOWN)
    return lines


def finding_mark(finding: Finding) -> Cell:
    """A finding in a sign and its name."""
    level = health_text(finding.level)
    return Cell(f"{level.text[0]} {finding.code.replace('_', ' ')}", level.tone)


def gap_text(gap: ReadError) -> str:
    """What could not be read, and why."""
    return f"not readable: {safe(gap.scope)}: {safe(gap.reason)}"


def finding_lines(findings: Iterable[Finding], width: int) -> list[Line]:
    """Findings, each with what to do."""
    lines: list[Line] = []
    for finding in findings:
        mark = finding_mark(finding)
        lines.append((Cell(f" {mark.text}", mark.tone),))
        lines += paragraph(safe(finding.text), width, Tone.PLAIN, indent=3)
        if finding.advice:
            lines += paragraph(f"→ {safe(finding.advice)}", width, Tone.OK, indent=3, hang=2)
        lines.append(BLANK_LINE)
    return lines


def profile_lines(profile: PendingProfile | None) -> list[Line]:
    """How long pending entries have been idle and how often they were delivered, as far as it was scanned."""
    if profile is None or profile.scanned == 0:
        return []
    lines = [heading(f"Pending by idle, {percent(profile.coverage)} scanned")]
    lines += _histogram(IDLE_BUCKETS, profile.idle_buckets)
    lines += [BLANK_LINE, heading("Pending by deliveries")]
    lines += _histogram(DELIVERY_BUCKETS, profile.delivery_buckets)
    return [*lines, BLANK_LINE]


def column_lines(columns: Sequence[Column[Any]], row: object, width: int) -> list[Line]:
    """Every column of a row: its title, its value here, what it means, and where that comes from."""
    lines: list[Line] = []
    for column in columns:
        cell = column.cell(row)
        lines.append(
            (
                Cell(f" {column.title.ljust(LABEL_WIDTH)}", Tone.STRONG),
                Cell(f" {cell.text.strip()}", cell.tone),
            )
        )
        lines += paragraph(column.help, width, Tone.PLAIN, indent=LABEL_WIDTH + 2)
        if column.source:
            lines += paragraph(f"from {column.source}", width, Tone.DIM, indent=LABEL_WIDTH + 2)
    return lines


def paragraph(text: str, width: int, tone: Tone, *, indent: int = 1, hang: int = 0) -> list[Line]:
    """Safe text broken into lines, the second and later ones hanging further in."""
    pieces = wrap(text, max(width - indent - hang - 1, LABEL_WIDTH))
    return [
        (Cell(" " * (indent + (hang if number else 0)) + piece, tone),) for number, piece in enumerate(pieces)
    ]


def title_lines(names: Sequence[str], health: Health, width: int) -> list[Line]:
    """Names, and how what they name is."""
    lines = paragraph(" ▸ ".join(map(safe, names)), width, Tone.STRONG)
    shown = health_text(health)
    return [*lines, (Cell(f" {shown.text}", shown.tone),), BLANK_LINE]


def heading(text: str) -> Line:
    """The title of a part, safe to show."""
    return (Cell(f" {text}", Tone.STRONG),)


def _lag(view: GroupView, width: int) -> list[Line]:
    lines: list[Line] = [
        (_label("Lag"), lag_text(view.group.lag), Cell(f"  {view.group.lag.basis}", Tone.DIM))
    ]
    if view.group.lag.reason:
        lines += paragraph(safe(view.group.lag.reason), width, Tone.DIM, indent=3)
    if view.group.time_lag.reason:
        lines += paragraph(f"lag age: {safe(view.group.time_lag.reason)}", width, Tone.DIM, indent=3)
    return lines


def _shown(view: GroupView, keys: Sequence[str]) -> Sequence[str]:
    if view.group.oldest_pending is None:
        keys = [key for key in keys if key not in OLDEST]
    return keys


def _retry_lines(retries: Retries, width: int) -> list[Line]:
    """What is due again for the group alone."""
    lines = _fact("Retry stream", Cell(safe(retries.stream)), width)
    lines += _fact("Retry", Cell(count(retries.length)), width)
    lines += _fact("Retry pending", Cell(count(retries.pending)), width)
    return lines + _fact("Retry lag", lag_text(retries.lag), width)


def _facts(row: object, columns: dict[str, Column[Any]], keys: Sequence[str], width: int) -> list[Line]:
    lines: list[Line] = []
    for key in keys:
        column = columns[key]
        cell = column.cell(row)
        lines += _fact(LABELS.get(key) or column.title.capitalize(), cell, width)
    return lines


def _fact(label: str, cell: Cell, width: int) -> list[Line]:
    room = width - LABEL_WIDTH - 3
    text = cell.text.strip()
    if cell_width(text) <= room:
        return [(_label(label), Cell(text, cell.tone))]
    first, *rest = wrap(text, max(room, LABEL_WIDTH))
    indent = " " * (LABEL_WIDTH + 2)
    return [(_label(label), Cell(first, cell.tone)), *((Cell(indent + piece, cell.tone),) for piece in rest)]


def _label(text: str) -> Cell:
    return Cell(f" {text.ljust(LABEL_WIDTH)} ", Tone.DIM)


def _histogram(labels: Sequence[str], buckets: Sequence[int]) -> list[Line]:
    top = max(buckets, default=0) or 1
    return [
        (
            _label(label),
            Cell(("█" * -(-number * BAR_WIDTH // top)).ljust(BAR_WIDTH + 1), Tone.OK),
            Cell(count(number), Tone.PLAIN if number else Tone.DIM),
        )
        for label, number in zip(labels, buckets, strict=True)
    ]


def fact_lines(facts: Iterable[Fact], width: int) -> list[Line]:
    """Facts under each other, their names beside them; what matters has a glyph too."""
    lines: list[Line] = []
    for fact in facts:
        for number, cell in enumerate(fact.lines):
            lines += _said(fact.name if number == 0 else "", cell, width)
    return lines


def _said(name: str, cell: Cell, width: int) -> list[Line]:
    glyph = GLYPHS.get(cell.tone, GLYPHS[Tone.OK] if name == IMPACT else "")
    if cell.text.startswith(MARKS):
        glyph = ""
    pieces = wrap(glyph + safe(cell.text), max(width - LABEL_WIDTH - 2, LABEL_WIDTH))
    return [
        (Cell(f" {(name if number == 0 else '').ljust(LABEL_WIDTH)}", Tone.DIM), Cell(piece, cell.tone))
        for number, piece in enumerate(pieces)
    ]


def row_lines(resource: Resource[Any], row: object, width: int) -> list[Line]:
    """A row in full: its name, then every column that has something to say."""
    name = safe(resource.name_of(row) or "")
    columns = {column.key: column for column in (*resource.columns, *resource.more)}
    facts = [column for column in columns.values() if column.title and column.cell(row).text != name]
    return [*paragraph(name, width, Tone.STRONG), *column_facts(facts, row, width)]


def column_facts(
    columns: Sequence[Column[Any]], row: object, width: int, names: Mapping[str, str] = NO_NAMES
) -> list[Line]:
    """Every column that has something to say about a row.

    Args:
        columns: The columns in order.
        row: The row.
        width: Cells there are.
        names: What columns are called here, by key, where their titles are too short.
    """
    cells = ((column, column.cell(row)) for column in columns)
    return fact_lines(
        (
            Fact(names.get(column.key, column.title.lower()), (cell,))
            for column, cell in cells
            if cell != NOT_THERE and cell.text
        ),
        width,
    )
