"""A history of arrivals in a file: CSV with a header, or JSON lines, as an export of Prometheus gives them."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from itertools import chain, pairwise
from math import isfinite
from statistics import median
from typing import Final, NamedTuple

import msgspec

from streamops.errors import SettingsError
from streamops.scaling.simulator.history import History, per_second

ARRIVALS: Final = ("arrivals", "per_second", "added")
MOST_ROWS: Final = 1_000_000
LONGEST: Final = 14 * 86_400
LATEST: Final = 1e11
"""Seconds since 1970 that are none, but milliseconds, or nothing at all."""
BUSY: Final = 0.02
"""Workers less busy than this say nothing about their rate."""
HINT: Final = (
    "A header `time,arrivals`, then lines such as `2026-03-01T14:00:00Z,120`, rising in time; `per_second` in the place "
    "of `arrivals` for a rate, `added` for a counter. Or the same as JSON lines."
)


class Recorded(NamedTuple):
    """What a file tells.

    Attributes:
        history: The arrivals.
        rate: Entries a second that one busy worker handled; none where the file has no such columns.
    """

    history: History
    rate: float | None


class _Row(NamedTuple):
    at: float
    arrivals: float
    rate: float | None


def read_history(lines: Iterable[str], name: str) -> Recorded:
    """Read a history.

    Args:
        lines: The file's lines.
        name: What the file is called, for errors.

    Raises:
        SettingsError: It cannot be understood, which names the line.
    """
    counted = _Lines(lines)
    rows: list[_Row] = []
    pick = ""
    try:
        for values in _values(counted):
            pick = pick or _column(values)
            rows.append(_row(values, pick, rows))
    except (ValueError, msgspec.MsgspecError, csv.Error, RecursionError) as error:
        raise SettingsError(f"{name}: line {counted.number}: {error}", HINT) from None
    if len(rows) < 2:  # noqa: PLR2004 - two moments make a span
        raise SettingsError(f"{name}: fewer than two lines of figures", HINT)
    return _recorded(rows, pick, name)


class _Lines:
    """Lines that hold anything.

    Attributes:
        number: The one that was read last.
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = lines
        self.number = 0

    def __iter__(self) -> Iterator[str]:
        for line in self._lines:
            self.number += 1
            if line.strip():
                yield line


def _values(lines: Iterable[str]) -> Iterator[Mapping[str, object]]:
    """The rows, by name of column."""
    rest = iter(lines)
    first = next(rest, "")
    if first.lstrip().startswith("{"):
        for line in chain((first,), rest):
            yield msgspec.json.decode(line, type=dict[str, str | float | None])
        return
    header = [title.strip() for title in next(csv.reader([first]), [])]
    for line in rest:
        yield dict(zip(header, next(csv.reader([line])), strict=False))


def _column(values: Mapping[str, object]) -> str:
    found = [name for name in ARRIVALS if name in values]
    if "time" not in values or len(found) != 1:
        raise ValueError("no column `time`, or none or several of arrivals, per_second and added")
    return found[0]


def _row(values: Mapping[str, object], pick: str, before: list[_Row]) -> _Row:
    if len(before) == MOST_ROWS:
        raise ValueError(f"more than {MOST_ROWS:,} lines")
    handled, workers, busy = (_number(values, name) for name in ("handled_per_second", "workers", "busy"))
    rate = None
    if handled is not None and workers and busy is not None and busy > BUSY:
        rate = handled / (workers * min(1.0, busy))
    arrivals = _number(values, pick)
    if arrivals is None:
        raise ValueError(f"{pick} is empty")
    at = _moment(values.get("time"))
    if before and at <= before[-1].at:
        raise ValueError("not later than the line before")
    return _Row(at, arrivals, rate)


def _number(values: Mapping[str, object], name: str) -> float | None:
    value = values.get(name)
    if value is None or value == "":
        return None
    try:
        number = float(str(value))
    except ValueError:
        raise ValueError(f"{name} is no number: {value}") from None
    if not (number >= 0 and isfinite(number)):
        raise ValueError(f"{name} is no number from 0 on: {value}")
    return number


def _moment(value: object) -> float:
    """RFC 3339, or seconds since 1970."""
    number = None
    with suppress(ValueError):
        number = float(str(value))
    if number is not None and 0 <= number < LATEST:
        return number
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        raise ValueError(f"time is neither RFC 3339 nor seconds since 1970: {value}") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _recorded(rows: list[_Row], pick: str, name: str) -> Recorded:
    start = rows[0].at
    if rows[-1].at - start > LONGEST:
        raise SettingsError(f"{name}: longer than 14 days", "Cut it to what you want to look at.")
    counts = per_second(_POINTS[pick](rows))
    if not sum(counts):
        raise SettingsError(f"{name}: nothing arrived in it", "There is nothing to scale for.")
    rates = [row.rate for row in rows if row.rate]
    history = History(
        counts=counts,
        begins_at=datetime.fromtimestamp(start, UTC),
        step=max(after.at - before.at for before, after in pairwise(rows)),
    )
    return Recorded(history, median(rates) if rates else None)


def _of_counts(rows: list[_Row]) -> list[tuple[float, float]]:
    """Each row's arrivals came since the row before; those of the first, nobody knows since when."""
    points, total = [(0.0, 0.0)], 0.0
    for row in rows[1:]:
        total += row.arrivals
        points.append((row.at - rows[0].at, total))
    return points


def _of_rates(rows: list[_Row]) -> list[tuple[float, float]]:
    points, total = [(0.0, 0.0)], 0.0
    for before, row in pairwise(rows):
        total += row.arrivals * (row.at - before.at)
        points.append((row.at - rows[0].at, total))
    return points


def _of_counter(rows: list[_Row]) -> list[tuple[float, float]]:
    """A counter that falls began anew from nothing, as Prometheus has it."""
    points, total = [(0.0, 0.0)], 0.0
    for before, row in pairwise(rows):
        total += row.arrivals - before.arrivals if row.arrivals >= before.arrivals else row.arrivals
        points.append((row.at - rows[0].at, total))
    return points


_POINTS: Final[Mapping[str, Callable[[list[_Row]], list[tuple[float, float]]]]] = {
    "arrivals": _of_counts,
    "per_second": _of_rates,
    "added": _of_counter,
}
