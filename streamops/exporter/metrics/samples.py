"""Samples: metrics with their labels and values, before they are text; instants among them in whole milliseconds."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, TypeVar

from msgspec import Struct

from streamops.exporter.catalogue.family import Family
from streamops.exporter.metrics.labels import Labels, make_labels
from streamops.model.ids import CLOCK_TOLERANCE, EARLIEST_PLAUSIBLE, EPOCH, EntryId

Key = TypeVar("Key", bound=tuple[str, ...])

Value = int | float | None
"""A value; none where it is not known, so that there is no sample."""


class Column(Struct, frozen=True, gc=False):
    """The samples of one family.

    Attributes:
        family: The family.
        values: Its values, one for each of the block's labels.
        milliseconds: Whether the values are instants in whole milliseconds, and stand for a thousandth of it.
    """

    family: Family
    values: Sequence[Value]
    milliseconds: bool = False


class Block(Struct, frozen=True, gc=False):
    """Families about the same subjects.

    Attributes:
        labels: The subjects' labels.
        columns: The families; one without any value is not there for those who look.
    """

    labels: Sequence[Labels]
    columns: tuple[Column, ...]


Samples = tuple[Block, ...]


def rows(block: Block, column: Column) -> Iterator[tuple[Labels, int | float]]:
    """The samples of a family that have a value."""
    for labels, value in zip(block.labels, column.values, strict=True):
        if value is not None:
            yield labels, value / 1000 if column.milliseconds else value


def labelled(family: Family, values: Mapping[Key, Value]) -> Block:
    """A block of one family, by the values of its labels."""
    labels = [make_labels(family.labels, key) for key in values]
    return Block(labels, (Column(family, list(values.values())),))


def single(family: Family, value: Value) -> Block:
    """A block of one family without labels."""
    return labelled(family, {(): value})


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


def rounded(instants: Sequence[int | None], now: int | None = None) -> list[Value]:
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
