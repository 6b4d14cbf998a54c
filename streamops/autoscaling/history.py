"""A load that was recorded: reading it from a file, and what a policy would have made of it."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from datetime import UTC, datetime
from itertools import pairwise
from math import ceil, floor, isfinite
from random import Random
from typing import Final

import msgspec
from msgspec import Struct

from streamops.autoscaling.simulation import (
    FixedPolicy,
    OurPolicy,
    Policy,
    Result,
    SimulatedWorkers,
    Simulation,
)
from streamops.errors import SettingsError

OURS: Final = "ours"
FIGURES: Final = ("arrivals", "per_second", "added")
MOST_ROWS: Final = 1_000_000
LONGEST: Final = 14 * 86_400
LATEST: Final = 1e11
"""Seconds since 1970 that are none, but milliseconds, or nothing at all."""
EPSILON: Final = 1e-6
"""So that sums of fractions do not end just below a whole entry."""
HINT: Final = (
    "A header `time,arrivals`, then lines such as `2026-03-01T14:00:00Z,120`, rising in time; `per_second` in the place "
    "of `arrivals` for a rate, `added` for a counter. Or the same as JSON lines."
)


class ArrivalHistory(Struct, frozen=True, kw_only=True):
    """Arrivals as they were.

    Attributes:
        counts: Entries added in each second.
        begins_at: The first of them.
        step: The longest time that one figure stands for, in seconds; a burst within it cannot be seen.
        missing: What is not in it, in words, a line each.
    """

    counts: tuple[int, ...]
    begins_at: datetime
    step: float = 1.0
    missing: tuple[str, ...] = ()

    @property
    def entries(self) -> int:
        """All that were added."""
        return sum(self.counts)

    @property
    def peak(self) -> int:
        """The most in one second."""
        return max(self.counts, default=0)


class Replayed(Struct, frozen=True):
    """What one policy would have made of a history."""

    policy: str
    result: Result


def replay_history(
    history: ArrivalHistory,
    workers: SimulatedWorkers,
    chance: Random,
    *,
    interval: int = 5,
    fixed: Sequence[int] = (),
) -> list[Replayed]:
    """Run our policy and fixed numbers of workers over a history, ours first.

    Args:
        history: The arrivals; at least one.
        workers: The workers. Every run begins with as many as the first minute needs.
        chance: For handler and start-up times; each run begins with it as it is now.
        interval: Seconds between two readings.
        fixed: Numbers that never change; without any, the mean of ours, and the most that ours had.
    """

    def run(name: str, policy: Policy) -> Replayed:
        return Replayed(name, Simulation(workers, history.counts, policy, copy(chance)).run())

    ours = run(OURS, OurPolicy(workers, interval))
    mean = ceil(ours.result.worker_seconds / len(history.counts))
    numbers = fixed or sorted({mean, ours.result.most})
    return [ours, *(run(f"fixed {number}", FixedPolicy(number)) for number in numbers)]


def per_second(points: Sequence[tuple[float, float]]) -> tuple[int, ...]:
    """Return whole entries for each second, from how many had come by some moments, spread evenly between them.

    Args:
        points: Seconds since the first, rising, and entries that had come by then, never fewer.
    """
    counts, carried, at = [], 0.0, 0
    for (begin, before), (end, after) in pairwise(points):
        while at < floor(end):
            reached = before + (after - before) * (at + 1 - begin) / (end - begin)
            counts.append(floor(reached + EPSILON) - floor(carried + EPSILON))
            carried, at = reached, at + 1
    return tuple(counts)


def read_history(lines: Iterable[str], name: str) -> ArrivalHistory:
    """Read a history: CSV with a header, or JSON lines, as an export of Prometheus gives them.

    Args:
        lines: The file's lines.
        name: What the file is called, for errors.

    Raises:
        SettingsError: It cannot be understood, which names the line.
    """
    number, kind = 0, ""
    header: list[str] = []
    rows: list[tuple[float, float]] = []
    try:
        for number, line in enumerate(lines, 1):  # noqa: B007 - the error names it
            if not line.strip():
                continue
            if not header and not rows and not line.lstrip().startswith("{"):
                header = [title.strip() for title in next(csv.reader([line]))]
                continue
            values = _decode(line, header)
            kind = kind or _kind(values)
            rows.append(_row(values, kind, rows))
    except (ValueError, msgspec.MsgspecError, csv.Error, RecursionError) as error:
        raise SettingsError(f"{name}: line {number}: {error}", HINT) from None
    if len(rows) < 2:  # noqa: PLR2004 - two moments make a span
        raise SettingsError(f"{name}: fewer than two lines of figures", HINT)
    if rows[-1][0] - rows[0][0] > LONGEST:
        raise SettingsError(f"{name}: longer than 14 days", "Cut it to what you want to look at.")
    counts = per_second(_points(rows, kind))
    if not sum(counts):
        raise SettingsError(f"{name}: nothing arrived in it", "There is nothing to scale for.")
    return ArrivalHistory(
        counts=counts,
        begins_at=datetime.fromtimestamp(rows[0][0], UTC),
        step=max(after - before for (before, _), (after, _) in pairwise(rows)),
    )


def _decode(line: str, header: Sequence[str]) -> Mapping[str, object]:
    """A row by name of column: of CSV, or of JSON lines if there is no header."""
    if not header:
        return msgspec.json.decode(line, type=dict[str, str | float | None])
    return dict(zip(header, next(csv.reader([line])), strict=False))


def _kind(values: Mapping[str, object]) -> str:
    found = [name for name in FIGURES if name in values]
    if "time" not in values or len(found) != 1:
        raise ValueError("no column `time`, or none or several of arrivals, per_second and added")
    return found[0]


def _row(
    values: Mapping[str, object], kind: str, before: Sequence[tuple[float, float]]
) -> tuple[float, float]:
    if len(before) == MOST_ROWS:
        raise ValueError(f"more than {MOST_ROWS:,} lines")
    value = values.get(kind)
    if value is None or value == "":
        raise ValueError(f"{kind} is empty")
    figure = _number(value)
    if figure is None or not isfinite(figure) or figure < 0:
        raise ValueError(f"{kind} is no number from 0 on: {value}")
    at = _epoch_seconds(values.get("time"))
    if before and at <= before[-1][0]:
        raise ValueError("not later than the line before")
    return at, figure


def _number(value: object) -> float | None:
    with suppress(ValueError):
        return float(str(value))
    return None


def _epoch_seconds(value: object) -> float:
    """RFC 3339, or seconds since 1970."""
    number = _number(value)
    if number is not None and 0 <= number < LATEST:
        return number
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        raise ValueError(f"time is neither RFC 3339 nor seconds since 1970: {value}") from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _points(rows: Sequence[tuple[float, float]], kind: str) -> list[tuple[float, float]]:
    """Seconds since the first row, and entries that had come by then."""
    points, total = [(0.0, 0.0)], 0.0
    for (begin, before), (end, figure) in pairwise(rows):
        if kind == "per_second":
            total += figure * (end - begin)
        elif kind == "added" and figure >= before:
            total += figure - before
        else:
            # Arrivals; or a counter that falls, which began again from nothing, as Prometheus has it.
            total += figure
        points.append((end - rows[0][0], total))
    return points
