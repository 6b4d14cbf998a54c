"""Findings as they fire."""

from datetime import UTC, datetime
from typing import Final

from streamops.present.alerts import AlertRow
from streamops.present.cells import name_cell
from streamops.present.table import Cell, Column
from streamops.present.text import safe
from streamops.present.units import health_text, rfc3339


def clock_text(moment: datetime) -> str:
    """The time of day in UTC, with the seconds: ``11:58:02``."""
    return moment.astimezone(UTC).strftime("%H:%M:%S")


def _since(row: AlertRow) -> Cell:
    return Cell(f"{'<' if row.from_start else ' '}{clock_text(row.since)}")


ALERT_COLUMNS: Final[tuple[Column[AlertRow], ...]] = (
    Column(
        key="level",
        title="LEVEL",
        help="How bad it is: warn or critical.",
        cell=lambda row: health_text(row.finding.level),
        value=lambda row: row.finding.level.word,
        rank=lambda row: row.finding.level,
        width=6,
        priority=0,
        descending=True,
    ),
    Column(
        key="code",
        title="FINDING",
        help="The finding, in a word or two.",
        cell=lambda row: Cell(row.finding.code.replace("_", " ")),
        value=lambda row: str(row.finding.code),
        width=14,
        priority=0,
    ),
    Column(
        key="stream",
        title="STREAM",
        help="The stream it concerns; a dash for the server.",
        cell=lambda row: name_cell(row.stream),
        value=lambda row: row.stream,
        width=16,
        flexible=True,
        priority=0,
    ),
    Column(
        key="group",
        title="GROUP",
        help="The group it concerns; a dash for the stream or the server.",
        cell=lambda row: name_cell(row.group),
        value=lambda row: row.group,
        width=12,
        flexible=True,
        priority=0,
    ),
    Column(
        key="since",
        title=" SINCE",
        help="When this console first saw it, in UTC; < where it was there when the console started.",
        cell=_since,
        value=lambda row: rfc3339(row.since),
        width=9,
        priority=1,
        descending=True,
    ),
    Column(
        key="text",
        title="WHAT HAPPENED",
        help="One sentence with the numbers.",
        cell=lambda row: Cell(safe(row.finding.text)),
        value=lambda row: row.finding.text,
        width=14,
        flexible=True,
        priority=1,
    ),
)
