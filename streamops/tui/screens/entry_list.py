"""A list of entries of one stream, wherever they come from."""

from collections.abc import Sequence
from typing import ClassVar

from msgspec.structs import replace

from streamops.model.entries import EntryId
from streamops.present.columns import ENTRY_COLUMNS
from streamops.present.filters import FIELD_SIGNS
from streamops.present.rows import EntryRow
from streamops.tui import routes
from streamops.tui.app_state import AppState
from streamops.tui.payload import entry_lines
from streamops.tui.routes import Route
from streamops.tui.screens.marking import Marking
from streamops.tui.widgets.text_view import Builder

PANE_BYTES = 8 * 1024
CONTENT_WIDTH = 24
# The content gives way before the time does: the pane and Enter show all of it.
COLUMNS = tuple(
    replace(column, width=CONTENT_WIDTH) if column.key == "preview" else column
    for column in ENTRY_COLUMNS
    if column.key != "stream"
)


class EntryList(Marking[EntryRow]):
    """Entries as rows; subclasses see to it that there are some, and say where one is.

    Args:
        place: The place.
        app_state: What is known now.
        stream: The stream that the entries are of.
    """

    LITERAL = FIELD_SIGNS
    CRUMB: ClassVar[str]

    def __init__(self, place: Route, app_state: AppState, stream: str) -> None:
        super().__init__(place, app_state, COLUMNS)
        self._stream = stream
        self._rows: Sequence[EntryRow] = ()

    def rows_of(self, app_state: AppState) -> Sequence[EntryRow]:
        """The entries there are to show."""
        del app_state
        return self._rows

    def identify(self, row: EntryRow) -> EntryId:
        """The entry's ID."""
        return row.entry.id

    def text_of(self, row: EntryRow) -> str:
        """The ID and the fields, as far as the preview goes."""
        return f"{row.entry.id} {COLUMNS[-1].cell(row).text}"

    def place_of(self, row: EntryRow) -> Route:
        """The entry."""
        return routes.EntryRoute(self._stream, row.entry.id, (self._stream, self.CRUMB), row.entry)

    def name_of(self, row: EntryRow) -> str:
        """The entry's ID."""
        return str(row.entry.id)

    def detail(self, row: EntryRow) -> Builder:
        """The entry with its payload."""
        observation = self.app_state.observation
        now = None if observation is None else observation.snapshot.collected_at
        return lambda width: entry_lines(row.entry, now, width, limit=PANE_BYTES)
