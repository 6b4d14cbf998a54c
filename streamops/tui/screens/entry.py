"""One entry with its payload."""

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widget import Widget

from streamops.model.entries import Entry
from streamops.present.table import Cell, Tone
from streamops.present.text import safe
from streamops.present.units import count
from streamops.tui import places
from streamops.tui.moment import Moment
from streamops.tui.ordering import split_words
from streamops.tui.paint import BLANK_LINE, Line
from streamops.tui.payload import entry_lines
from streamops.tui.prompt import Prompt
from streamops.tui.reads import Answered, ReadEntry, Unanswered, Wanted
from streamops.tui.screens.frame import Frame
from streamops.tui.subjects import Subject, holds_dead_letters, subject_at
from streamops.tui.text_view import TextView


class EntryScreen(Frame):
    """An entry's fields; ``/`` finds words in them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("slash", "find", "find", show=False),
        Binding("n", "match(1)", "next match", show=False),
        Binding("b", "match(-1)", "previous match", show=False),
        Binding("v", "raw", "decoded or raw", show=False),
    ]
    HINTS = (("/", "find"), ("n b", "next, previous"), ("v", "raw"), ("y", "copy ID"), ("esc", "back"))

    def __init__(self, place: places.OneEntry, moment: Moment) -> None:
        super().__init__(place, moment)
        self._entry_place = place
        self._entry = place.entry
        self._note = "reading"
        self._raw = False
        self._text = ""
        self._view = TextView(id="main")

    def compose_body(self) -> Iterable[Widget]:
        """The text."""
        yield self._view

    def on_mount(self) -> None:
        """Read the entry where it was not handed over."""
        self._show_entry()
        if self._entry is None:
            self.reread()

    def reread(self) -> None:
        """Read the entry again."""
        self.post_message(Wanted(ReadEntry(self._entry_place.stream, self._entry_place.id), self))

    def on_answered(self, message: Answered) -> None:
        """Take the entry, or that it is gone."""
        entry: Entry | None = message.answer
        if entry is not None:
            self._entry = entry
        else:
            self._note = f"{self._entry_place.id} is no longer in the stream: it was trimmed or deleted"
            self._note += " since it was read" if self._entry is not None else ""
        self._show_entry()
        self.show_bars()

    def on_unanswered(self, message: Unanswered) -> None:
        """Say why it could not be read."""
        self._note = safe(message.error.message)
        self._show_entry()

    def subject(self) -> Subject | None:
        """The entry, as it is pending where it was opened from such a list."""
        dead = holds_dead_letters(self.moment.observation, self._entry_place.stream)
        return subject_at(self._entry_place, dead_letters=dead)

    def copyable(self) -> str:
        """The entry's ID."""
        return str(self._entry_place.id)

    # -- finding -------------------------------------------------------------------------------------

    def action_find(self) -> None:
        """Ask what to find."""
        self.open_prompt(Prompt("/", self._text))

    def prompted(self, text: str) -> None:
        """Find while typing."""
        self._text = text
        self.show_bars()

    def submitted(self) -> None:
        """Go to the first match."""
        self._go_to_match(self._matches(), 0)

    def cancel(self) -> bool:
        """Forget what was looked for."""
        if not self._text:
            return False
        self.prompted("")
        return True

    def action_match(self, step: int) -> None:
        """Go to the next or the previous match, around the ends."""
        at = self._view.scroll_offset.y + 2
        matches = self._matches()
        if step > 0:
            self._go_to_match([line for line in matches if line > at] or matches, 0)
        else:
            self._go_to_match([line for line in matches if line < at] or matches, -1)

    def selection_words(self) -> Line:
        """What is looked for, and how often it is there."""
        if not self._text.strip():
            return BLANK_LINE
        return (
            Cell(f"/{safe(self._text)}  ", Tone.WARN),
            Cell(f"{count(len(self._matches()))} lines ", Tone.DIM),
        )

    def action_raw(self) -> None:
        """Show text as it came, or decoded again."""
        self._raw = not self._raw
        self._show_entry()

    def _matches(self) -> list[int]:
        wanted, unwanted = split_words(self._text)
        if not wanted:
            return []
        texts = ("".join(cell.text for cell in line).casefold() for line in self._view.lines)
        return [
            number
            for number, text in enumerate(texts)
            if all(word in text for word in wanted) and not any(word in text for word in unwanted)
        ]

    def _go_to_match(self, matches: list[int], which: int) -> None:
        if matches:
            self._view.scroll_to_line(matches[which])

    def _show_entry(self) -> None:
        entry, note = self._entry, self._note
        if entry is None:
            self._view.show(lambda _width: [BLANK_LINE, (Cell(f" {note}", Tone.DIM),)])
            return
        observation = self.moment.observation
        now = None if observation is None else observation.snapshot.collected_at
        raw = self._raw
        self._view.show(lambda width: entry_lines(entry, now, width, raw=raw))
