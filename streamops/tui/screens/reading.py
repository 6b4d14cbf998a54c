"""One thing in full, as text that is read on demand."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, Generic, TypeVar

from textual.widget import Widget

from streamops.errors import StreamopsError
from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.tui.lines import words
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.rows.selection import Selection, holds_dead_letters, selection_at
from streamops.tui.screens.frame import Frame
from streamops.tui.source import Source
from streamops.tui.widgets.paint import BLANK_LINE, Line
from streamops.tui.widgets.text_view import TextView

Thing = TypeVar("Thing")


class ReadingFrame(Frame, Generic[Thing]):
    """Text about one thing. Subclasses say what to read and what to say of it.

    Attributes:
        thing: What was read last; none before the first time.
        error: Why it could not be read the last time.
    """

    follows: ClassVar[bool] = False
    """Whether it is read again with every observation: where the console is frozen or cut off, it stays as it is."""

    def __init__(self, place: Route, app_state: AppState) -> None:
        super().__init__(place, app_state)
        self._view = TextView(id="main")
        self._is_reading = False
        self.thing: Thing | None = None
        self.error = ""

    def compose_body(self) -> Iterable[Widget]:
        """The text."""
        yield self._view

    def on_mount(self) -> None:
        """Say what is known, and read the rest."""
        self.refresh_detail()
        self.reread()

    @abstractmethod
    async def read(self, source: Source) -> Thing:
        """Read it; raises ``StreamopsError``."""

    @abstractmethod
    def lines(self, thing: Thing, width: int) -> Sequence[Line]:
        """What to say of it."""

    def show(self, app_state: AppState) -> None:
        """Read it again where there is a new observation, and it follows."""
        newer = app_state.observation is not self.app_state.observation
        super().show(app_state)
        if newer and self.follows:
            self.reread()

    def reread(self) -> None:
        """Read it again, unless that is under way."""
        if not self._is_reading:
            self._is_reading = True
            self.fetch(self.read, self.take)

    def take(self, thing: Thing) -> None:
        """Keep what was read."""
        self._is_reading, self.error, self.thing = False, "", thing
        self.refresh_detail()

    def unread(self, error: StreamopsError) -> None:
        """Say why it could not be read; what was read before stays."""
        self._is_reading = False
        self.error = safe(words.error_text(error))
        self.refresh_detail()

    def refresh_detail(self) -> None:
        """Show what is known now."""
        self._view.show(self._build)
        self.show_bars()

    def selection(self) -> Selection | None:
        """What the place is about."""
        stream = self.stream_name() or ""
        return selection_at(self.place, dead_letters=holds_dead_letters(self.app_state.observation, stream))

    def copyable(self) -> str:
        """The ID or name of the thing."""
        return self.place.names[-1]

    def _build(self, width: int) -> Sequence[Line]:
        failed: list[Line] = [(Cell(f" ✗ {self.error}", Tone.CRITICAL),), BLANK_LINE] if self.error else []
        if self.thing is None:
            return failed or [BLANK_LINE, (Cell(" reading", Tone.DIM),)]
        return [*failed, *self.lines(self.thing, width)]
