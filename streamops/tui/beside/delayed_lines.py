"""Queues of delayed messages, and messages, in full. Pure lines of cells."""

from typing import Final

from streamops.model.wording import counted
from streamops.present.columns.delayed import DELAYED_COLUMNS, DELAYED_DETAIL_COLUMNS, DELAYED_QUEUE_COLUMNS
from streamops.present.delayed import DelayedQueueRow, DelayedRow
from streamops.present.table import Cell, Tone
from streamops.present.text import safe
from streamops.present.units import count, duration, size
from streamops.tui.beside.facts import column_facts
from streamops.tui.details import paragraph
from streamops.tui.paint import BLANK_LINE, Line
from streamops.tui.payload import SHOWN_BYTES, field_lines

OF_MESSAGE: Final = tuple(
    column
    for column in (*DELAYED_COLUMNS, *DELAYED_DETAIL_COLUMNS)
    if column.key not in {"id", "preview", "problem"}
)
PUMPS: Final = (
    "Messages become entries by the pump of any of our workers that reads the stream. Where none runs, those that are "
    "due wait: R moves them now."
)
HALVES: Final = "Some bodies lack their place in the queue: they can never become entries."

FOREIGN: Final = "Another program wrote members of this sorted set. They stay untouched: no worker and no operation moves or removes them."


def delayed_queue_lines(row: DelayedQueueRow, width: int) -> list[Line]:
    """A queue in full."""
    queue = row.queue
    lines = paragraph(safe(queue.stream), width, Tone.STRONG)
    lines += column_facts(DELAYED_QUEUE_COLUMNS[1:], row, width)
    if queue.foreign or queue.bodies != queue.messages:
        warning = FOREIGN if queue.foreign else HALVES
        lines += [BLANK_LINE, *paragraph(f"▲ {warning}", width, Tone.WARN, hang=2)]
    return [*lines, BLANK_LINE, *paragraph(PUMPS, width, Tone.DIM)]


def delayed_head(row: DelayedQueueRow | None, shown: int) -> list[Line]:
    """What a queue comes to, in a line."""
    if row is None:
        return [(Cell(" counting", Tone.DIM),)]
    queue = row.queue
    cells = [Cell(f" {counted(queue.messages, 'message', 'messages')}", Tone.STRONG)]
    if queue.due:
        cells.append(Cell(f" · {count(queue.due)} due, and not moved yet", Tone.WARN))
    if row.next_due_in is not None:
        late = row.next_due_in.total_seconds() < 0
        when = f"overdue by {duration(-row.next_due_in)}" if late else f"due in {duration(row.next_due_in)}"
        cells.append(Cell(f" · the first {when}"))
    if queue.bodies != queue.messages:
        cells.append(Cell(f" · {count(queue.bodies)} bodies", Tone.WARN))
    if queue.messages > shown:
        cells.append(Cell(f" · the first {count(shown)} are listed", Tone.DIM))
    return [tuple(cells)]


def message_lines(row: DelayedRow, width: int, *, limit: int = SHOWN_BYTES, raw: bool = False) -> list[Line]:
    """A message in full: when it is due, where it goes, and its fields."""
    message = row.message
    lines = paragraph(safe(message.id), width, Tone.STRONG)
    if message.problem:
        lines += paragraph(f"▲ {safe(message.problem)}", width, Tone.WARN, hang=2)
    lines += column_facts(OF_MESSAGE, row, width)
    entry = row.entry
    about = f"{counted(len(entry.fields), 'field', 'fields')} · {size(entry.size)}"
    heading: Line = (Cell(" The entry", Tone.STRONG), Cell(f"  {about}", Tone.DIM))
    return [*lines, BLANK_LINE, heading, *field_lines(entry, width, limit=limit, raw=raw)]
