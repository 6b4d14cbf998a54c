"""Samples: metrics with their labels and values, before they are text."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct

from streamops.exporter.catalogue.family import Family
from streamops.exporter.metrics.labels import Labels, make_labels

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
