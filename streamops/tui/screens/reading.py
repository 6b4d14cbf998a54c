"""A place that is text, read on demand."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

from textual.widget import Widget

from streamops.errors import StreamopsError
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.tui.lines import words
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.screens.frame import Frame
from streamops.tui.source import Source
from streamops.tui.widgets.paint import BLANK_LINE, Line
from streamops.tui.widgets.text_view import TextView


class ReadingFrame(Frame):
    """Text about one thing. Subclasses say what to read and what to tell of it."""

    def __init__(self, place: Route, app_state: AppState) -> None:
        super().__init__(place, app_state)
        self._view = TextView(id="main")
        self.error = ""

    def compose_body(self) -> Iterable[Widget]:
        """The text."""
        yield self._view

    def on_mount(self) -> None:
        """Tell what is known, and read the rest."""
        self.refresh_detail()
        self.reread()

    @abstractmethod
    async def read(self, source: Source) -> Any:  # noqa: ANN401 - each screen reads something else
        """Read it; raises ``StreamopsError``."""

    @abstractmethod
    def take(self, answer: Any) -> None:  # noqa: ANN401 - as above
        """Keep what was read."""

    def lines(self, width: int) -> Sequence[Line]:
        """What to tell."""
        raise NotImplementedError

    def reread(self) -> None:
        """Read it again."""
        self.fetch(self.read, self._taken)

    def _taken(self, answer: Any) -> None:  # noqa: ANN401 - as above
        self.error = ""
        self.take(answer)
        self.refresh_detail()

    def unread(self, error: StreamopsError) -> None:
        """Say why it could not be read."""
        self.error = safe(words.error_text(error))
        self.refresh_detail()

    def refresh_detail(self) -> None:
        """Show what is known now."""
        self._view.show(self._build)
        self.show_bars()

    def _build(self, width: int) -> Sequence[Line]:
        failed: list[Line] = [(Cell(f" ✗ {self.error}", Tone.CRITICAL),), BLANK_LINE] if self.error else []
        return [*failed, *self.lines(width)]
