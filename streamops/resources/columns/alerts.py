"""Findings as they fire."""

from datetime import UTC, datetime
from typing import Final

from streamops.resources.alerts import AlertRow
from streamops.resources.columns.kinds import of_rows
from streamops.resources.table import Cell, Column
from streamops.resources.units import rfc3339


def clock_text(moment: datetime) -> str:
    """The time of day in UTC, with the seconds: ``11:58:02``."""
    return moment.astimezone(UTC).strftime("%H:%M:%S")


def _since(row: AlertRow) -> Cell:
    return Cell(f"{'<' if row.from_start else ' '}{clock_text(row.since)}")


ALERT = of_rows(AlertRow)

ALERT_COLUMNS: Final[tuple[Column[AlertRow], ...]] = (
    ALERT.health("level", "LEVEL", 6, lambda row: row.finding.level, priority=0).means(
        "How bad it is: warn or critical."
    ),
    ALERT.column(
        "code",
        "FINDING",
        14,
        lambda row: str(row.finding.code),
        lambda row: Cell(row.finding.code.replace("_", " ")),
        priority=0,
    ).means("The finding, in a word or two."),
    ALERT.text("stream", "STREAM", 16, lambda row: row.stream, flexible=True, priority=0).means(
        "The stream it concerns; a dash for the server."
    ),
    ALERT.text("group", "GROUP", 12, lambda row: row.group, flexible=True, priority=0).means(
        "The group it concerns; a dash for the stream or the server."
    ),
    ALERT.column(
        "since", " SINCE", 9, lambda row: rfc3339(row.since), _since, descending=True, priority=1
    ).means("When this console first saw it, in UTC; < where it was there when the console started."),
    ALERT.text("text", "WHAT HAPPENED", 14, lambda row: row.finding.text, flexible=True, priority=1).means(
        "One sentence with the numbers."
    ),
)
