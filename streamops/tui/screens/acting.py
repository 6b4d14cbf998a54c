"""What the screens of acting share: they lie over the place that one acts from, and keep its crumbs."""

from streamops.resources.table import Cell, Tone
from streamops.resources.text import safe
from streamops.tui.polling.app_state import AppState
from streamops.tui.routes import Route
from streamops.tui.screens.frame import Frame
from streamops.tui.widgets.paint import Line


class ActingFrame(Frame):
    """A form or a plan.

    Args:
        place: The place that one acts from.
        app_state: What is known now.
        title: The operation's name.
    """

    AUTO_FOCUS = ""

    def __init__(self, place: Route, app_state: AppState, title: str) -> None:
        super().__init__(place, app_state)
        self.title_word = title

    def selection_words(self) -> Line:
        """The operation."""
        return (Cell(f"{safe(self.title_word)} ", Tone.STRONG),)

    def acted(self) -> None:
        """What was done is told here already."""
