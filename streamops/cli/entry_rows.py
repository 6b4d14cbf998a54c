"""Printing entries."""

from typing import Final

from streamops.cli.output.printer import Printer
from streamops.cli.session import Session
from streamops.model.json_text import Json
from streamops.resources.entries import ENTRY_COLUMNS, EntryRow, entry_json

SHOWN: Final = ("id", "time", "preview")


def entry_printer(session: Session, *, with_stream: bool) -> Printer[EntryRow]:
    """A printer of entries; raises ``SettingsError`` where ``--fields`` names none of their columns."""
    keys = ("stream", *SHOWN) if with_stream else SHOWN
    shown = [column for column in ENTRY_COLUMNS if column.key in keys]
    return session.printer(shown, [column for column in ENTRY_COLUMNS if column.key not in keys])


def entry_document(row: EntryRow) -> Json:
    """One entry as JSON."""
    return entry_json(row.stream, row.entry)
