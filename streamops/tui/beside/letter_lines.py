"""Dead-letter queues and letters in full. Pure lines of cells."""

from typing import Final

from streamops.model.dead_letters import QueueSummary
from streamops.model.entries import Entry
from streamops.model.wording import counted
from streamops.present.columns.dead_letters import DEAD_LETTER_QUEUE_COLUMNS
from streamops.present.columns.letters import LETTER_COLUMNS, LETTER_DETAIL_COLUMNS
from streamops.present.letters import LetterRow, QueueRow
from streamops.present.table import Cell, Tone
from streamops.present.text import safe
from streamops.present.units import count, duration, percent, size
from streamops.tui.beside.facts import column_facts
from streamops.tui.details import paragraph
from streamops.tui.gauges import Part, parts_line
from streamops.tui.paint import BLANK_LINE, Line
from streamops.tui.payload import SHOWN_BYTES, field_lines

OF_QUEUE: Final = tuple(
    column for column in DEAD_LETTER_QUEUE_COLUMNS if column.key not in {"queue", "reasons", "length"}
)
TOLD_ABOVE: Final = frozenset({"id", "error", "preview", "reason", "queue"})
OF_LETTER: Final = tuple(
    column for column in (*LETTER_COLUMNS, *LETTER_DETAIL_COLUMNS) if column.key not in TOLD_ABOVE
)
NAMES: Final = {"deliveries": "deliveries", "payload_key": "payload key"}
NO_REASON: Final = "no reason"


def queue_lines(row: QueueRow, width: int) -> list[Line]:
    """A queue in full: how many letters, of what they died, and where they came from."""
    queue = row.queue
    lines = paragraph(safe(queue.queue), width, Tone.STRONG)
    lines += [(Cell(f" {counted(queue.length, 'letter', 'letters')}"),), BLANK_LINE]
    lines += column_facts(OF_QUEUE, row, width)
    lines += [BLANK_LINE, (Cell(" Reasons", Tone.STRONG),)]
    lines += [_share(name, number, queue) for name, number in _reasons(queue)]
    lines += [BLANK_LINE, (Cell(" From", Tone.STRONG),)]
    return lines + [_share(name, number, queue) for name, number in _origins(queue)]


def queue_head(queue: QueueSummary | None, width: int) -> list[Line]:
    """What a queue comes to, in three lines: how many, of what they died, where they came from."""
    if queue is None:
        return [(Cell(" summing up", Tone.DIM),)]
    row = QueueRow(queue)
    oldest = (
        f" · oldest {duration(row.oldest_age)}, newest {duration(row.newest_age)}" if queue.length else ""
    )
    source = f" of {safe(queue.source)}" if queue.source else ""
    about = "" if queue.coverage == 1 else f"(of the newest {count(queue.tally.letters)})"
    return [
        (Cell(f" {counted(queue.length, 'letter', 'letters')}", Tone.STRONG), Cell(f"{source}{oldest}")),
        parts_line("Reasons", _parts(_reasons(queue), Tone.WARN), width, note=about),
        parts_line("From", _parts(_origins(queue), Tone.OK), width),
    ]


def letter_lines(row: LetterRow, width: int, *, limit: int = SHOWN_BYTES) -> list[Line]:
    """A letter in full: why it died, where it came from, and the entry's own fields."""
    return [*letter_facts(row, width), BLANK_LINE, *own_fields(row, width, limit=limit)]


def letter_facts(row: LetterRow, width: int) -> list[Line]:
    """Why a letter died, and where it came from."""
    letter = row.letter
    lines: list[Line] = [(Cell(f" {letter.id}", Tone.STRONG), Cell(f"  {safe(letter.reason)}", Tone.WARN))]
    if letter.error:
        lines += paragraph(safe(letter.error), width, Tone.CRITICAL, indent=3)
    if letter.problem:
        lines += paragraph(f"▲ {safe(letter.problem)}", width, Tone.WARN, hang=2)
    lines.append(BLANK_LINE)
    return [*lines, *column_facts(OF_LETTER, row, width, NAMES)]


def own_fields(row: LetterRow, width: int, *, limit: int = SHOWN_BYTES, raw: bool = False) -> list[Line]:
    """The fields with which the entry was added; what the letter says about itself is told apart."""
    entry = Entry(row.letter.origin_id or row.letter.id, row.letter.fields)
    about = f"{counted(len(entry.fields), 'field', 'fields')} · {size(entry.size)}"
    heading: Line = (Cell(" The entry", Tone.STRONG), Cell(f"  {about}", Tone.DIM))
    return [heading, *field_lines(entry, width, limit=limit, raw=raw)]


def _reasons(queue: QueueSummary) -> list[tuple[str, int]]:
    return [(safe(reason) or NO_REASON, number) for reason, number in queue.tally.reasons]


def _origins(queue: QueueSummary) -> list[tuple[str, int]]:
    counts: dict[str, int] = {}
    for kind, number in queue.tally.kinds:
        name = safe(" ▸ ".join(filter(None, (kind.stream, kind.group)))) or "unknown"
        counts[name] = counts.get(name, 0) + number
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def _parts(pairs: list[tuple[str, int]], tone: Tone) -> list[Part]:
    return [Part(name, number, tone) for name, number in pairs]


def _share(name: str, number: int, queue: QueueSummary) -> Line:
    share = percent(number / max(1, queue.tally.letters), rounded=True)
    return (Cell(f" {count(number).rjust(9)} {share.rjust(5)}  "), Cell(name))
