"""Cells of the kinds that many columns share."""

from datetime import timedelta

from streamops.model.entries import EntryId, PendingEntry
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import ABSENT, compact, count, duration, rate

NOT_THERE = Cell(ABSENT, Tone.DIM)
NAME_WIDTH = 20


def name_cell(name: str | None) -> Cell:
    """A name from the server, or that there is none."""
    return NOT_THERE if name is None else Cell(safe(name))


def count_cell(number: int | None) -> Cell:
    """A count with every digit; zero steps back, unknown shows."""
    return Cell(count(number), _number_tone(number))


def compact_cell(number: int | None) -> Cell:
    """A count in five characters; zero steps back, unknown shows."""
    return Cell(compact(number), _number_tone(number))


def duration_cell(span: timedelta | None) -> Cell:
    """A span; zero steps back, unknown shows."""
    return Cell(duration(span), Tone.UNKNOWN if span is None else Tone.PLAIN if span else Tone.DIM)


def due_cell(left: timedelta | None) -> Cell:
    """How long until something is due, or how long it is overdue; a dash where it never is due."""
    if left is None:
        return NOT_THERE
    overdue = left < timedelta(0)
    return Cell(f"overdue {duration(-left)}", Tone.WARN) if overdue else Cell(duration(left))


def idle_cell(entry: PendingEntry) -> Cell:
    """How long a pending entry has been idle; one that was given back is free."""
    return Cell("free", Tone.UNKNOWN) if entry.free else duration_cell(entry.idle)


def idle_seconds(entry: PendingEntry) -> float | None:
    """The same in seconds; none of one that was given back, whose idle time is no time."""
    return None if entry.free else seconds(entry.idle)


def rate_cell(per_second: float | None) -> Cell:
    """A rate; zero and not yet known step back."""
    return Cell(rate(per_second), Tone.PLAIN if per_second else Tone.DIM)


def id_cell(entry_id: EntryId | None) -> Cell:
    """An entry ID, or that there is none."""
    return NOT_THERE if entry_id is None else Cell(str(entry_id))


def seconds(span: timedelta | None) -> float | None:
    """A span for machines: seconds, to the millisecond."""
    return None if span is None else round(span.total_seconds(), 3)


def rounded(number: float | None) -> float | None:
    """A rate for machines, to the thousandth."""
    return None if number is None else round(number, 3)


def id_text(entry_id: EntryId | None) -> str | None:
    """An entry ID for machines."""
    return None if entry_id is None else str(entry_id)


def _number_tone(number: int | None) -> Tone:
    if number is None:
        return Tone.UNKNOWN
    return Tone.PLAIN if number else Tone.DIM
