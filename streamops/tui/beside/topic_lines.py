"""Topics in full. Pure lines of cells; no secret and no header's value is among them."""

from datetime import datetime
from typing import Final

from streamops.model.observation import GroupView, StreamView
from streamops.monitor.topics import TopicFailures
from streamops.present.columns.groups import GROUP_COLUMNS
from streamops.present.columns.topics import TOPIC_COLUMNS, TOPIC_DETAIL_COLUMNS
from streamops.present.rows import GroupRow
from streamops.present.table import Cell, Tone
from streamops.present.text import safe
from streamops.present.topics import TopicRow
from streamops.present.units import count, timestamp
from streamops.tui.beside.facts import column_facts
from streamops.tui.details import finding_lines, paragraph
from streamops.tui.paint import BLANK_LINE, Line

FIRST: Final = ("state", "url", "waiting", "next_due_in_seconds")
STATE: Final = tuple(column for column in TOPIC_COLUMNS if column.key in FIRST)
SAYS: Final = tuple(
    column for column in (*TOPIC_COLUMNS[1:], *TOPIC_DETAIL_COLUMNS) if column.key not in FIRST
)
OF_GROUP: Final = (
    "lag",
    "time_lag_seconds",
    "pending",
    "oldest_pending_age_seconds",
    "added_per_second",
    "acked_per_second",
    "consumers",
)
IN_PROCESSES: Final = (
    "Which hosts are left alone by their breakers, and the calls of the last minutes: each `streamops topics serve` "
    "keeps that to itself, and logs it. Nothing of it is in Redis."
)
IN_A_FILE: Final = (
    "It stands in a configuration file: change it there. What is kept in Redis alone can be switched here."
)


def topic_lines(row: TopicRow, width: int) -> list[Line]:
    """What a topic says, and how much waits for it."""
    return [*state_lines(row, width), *settings_lines(row, width)]


def state_lines(row: TopicRow, width: int) -> list[Line]:
    """Whether it is called, where, and how much waits for it."""
    lines = paragraph(safe(row.name), width, Tone.STRONG)
    if row.problem:
        lines += paragraph(f"▲ {safe(row.problem)}", width, Tone.WARN, hang=2)
    return [*lines, *column_facts(STATE, row, width)]


def settings_lines(row: TopicRow, width: int) -> list[Line]:
    """How it is called, and where that is said."""
    lines = column_facts(SAYS, row, width)
    return [*lines, BLANK_LINE, *paragraph(IN_A_FILE, width, Tone.DIM)] if row.file else lines


def counter_lines(stream: StreamView | None, group: GroupView | None, width: int) -> list[Line]:
    """How its messages are called, as the observation has it."""
    heading: Line = (Cell(" Calls", Tone.STRONG),)
    if stream is None:
        return [
            heading,
            *paragraph("no message of it was called yet: its stream is not there", width, Tone.DIM),
        ]
    if group is None:
        return [heading, *paragraph("nobody calls it: its group is not there", width, Tone.WARN)]
    shown = [column for column in GROUP_COLUMNS if column.key in OF_GROUP]
    row = GroupRow(stream, group)
    lines = column_facts(shown, row, width)
    return [heading, *lines, *finding_lines(group.findings, width)]


def failure_lines(failures: TopicFailures | None, width: int) -> list[Line]:
    """What failed last, as far as Redis holds it, and what it does not hold."""
    lines: list[Line] = []
    if failures is not None:
        more = " or more" if failures.more_waiting else ""
        lines.append(_heading("Failed, to be called again", f"{count(len(failures.retries))}{more}"))
        for message in failures.retries:
            body = message.body
            attempt = "" if body is None else f"call {count(body.attempt)} of "
            lines += _at(message.due_at, f"{attempt}{safe(message.id)}", width, Tone.WARN)
        lines += [BLANK_LINE, _heading("Given up last", count(len(failures.letters)))]
        for letter in failures.letters:
            said = ": ".join(filter(None, (letter.reason, letter.error)))
            lines += _at(letter.failed_at, safe(said), width, Tone.CRITICAL)
        lines.append(BLANK_LINE)
    return [*lines, *paragraph(f"? {IN_PROCESSES}", width, Tone.UNKNOWN, hang=2)]


def _heading(title: str, number: str) -> Line:
    return (Cell(f" {title}", Tone.STRONG), Cell(f"  {number}", Tone.DIM))


def _at(when: datetime | None, text: str, width: int, tone: Tone) -> list[Line]:
    return paragraph(f"{'' if when is None else timestamp(when)}  {text}", width, tone, hang=2)
