"""Findings of the health rules."""

from typing import Final

from streamops.present.cells import NAME_WIDTH, name_cell
from streamops.present.rows import FindingRow
from streamops.present.table import Cell, Column
from streamops.present.text import safe
from streamops.present.units import health_text

FINDING_COLUMNS: Final[tuple[Column[FindingRow], ...]] = (
    Column(
        key="level",
        title="LEVEL",
        help="How bad it is: warn or critical.",
        source="streamops's own rules",
        cell=lambda row: health_text(row.finding.level),
        value=lambda row: row.finding.level.word,
        rank=lambda row: row.finding.level,
        width=9,
        priority=0,
        descending=True,
    ),
    Column(
        key="code",
        title="CODE",
        help="What the finding is about, in one word.",
        source="streamops's own rules",
        cell=lambda row: Cell(row.finding.code),
        value=lambda row: str(row.finding.code),
        width=14,
        priority=0,
    ),
    Column(
        key="stream",
        title="STREAM",
        help="The stream it concerns; a dash for the server.",
        source="streamops's own rules",
        cell=lambda row: name_cell(row.stream),
        value=lambda row: row.stream,
        width=NAME_WIDTH,
        flexible=True,
        priority=0,
    ),
    Column(
        key="group",
        title="GROUP",
        help="The group it concerns; a dash for the stream or the server.",
        source="streamops's own rules",
        cell=lambda row: name_cell(row.group),
        value=lambda row: row.group,
        width=14,
        flexible=True,
        priority=0,
    ),
    Column(
        key="text",
        title="FINDING",
        help="One sentence with the numbers.",
        source="streamops's own rules",
        cell=lambda row: Cell(safe(row.finding.text)),
        value=lambda row: row.finding.text,
        width=40,
        flexible=True,
        priority=0,
    ),
    Column(
        key="advice",
        title="FIX",
        help="The fix.",
        source="streamops's own rules",
        cell=lambda row: Cell(safe(row.finding.advice)),
        value=lambda row: row.finding.advice,
        width=30,
        flexible=True,
        priority=0,
    ),
)
