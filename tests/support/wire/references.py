"""Entries that groups are past, and others."""

from streamops.model.ids import EntryId

IDS = (EntryId(2, 0), EntryId(3, 0), EntryId(9, 0))
POSITIONS = (("billing", EntryId(4, 0)), ("mail", EntryId(6, 0)))
