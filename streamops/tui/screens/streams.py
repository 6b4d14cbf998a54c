"""Streams: all of them, and one with its groups."""

from collections.abc import Sequence

from streamops.model.observation import Health, StreamView
from streamops.model.streams import StreamRole
from streamops.resources.streams import STREAM_COLUMNS, STREAM_DETAIL_COLUMNS
from streamops.resources.text import safe
from streamops.tui import routes
from streamops.tui.lines.details import stream_lines
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.rows.selection import Selection, selection_at
from streamops.tui.screens.listing import ListScreen
from streamops.tui.screens.status import GroupListing, why_empty
from streamops.tui.widgets.text_view import Builder


class StreamsScreen(ListScreen[StreamView]):
    """The streams; Enter leads to a stream's groups."""

    HINTS = (
        ("open", "groups"),
        "tail",
        "filter",
        "faults",
        "sort",
        "groups",
    )

    def __init__(self, place: Route, app_state: AppState) -> None:
        super().__init__(place, app_state, STREAM_COLUMNS, STREAM_DETAIL_COLUMNS)

    def rows_of(self, app_state: AppState) -> Sequence[StreamView]:
        """The streams as observed."""
        return () if app_state.observation is None else app_state.observation.streams

    def identify(self, row: StreamView) -> str:
        """The stream's name."""
        return row.stream.name

    def text_of(self, row: StreamView) -> str:
        """Name, role, health and finding codes."""
        return " ".join(
            [row.stream.name, row.stream.role, row.health.word, *(found.code for found in row.findings)]
        )

    def is_fault(self, row: StreamView) -> bool:
        """Whether the stream or one of its groups has a finding."""
        return row.health >= Health.WARN

    def place_of(self, row: StreamView) -> Route:
        """The stream."""
        return routes.StreamRoute(row.stream.name)

    def selection(self) -> Selection | None:
        """The stream."""
        row = self.list.highlighted
        if row is None:
            return None
        return selection_at(self.place_of(row), dead_letters=row.stream.role is StreamRole.DEAD_LETTERS)

    def name_of(self, row: StreamView) -> str:
        """The stream's name."""
        return row.stream.name

    def detail(self, row: StreamView) -> Builder:
        """The stream in full."""
        return lambda width: stream_lines(row, width)

    def empty_note(self) -> str:
        """Why no stream is listed."""
        return why_empty(self.app_state)


class StreamScreen(GroupListing):
    """The groups of one stream."""

    HINTS = ("open", "tail", "filter", "sort", "back")

    def __init__(self, place: routes.StreamRoute, app_state: AppState) -> None:
        super().__init__(place, app_state)
        self._stream = place.stream
        self._found: tuple[StreamView, ...] = ()

    def streams_of(self, app_state: AppState) -> Sequence[StreamView]:
        """The one stream, the same tuple while it did not change; none where it is gone."""
        found = find_stream(app_state, self._stream)
        if found is None:
            self._found = ()
        elif not self._found or self._found[0] is not found:
            self._found = (found,)
        return self._found

    def empty_note(self) -> str:
        """Why there is nothing."""
        return missing(self.app_state, f"stream {safe(self._stream)}")


def find_stream(app_state: AppState, name: str) -> StreamView | None:
    """A stream by its name; none where it was not observed."""
    streams = () if app_state.observation is None else app_state.observation.streams
    return next((stream for stream in streams if stream.stream.name == name), None)


def missing(app_state: AppState, what: str) -> str:
    """That something is not there, or not there yet."""
    return "not read yet" if app_state.observation is None else f"{what} is not there (any more)"
