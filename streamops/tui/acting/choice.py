"""Things to press and to choose from, drawn literally and on one line."""

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from streamops.resources.table import Cell, Tone
from streamops.tui.theme import Background
from streamops.tui.widgets.paint import Painted, brush_of, cell_width


class Press(Painted, can_focus=True):
    """Something to press, in brackets; the one that Enter would press stands out.

    Args:
        words: What it says.
        tone: What pressing it means.
        id: The widget's ID.
    """

    DEFAULT_CSS = """
    Press { height: 1; width: auto; margin-right: 1; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter,space", "press", "press", show=False)]

    class Pressed(Message):
        """It was pressed.

        Attributes:
            press: Which one.
        """

        def __init__(self, press: "Press") -> None:
            super().__init__()
            self.press = press

    def __init__(self, words: str, tone: Tone = Tone.PLAIN, *, id: str) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._words = words
        self._tone = tone

    def get_content_width(self, container: object, viewport: object) -> int:
        """As wide as what it says, in its brackets."""
        del container, viewport
        return cell_width(self._words) + 4

    def say(self, words: str, tone: Tone = Tone.PLAIN) -> None:
        """Say something else."""
        self._words, self._tone = words, tone
        self.refresh(layout=True)

    def draw_line(self, y: int, width: int) -> Strip:
        """Draw it."""
        del y
        ground = Background.CURSOR if self.has_focus else Background.BAR
        tone = Tone.STRONG if self.has_focus else self._tone
        return brush_of(self).line((Cell(f"[ {self._words} ]", tone),), width, ground)

    def on_focus(self) -> None:
        """Stand out."""
        self.refresh()

    def on_blur(self) -> None:
        """Step back."""
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """A click presses it."""
        event.stop()
        self.action_press()

    def action_press(self) -> None:
        """Tell that it was pressed."""
        self.post_message(self.Pressed(self))


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
