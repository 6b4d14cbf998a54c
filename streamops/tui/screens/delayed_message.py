"""One delayed message: when it is due, where it goes, and its fields."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from streamops.present.delayed import DelayedRow
from streamops.present.table import Cell, Tone
from streamops.tui import places
from streamops.tui.beside.delayed_lines import message_lines
from streamops.tui.moment import Moment
from streamops.tui.paint import BLANK_LINE, Line
from streamops.tui.screens.reading import ReadingFrame
from streamops.tui.source import Source
from streamops.tui.subjects import Subject, subject_at

GONE = "it is no longer there: it became an entry, or was cancelled"


class DelayedMessageScreen(ReadingFrame):
    """A message in full; ``v`` shows its fields as they came."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("v", "raw", "decoded or raw", show=False, id="raw")]
    HINTS = (("v", "raw"), ("r", "read again"), ("↑↓", "scroll"), ("y", "copy ID"), ("esc", "back"))

    def __init__(self, place: places.OneDelayed, moment: Moment) -> None:
        super().__init__(place, moment)
        self._message_place = place
        self._row: DelayedRow | None = None
        self._raw = False

    async def read(self, source: Source) -> DelayedRow:
        """The message."""
        stream = self._message_place.stream
        (message,) = await source.delayed.messages(stream, [self._message_place.id])
        return DelayedRow(stream, message, await source.delayed.clock(stream))

    def take(self, answer: DelayedRow) -> None:
        """Take it."""
        self._row = answer

    def lines(self, width: int) -> Sequence[Line]:
        """All of it."""
        row = self._row
        if row is None:
            return () if self.error else [BLANK_LINE, (Cell(" reading", Tone.DIM),)]
        if not row.message.exists:
            return [BLANK_LINE, (Cell(f" {GONE}", Tone.WARN),)]
        return message_lines(row, width, raw=self._raw)

    def subject(self) -> Subject | None:
        """The message."""
        return subject_at(self._message_place, dead_letters=False)

    def copyable(self) -> str:
        """The message's ID."""
        return self._message_place.id

    def action_raw(self) -> None:
        """Show text as it came, or decoded again."""
        self._raw = not self._raw
        self.tell()
