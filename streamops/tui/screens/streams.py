"""All streams, one row each."""

from collections.abc import Sequence

from streamops.model.observation import Health, StreamView
from streamops.model.streams import StreamRole
from streamops.present.columns import STREAM_COLUMNS, STREAM_DETAIL_COLUMNS
from streamops.tui import places
from streamops.tui.details import stream_lines
from streamops.tui.moment import Moment
from streamops.tui.places import Place
from streamops.tui.screens.listing import Listing
from streamops.tui.screens.status import why_empty
from streamops.tui.subjects import Subject, subject_at
from streamops.tui.text_view import Builder


class StreamsScreen(Listing[StreamView]):
    """The streams; Enter leads to a stream's groups."""

    HINTS = (
        ("enter", "groups"),
        ("t", "tail"),
        ("/", "filter"),
        ("f", "faults"),
        ("o i", "sort"),
        ("3", "groups"),
    )

    def __init__(self, place: Place, moment: Moment) -> None:
        super().__init__(place, moment, STREAM_COLUMNS, STREAM_DETAIL_COLUMNS)

    def rows_of(self, moment: Moment) -> Sequence[StreamView]:
        """The streams as observed."""
        return () if moment.observation is None else moment.observation.streams

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

    def place_of(self, row: StreamView) -> Place:
        """The stream."""
        return places.Stream(row.stream.name)

    def subject(self) -> Subject | None:
        """The stream."""
        row = self.list.highlighted
        if row is None:
            return None
        return subject_at(self.place_of(row), dead_letters=row.stream.role is StreamRole.DEAD_LETTERS)

    def name_of(self, row: StreamView) -> str:
        """The stream's name."""
        return row.stream.name

    def detail(self, row: StreamView) -> Builder:
        """The stream in full."""
        return lambda width: stream_lines(row, width)

    def empty_note(self) -> str:
        """Why no stream is listed."""
        return why_empty(self.moment)
