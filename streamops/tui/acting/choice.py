"""A choice of few words on one line: all of them seen, one key for the next. Textual's Select hides them behind Enter, which plans."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from streamops.resources.table import Cell, Tone
from streamops.tui.theme import Background
from streamops.tui.widgets.paint import Painted, brush_of


class Pick(Painted, can_focus=True):
    """One of a few words, changed with Space and the arrows.

    Args:
        options: The words.
        value: Which one it is at first.
    """

    DEFAULT_CSS = """
    Pick { height: 1; width: 1fr; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,right", "step(1)", "next", show=False),
        Binding("left", "step(-1)", "previous", show=False),
        Binding("enter", "submit", "plan", show=False),
    ]

    class Submitted(Message):
        """The form is filled in."""

    def __init__(self, options: tuple[str, ...], value: str) -> None:
        super().__init__()
        self._options = options
        self.value = value

    def draw_line(self, y: int, width: int) -> Strip:
        """Draw it."""
        del y
        ground = Background.CURSOR if self.has_focus else Background.PAGE
        cells = [Cell(" ")]
        for option in self._options:
            chosen = option == self.value
            cells.append(Cell(f" {'●' if chosen else '○'} {option} ", Tone.STRONG if chosen else Tone.DIM))
        return brush_of(self).line(cells, width, ground)

    def on_focus(self) -> None:
        """Stand out."""
        self.refresh()

    def on_blur(self) -> None:
        """Step back."""
        self.refresh()

    def on_click(self) -> None:
        """A click takes the next word."""
        self.action_step(1)

    def choose(self, option: str) -> None:
        """Take one of the words."""
        self.value = option
        self.refresh()

    def action_step(self, step: int) -> None:
        """Take the next word, or the one before."""
        at = self._options.index(self.value)
        self.choose(self._options[(at + step) % len(self._options)])

    def action_submit(self) -> None:
        """Tell that the form is filled in."""
        self.post_message(self.Submitted())
