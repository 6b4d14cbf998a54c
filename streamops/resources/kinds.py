"""Columns by what they hold: text, a count, an age, a rate, an ID. Defines in one place how a kind is shown, written for machines, and sorted."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final, Generic, TypeVar, cast

from streamops.model.entries import EntryId, PendingEntry
from streamops.model.observation import Health
from streamops.resources.table import Align, Cell, Column, Row, Tone
from streamops.resources.text import safe
from streamops.resources.units import (
    ABSENT,
    compact,
    count,
    duration,
    health_text,
    percent,
    rate,
    rfc3339,
    size,
    timestamp,
)

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


Part = TypeVar("Part")


Value = TypeVar("Value")


NUMBER: Final[dict[str, Any]] = {"align": Align.RIGHT, "descending": True}
"""A number stands to the right, and the first sort puts the greatest on top."""


class Columns(Generic[Row, Part]):
    """Makes the columns of one resource: ``WORKER.count("busy", "BUSY", 8, lambda row: row.busy).means("...")``.

    Every method takes the key, the header, the width in cells, and what reads a row's value; other keywords are attributes
    of ``Column``. If the value is none, a number or a time is ``?``, which is not known; text and IDs are a dash, which
    is not there, and so are numbers and times with ``absent=True``.

    Args:
        part: What of a row the columns are about; a row without it has no values. None for the whole row.
        missing: The cells of such a row; a dash in each unless given.
        source: Where the values come from, if ``means`` does not say.
    """

    def __init__(
        self,
        part: Callable[[Row], Part | None] | None,
        source: str = "",
        *,
        missing: Callable[[Row], Cell] = lambda _: NOT_THERE,
    ) -> None:
        self._part = part
        self._missing = missing
        self._source = source

    def column(
        self,
        key: str,
        title: str,
        width: int,
        value: Callable[[Part], Any],
        cell: Callable[[Part], Cell],
        *,
        rank: Callable[[Part], Any] | None = None,
        **look: Any,
    ) -> Column[Row]:
        """A column of no common kind: what its values are, and how they are shown."""
        return Column(
            key=key,
            title=title,
            help="",
            cell=self._reading(cell, self._missing),
            value=self._reading(value, lambda _: None),
            width=width,
            rank=None if rank is None else self._reading(rank, lambda _: None),
            source=self._source,
            **look,
        )

    def _reading(
        self, read: Callable[[Part], Value], missing: Callable[[Row], Value]
    ) -> Callable[[Row], Value]:
        find = self._part
        if find is None:
            return cast("Callable[[Row], Value]", read)
        return lambda row: missing(row) if (part := find(row)) is None else read(part)

    def text(
        self,
        key: str,
        title: str,
        width: int,
        read: Callable[[Part], str | None],
        *,
        tone: Tone = Tone.PLAIN,
        **look: Any,
    ) -> Column[Row]:
        """Text, made safe to show."""

        def cell(part: Part) -> Cell:
            text = read(part)
            return Cell(safe(text), tone) if text else NOT_THERE

        return self.column(key, title, width, read, cell, **look)

    def count(
        self,
        key: str,
        title: str,
        width: int,
        read: Callable[[Part], int | None],
        *,
        absent: bool = False,
        short: bool = False,
        **look: Any,
    ) -> Column[Row]:
        """A count: with every digit, or short in five characters."""
        cell = _cells(read, compact_cell if short else count_cell, absent=absent)
        return self.column(key, title, width, read, cell, **(NUMBER | look))

    def age(
        self,
        key: str,
        title: str,
        width: int,
        read: Callable[[Part], timedelta | None],
        *,
        absent: bool = False,
        **look: Any,
    ) -> Column[Row]:
        """A span of time; its value is in seconds."""
        cell = _cells(read, duration_cell, absent=absent)
        return self.column(key, title, width, lambda part: seconds(read(part)), cell, **(NUMBER | look))

    def rate(
        self, key: str, title: str, width: int, read: Callable[[Part], float | None], **look: Any
    ) -> Column[Row]:
        """Something per second."""
        cell = _cells(read, rate_cell)
        return self.column(key, title, width, lambda part: rounded(read(part)), cell, **(NUMBER | look))

    def share(
        self, key: str, title: str, width: int, read: Callable[[Part], float], **look: Any
    ) -> Column[Row]:
        """A share of 0 to 1, shown in per cent."""
        cell = _cells(read, lambda share: Cell(percent(share)))
        return self.column(key, title, width, lambda part: round(read(part), 4), cell, **(NUMBER | look))

    def size(
        self, key: str, title: str, width: int, read: Callable[[Part], int | None], **look: Any
    ) -> Column[Row]:
        """Bytes, shown in binary units."""
        cell = _cells(read, lambda number: Cell(size(number), Tone.UNKNOWN if number is None else Tone.PLAIN))
        return self.column(key, title, width, read, cell, **(NUMBER | look))

    def id(
        self, key: str, title: str, width: int, read: Callable[[Part], EntryId | None], **look: Any
    ) -> Column[Row]:
        """The ID of an entry, sorted by its time and number."""
        return self.column(
            key, title, width, lambda part: id_text(read(part)), _cells(read, id_cell), rank=read, **look
        )

    def moment(
        self,
        key: str,
        title: str,
        width: int,
        read: Callable[[Part], datetime | None],
        *,
        absent: bool = False,
        **look: Any,
    ) -> Column[Row]:
        """A point in time, in UTC: shown to the second, written for machines to the millisecond."""

        def value(part: Part) -> str | None:
            at = read(part)
            return None if at is None else rfc3339(at)

        cell = _cells(read, lambda at: Cell(timestamp(at)), absent=absent)
        return self.column(key, title, width, value, cell, **look)

    def health(
        self, key: str, title: str, width: int, read: Callable[[Part], Health], **look: Any
    ) -> Column[Row]:
        """A level of health, sorted with the worst on top."""
        cell = _cells(read, health_text)
        look = {"descending": True, **look}
        return self.column(key, title, width, lambda part: read(part).word, cell, rank=read, **look)

    def flag(
        self, key: str, title: str, width: int, read: Callable[[Part], bool], **look: Any
    ) -> Column[Row]:
        """Yes or no."""
        cell = _cells(read, lambda is_so: Cell("yes" if is_so else "no"))
        return self.column(key, title, width, read, cell, **look)


def of_rows(kind: type[Row], source: str = "") -> Columns[Row, Row]:
    """Columns about whole rows of one type."""
    del kind
    return Columns(None, source)


def _cells(
    read: Callable[[Part], Value | None], show: Callable[[Any], Cell], *, absent: bool = False
) -> Callable[[Part], Cell]:
    def cell(part: Part) -> Cell:
        value = read(part)
        return NOT_THERE if absent and value is None else show(value)

    return cell
