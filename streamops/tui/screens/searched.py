"""A place that is text in which words can be found."""

from collections.abc import Iterable
from typing import ClassVar

from textual.binding import BindingType
from textual.widget import Widget

from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.resources.units import count
from streamops.tui.keys import bindings
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.rows.ordering import split_words
from streamops.tui.screens.frame import Frame
from streamops.tui.widgets.paint import BLANK_LINE, Line
from streamops.tui.widgets.prompt import FILTER, Prompt
from streamops.tui.widgets.text_view import TextView


class Searched(Frame):
    """Text; ``/`` finds words in it. Subclasses fill the view.

    Attributes:
        view: The text.
    """

    BINDINGS: ClassVar[list[BindingType]] = bindings("find", "next", "previous")

    def __init__(self, place: Route, app_state: AppState) -> None:
        super().__init__(place, app_state)
        self._text = ""
        self.view = TextView(id="main")

    def compose_body(self) -> Iterable[Widget]:
        """The text."""
        yield self.view

    async def action_find(self) -> None:
        """Ask what to find."""
        await self.open_prompt(Prompt(FILTER, self._text))

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
        at = self.view.scroll_offset.y + 2
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

    def _matches(self) -> list[int]:
        wanted, unwanted = split_words(self._text)
        if not wanted:
            return []
        texts = ("".join(cell.text for cell in line).casefold() for line in self.view.lines)
        return [
            number
            for number, text in enumerate(texts)
            if all(word in text for word in wanted) and not any(word in text for word in unwanted)
        ]

    def _go_to_match(self, matches: list[int], which: int) -> None:
        if matches:
            self.view.scroll_to_line(matches[which])
