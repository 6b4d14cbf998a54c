"""One dead letter: why it died, the trace of its entry, and the entry's fields."""

from collections.abc import Sequence
from typing import ClassVar

from textual.binding import Binding, BindingType

from streamops.errors import StreamopsError
from streamops.model.ids import EntryId
from streamops.monitor.entry_trace import EntryTrace
from streamops.present.letters import LetterRow
from streamops.present.table import Cell, Tone
from streamops.present.text import safe
from streamops.tui import places
from streamops.tui.beside.letter_lines import letter_facts, own_fields
from streamops.tui.moment import Moment
from streamops.tui.paint import BLANK_LINE, Line
from streamops.tui.screens.reading import ReadingFrame
from streamops.tui.screens.trace import trace_lines
from streamops.tui.source import Source
from streamops.tui.subjects import Subject, subject_at


class LetterScreen(ReadingFrame):
    """A letter in full; ``v`` shows its fields as they came, ``a`` the whole trace of its entry."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "raw", "decoded or raw", show=False, id="raw"),
    ]
    HINTS = (("v", "raw"), ("a", "trace"), ("↑↓", "scroll"), ("y", "copy ID"), ("esc", "back"))

    def __init__(self, place: places.OneLetter, moment: Moment) -> None:
        super().__init__(place, moment)
        self._letter_place = place
        self._row: LetterRow | None = None
        self._trace: EntryTrace | None = None
        self._no_trace = ""
        self._raw = False

    async def read(self, source: Source) -> LetterRow:
        """The letter."""
        queue = self._letter_place.queue
        letter = await source.dead_letters.letter(queue, self._letter_place.id)
        return LetterRow(letter, await source.dead_letters.clock(queue))

    def take(self, answer: LetterRow) -> None:
        """Take the letter; then read the trace of its entry."""
        self._row = answer
        if (origin := self._origin()) is not None:
            self.fetch(
                lambda source: source.tracer.trace(origin.stream, origin.id),
                self._take_trace,
                self._lack_trace,
            )

    def _take_trace(self, trace: EntryTrace) -> None:
        self._trace = trace
        self.tell()

    def _lack_trace(self, error: StreamopsError) -> None:
        self._no_trace = safe(error.message)
        self.tell()

    def lines(self, width: int) -> Sequence[Line]:
        """Why it died, the entry's trace, and its fields."""
        row = self._row
        if row is None:
            return () if self.error else [BLANK_LINE, (Cell(" reading", Tone.DIM),)]
        return [
            *letter_facts(row, width),
            BLANK_LINE,
            *self._trace_lines(width),
            BLANK_LINE,
            *own_fields(row, width, raw=self._raw),
        ]

    def _trace_lines(self, width: int) -> list[Line]:
        heading: Line = (Cell(" Its trace", Tone.STRONG),)
        if self._origin() is None:
            return [heading, (Cell(" not known: the letter does not say which entry it was", Tone.UNKNOWN),)]
        if self._trace is None:
            return [heading, (Cell(f" {self._no_trace or 'reading'}", Tone.DIM),)]
        return [heading, *trace_lines(self._trace, width)]

    def subject(self) -> Subject | None:
        """The letter."""
        return subject_at(self._letter_place, dead_letters=True)

    def copyable(self) -> str:
        """The letter's ID."""
        return str(self._letter_place.id)

    def entry_at(self) -> tuple[str, EntryId] | None:
        """The entry that died."""
        origin = self._origin()
        return None if origin is None else (origin.stream, origin.id)

    def action_raw(self) -> None:
        """Show text as it came, or decoded again."""
        self._raw = not self._raw
        self.tell()

    def _origin(self) -> places.Trace | None:
        letter = None if self._row is None else self._row.letter
        if letter is None or letter.origin is None or letter.origin_id is None:
            return None
        return places.Trace(letter.origin, letter.origin_id)
