"""Reading a group row: what its cells and values are where the stream has no group, or nothing is pending."""

from collections.abc import Callable
from typing import TypeVar

from streamops.model.entries import PendingEntry
from streamops.model.observation import GroupView
from streamops.present.cells import NOT_THERE, count_cell
from streamops.present.rows import GroupRow
from streamops.present.table import Cell

Value = TypeVar("Value")


def group_cell(show: Callable[[GroupView], Cell]) -> Callable[[GroupRow], Cell]:
    """A cell about the group: a dash where the stream has none."""
    return lambda row: NOT_THERE if row.group is None else show(row.group)


def group_value(read: Callable[[GroupView], Value]) -> Callable[[GroupRow], Value | None]:
    """A value of the group: none where the stream has no group."""
    return lambda row: None if row.group is None else read(row.group)


def oldest_cell(show: Callable[[PendingEntry], Cell]) -> Callable[[GroupRow], Cell]:
    """A cell about the oldest pending entry: nothing where none is pending, unknown where it was not read."""

    def cell(view: GroupView) -> Cell:
        if view.group.oldest_pending is not None:
            return show(view.group.oldest_pending)
        return NOT_THERE if view.group.pending == 0 else count_cell(None)

    return group_cell(cell)


def oldest_value(read: Callable[[PendingEntry], Value]) -> Callable[[GroupRow], Value | None]:
    """A value of the oldest pending entry: none where none is pending or it was not read."""
    return group_value(
        lambda view: None if view.group.oldest_pending is None else read(view.group.oldest_pending)
    )
