"""A list of entries of one stream, wherever they come from."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import ClassVar, Final

from msgspec.structs import replace

from streamops.model.entries import id_age
from streamops.resources.cells import seconds
from streamops.resources.entries import ENTRIES, ENTRY_COLUMNS, EntryRow
from streamops.resources.filters import FIELD_SIGNS
from streamops.resources.kinds import NUMBER, of_rows
from streamops.resources.table import Cell, Column, Tone
from streamops.resources.units import brief
from streamops.tui import routes
from streamops.tui.lines.payload import entry_lines
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.screens.listing import Listing
from streamops.tui.screens.marking import Marking
from streamops.tui.widgets.text_view import Builder

PANE_BYTES = 8 * 1024
ENTRY = of_rows(EntryRow)
ALL: Final = {column.key: column for column in ENTRY_COLUMNS}
CONTENT: Final = ALL["preview"]
"""So wide that an ID, an age and a size beside it leave it three fifths of the list."""
MORE_COLUMNS: Final = (ALL["time"], ALL["field_count"])


def _columns(age_of: Callable[[EntryRow], timedelta | None]) -> Iterator[Column[EntryRow]]:
    """An ID as wide as IDs are, the age, the size where there is room, and the content in all that is left."""

    def age(row: EntryRow) -> Cell:
        span = age_of(row)
        return Cell(brief(span), Tone.UNKNOWN if span is None else Tone.DIM)

    yield replace(ALL["id"], flexible=True)
    # Ages of rows that are told at different times are compared by what makes them.
    yield ENTRY.column(
        "age_seconds",
        "AGE",
        5,
        lambda row: seconds(age_of(row)),
        age,
        rank=lambda row: (-row.entry.id.ms, -row.entry.id.seq),
        priority=0,
        **NUMBER,
    ).means(
        "Time since the entry was added, by its ID and the server's clock when it was last read; ? where the ID is no such time.",
        "TIME, minus the time in the ID",
    )
    yield ALL["size"]
    yield CONTENT


class EntryList(Marking[EntryRow]):
    """Entries as rows; subclasses see to it that there are some, and say where one is.

    Args:
        place: The place.
        app_state: What is known now.
        stream: The stream that the entries are of.
    """

    CRUMB: ClassVar[str]

    def __init__(self, place: Route, app_state: AppState, stream: str) -> None:
        resource = replace(ENTRIES, columns=tuple(_columns(self._age)), more=MORE_COLUMNS)
        listing = Listing(resource=resource, hints=self.HINTS, literal=FIELD_SIGNS)
        super().__init__(place, app_state, listing)
        self._stream = stream
        self._rows: Sequence[EntryRow] = ()
        self._now: datetime | None = None

    def show_body(self, app_state: AppState) -> None:
        """Show the rows as old as they are now."""
        observation = app_state.observation
        now = None if observation is None else observation.snapshot.collected_at
        if now != self._now:
            self._now = now
            self.list.redraw()
        super().show_body(app_state)

    def rows_of(self, app_state: AppState) -> Sequence[EntryRow]:
        """The entries there are to show."""
        del app_state
        return self._rows

    def place_of(self, row: EntryRow) -> Route:
        """The entry."""
        return routes.EntryRoute(self._stream, row.entry.id, (self._stream, self.CRUMB), row.entry)

    def detail(self, row: EntryRow) -> Builder:
        """The entry with its payload."""
        now = self._now
        return lambda width: entry_lines(row.entry, now, width, limit=PANE_BYTES)

    def _age(self, row: EntryRow) -> timedelta | None:
        return id_age(row.entry.id, self._now)
