"""Instants as metrics, in whole milliseconds: they print fast, and short."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from streamops.analysis.lag import CLOCK_TOLERANCE, EARLIEST_PLAUSIBLE
from streamops.exporter.metrics.samples import Value
from streamops.model.ids import EPOCH, EntryId

MILLISECOND: Final = timedelta(milliseconds=1)
EARLIEST: Final = (EARLIEST_PLAUSIBLE - EPOCH) // MILLISECOND
GRAIN: Final = 100
TOLERANCE: Final = CLOCK_TOLERANCE // MILLISECOND


def milliseconds(at: datetime) -> int:
    """An instant in milliseconds since the epoch."""
    return (at - EPOCH) // MILLISECOND


def of_ids(ids: Sequence[EntryId | None], now: int) -> list[Value]:
    """The times in entry IDs, where they are plausible ones.

    Args:
        ids: The IDs; none stays none.
        now: The server's clock in milliseconds.
    """
    latest = now + TOLERANCE
    return [
        one[0] if one is not None and EARLIEST <= one[0] <= latest else None  # the ID's ``ms``
        for one in ids
    ]


def grained(instants: Sequence[int | None], now: int | None = None) -> list[Value]:
    """Instants to a tenth of a second; none stays none.

    Args:
        instants: The instants.
        now: The server's clock, only where some of them lie ahead of it. By a little, they are of a moment later, or of
            another node: they are told as now. Else the clock was set back, and nobody knows how long ago they were.
    """
    if now is None:
        return [None if at is None else at // GRAIN * GRAIN for at in instants]
    latest = now + TOLERANCE
    return [None if at is None or at > latest else min(at, now) // GRAIN * GRAIN for at in instants]


def ago(spans: Sequence[timedelta | None], now: int) -> list[Value]:
    """When it was so long ago, to a tenth of a second; none stays none.

    The clock and idle times are read some milliseconds apart, so that to be more exact would make an instant that
    stands still seem to move at every scrape.
    """
    return [None if span is None else (now - span // MILLISECOND) // GRAIN * GRAIN for span in spans]
