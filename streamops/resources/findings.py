"""Findings: rows, as they fire and since when, columns and JSON; and where their runbooks stand."""

import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec import Struct

from streamops.model.json_text import Json
from streamops.model.observation import Finding, FindingCode, Observation
from streamops.model.wording import quoted
from streamops.resources.kinds import NAME_WIDTH, of_rows
from streamops.resources.table import Cell, Column, Resource
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
        from_start: Whether it held already when all streams had been seen for the first time, so that it may be older.
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
        "Level: warn or critical."
    ),
    ALERT.column(
        "code",
        "FINDING",
        16,
        lambda row: str(row.finding.code),
        lambda row: Cell(row.finding.code.replace("_", " ")),
        flexible=True,
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
    ).means("When this console first saw it, in UTC; < if it was there when the console started."),
    ALERT.text("text", "WHAT HAPPENED", 14, lambda row: row.finding.text, flexible=True, priority=1).means(
        "One sentence with the numbers."
    ),
)


FINDING = of_rows(FindingRow, "streamops's own rules")


FINDING_COLUMNS: Final[tuple[Column[FindingRow], ...]] = (
    FINDING.health("level", "LEVEL", 9, lambda row: row.finding.level, priority=0).means(
        "Level: warn or critical."
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


def _words(row: AlertRow) -> str:
    finding = row.finding
    return " ".join((finding.level.word, finding.code, row.stream or "server", row.group or "", finding.text))


ALERTS: Final = Resource[AlertRow](
    key=lambda row: (*row.key, row.number),
    columns=ALERT_COLUMNS,
    text=_words,
    fault=lambda _: True,
    name=lambda row: row.group or row.stream,
)


FILE: Final = "dashboards/RUNBOOKS.md"
_WORD: Final = re.compile(r"\b(STREAM|GROUP|DLQ)\b")
_CODE: Final = re.compile(r"`[^`]*`")
_FENCE: Final = "```"


class Passage(Struct, frozen=True):
    """A paragraph, or a line of shell.

    Attributes:
        text: What it says, on one line, without Markdown.
        command: Whether it is a line of shell.
    """

    text: str
    command: bool = False


def anchor(code: FindingCode) -> str:
    """Where the runbook stands: the file and the anchor of its section."""
    return f"{FILE}#{code.value}"


def section(text: str, heading: str) -> str:
    """The section of the file with a heading, without those below it; empty if there is none."""
    found = re.search(rf"^##+ {re.escape(heading)}\n(.*?)(?=^##|\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def passages(markdown: str, stream: str | None, group: str | None) -> list[Passage]:
    """A section as paragraphs and commands, with the stream and the group in their places.

    Args:
        markdown: The section.
        stream: The stream of the finding; None if it is about the server.
        group: Its group; None if it is about no group.
    """
    found: list[Passage] = []
    for number, block in enumerate(markdown.split(_FENCE)):
        if number % 2:
            lines = block.splitlines()[1:]
            found += [
                Passage(_named(line.removeprefix("$ "), stream, group), command=True)
                for line in lines
                if line.strip()
            ]
        else:
            paragraphs = (" ".join(paragraph.split()) for paragraph in block.split("\n\n"))
            found += [Passage(_plain(words, stream, group)) for words in paragraphs if words]
    return found


def _plain(words: str, stream: str | None, group: str | None) -> str:
    """Prose without Markdown's marks, with names only if code is quoted."""
    words = words.replace("**", "")
    return _CODE.sub(lambda code: f"`{_named(code.group()[1:-1], stream, group)}`", words)


def _named(line: str, stream: str | None, group: str | None) -> str:
    names = {"STREAM": stream, "DLQ": stream, "GROUP": group}

    def put(word: re.Match[str]) -> str:
        name = names[word.group()]
        return word.group() if name is None else quoted(name)

    return _WORD.sub(put, line)
