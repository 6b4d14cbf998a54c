"""One stream and its groups."""

from collections.abc import Sequence

from streamops.model.observation import StreamView
from streamops.present.text import safe
from streamops.tui import places
from streamops.tui.moment import Moment
from streamops.tui.screens.status import GroupListing


class StreamScreen(GroupListing):
    """The groups of one stream."""

    HINTS = (("enter", "open"), ("t", "tail"), ("/", "filter"), ("o i", "sort"), ("esc", "back"))

    def __init__(self, place: places.Stream, moment: Moment) -> None:
        super().__init__(place, moment)
        self._stream = place.stream
        self._found: tuple[StreamView, ...] = ()

    def streams_of(self, moment: Moment) -> Sequence[StreamView]:
        """The one stream, the same tuple while it did not change; none where it is gone."""
        found = find_stream(moment, self._stream)
        if found is None:
            self._found = ()
        elif not self._found or self._found[0] is not found:
            self._found = (found,)
        return self._found

    def empty_note(self) -> str:
        """Why there is nothing."""
        return missing(self.moment, f"stream {safe(self._stream)}")


def find_stream(moment: Moment, name: str) -> StreamView | None:
    """A stream by its name; none where it was not observed."""
    streams = () if moment.observation is None else moment.observation.streams
    return next((stream for stream in streams if stream.stream.name == name), None)


def missing(moment: Moment, what: str) -> str:
    """That something is not there, or not there yet."""
    return "not read yet" if moment.observation is None else f"{what} is not there (any more)"
