"""A list of the findings that hold."""

from collections.abc import Sequence

from streamops.present.alerts import AlertRow
from streamops.tui import places
from streamops.tui.moment import Moment
from streamops.tui.places import Place
from streamops.tui.screens.listing import Listing


class Firing(Listing[AlertRow]):
    """Findings, the worst first; Enter leads to what they are about."""

    def rows_of(self, moment: Moment) -> Sequence[AlertRow]:
        """What holds now."""
        return moment.alerts

    def identify(self, row: AlertRow) -> tuple[object, ...]:
        """What it is about, and which of several."""
        return (*row.key, row.number)

    def text_of(self, row: AlertRow) -> str:
        """Everything one may look for."""
        words = (row.finding.level.word, row.finding.code, row.stream or "server", row.group or "")
        return " ".join((*words, row.finding.text))

    def is_fault(self, row: AlertRow) -> bool:
        """Always: whatever is found is one."""
        del row
        return True

    def place_of(self, row: AlertRow) -> Place | None:
        """The group, or the stream."""
        if row.stream is None:
            return None
        return places.Stream(row.stream) if row.group is None else places.Group(row.stream, row.group)

    def name_of(self, row: AlertRow) -> str | None:
        """The group's name, or the stream's."""
        return row.group or row.stream

    def empty_note(self) -> str:
        """Why there are none."""
        if self.moment.past is None:
            return "not read yet"
        return "nothing is found: no rule says that anything is wrong"
