"""Entries to delete, and those that are left."""

from streamops.model.ids import EntryId

STREAM = "orders"
NONE = EntryId(77, 7)


def ids(*numbers: int) -> tuple[EntryId, ...]:
    return tuple(EntryId(number, 0) for number in numbers)
