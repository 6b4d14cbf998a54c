"""Findings of the health rules."""

from typing import Final

from streamops.resources.cells import NAME_WIDTH
from streamops.resources.columns.kinds import of_rows
from streamops.resources.rows import FindingRow
from streamops.resources.table import Column

FINDING = of_rows(FindingRow, "streamops's own rules")

FINDING_COLUMNS: Final[tuple[Column[FindingRow], ...]] = (
    FINDING.health("level", "LEVEL", 9, lambda row: row.finding.level, priority=0).means(
        "How bad it is: warn or critical."
    ),
    FINDING.text("code", "CODE", 14, lambda row: str(row.finding.code), priority=0).means(
        "What the finding is about, in one word."
    ),
    FINDING.text("stream", "STREAM", NAME_WIDTH, lambda row: row.stream, flexible=True, priority=0).means(
        "The stream it concerns; a dash for the server."
    ),
    FINDING.text("group", "GROUP", 14, lambda row: row.group, flexible=True, priority=0).means(
        "The group it concerns; a dash for the stream or the server."
    ),
    FINDING.text("text", "FINDING", 40, lambda row: row.finding.text, flexible=True, priority=0).means(
        "One sentence with the numbers."
    ),
    FINDING.text("advice", "FIX", 30, lambda row: row.finding.advice, flexible=True, priority=0).means(
        "The fix."
    ),
)
