"""Findings: rows, as they fire and since when, columns and JSON."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from streamops.model.json_text import Json
from streamops.model.observation import Finding, Observation
from streamops.resources.cells import NAME_WIDTH
from streamops.resources.kinds import of_rows
from streamops.resources.table import Cell, Column
from streamops.resources.text import safe
from streamops.resources.units import rfc3339

FindingKey = tuple[str, str | None, str | None]
"""What a finding is about: its code, its stream and its group; neither for the server's own."""


class AlertRow(Struct, frozen=True):
    """A finding that holds now.

    Attributes:
        stream: The stream it concerns; none for the server.
        group: The group it concerns; none for the stream or the server.
        finding: The finding.
        number: Which of those with the same code and subject it is, from 0: a cluster has several servers.
        since: When it was first seen, by the server's clock.
        from_start: Whether it held already when watching began, so that it may be older.
    """

    stream: str | None
    group: str | None
    finding: Finding
    number: int
    since: datetime
    from_start: bool

    @property
    def key(self) -> FindingKey:
        """What it is about."""
        return (str(self.finding.code), self.stream, self.group)


def worst_then_newest(rows: Sequence[AlertRow]) -> tuple[AlertRow, ...]:
    """The rows in the order to look at them: the worst first, then the newest."""
    return tuple(
        sorted(
            rows,
            key=lambda row: (
                -row.finding.level,
                -row.since.timestamp(),
                row.key[1] or "",
                row.key[2] or "",
                row.number,
            ),
        )
    )


class FindingRow(Struct, frozen=True):
    """A finding with what it is about: a group, a stream, or (neither given) the server."""

    stream: str | None
    group: str | None
    finding: Finding


def finding_rows(observation: Observation) -> tuple[FindingRow, ...]:
    """Every finding, the worst first, and within a level in the order server, stream, groups."""
    rows = [FindingRow(finding.stream, None, finding) for finding in observation.findings]
    for stream in observation.streams:
        rows += [FindingRow(stream.stream.name, None, finding) for finding in stream.findings]
        for group in stream.groups:
            rows += [FindingRow(group.stream, group.group.name, finding) for finding in group.findings]
    return tuple(sorted(rows, key=lambda row: -row.finding.level))


def clock_text(moment: datetime) -> str:
    """The time of day in UTC, with the seconds: ``11:58:02``."""
    return moment.astimezone(UTC).strftime("%H:%M:%S")


def _since(row: AlertRow) -> Cell:
    return Cell(f"{'<' if row.from_start else ' '}{clock_text(row.since)}")


ALERT = of_rows(AlertRow, "streamops's own rules")


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


def findings_json(findings: Iterable[Finding]) -> list[Json]:
    """Findings in their order."""
    return [
        {
            "code": found.code,
            "level": found.level.word,
            "text": safe(found.text),
            "advice": safe(found.advice),
        }
        for found in findings
    ]
