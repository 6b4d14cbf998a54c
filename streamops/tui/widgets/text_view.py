"""Text that is made for the width there is, and scrolls; and a few lines of it above a list."""

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import ClassVar, Final

from textual.binding import BindingType
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from streamops.tui.keys import bindings
from streamops.tui.widgets.paint import BLANK_LINE, Line, Painted, brush_of

SCROLLBAR: Final = 1
Builder = Callable[[int], Sequence[Line]]


def no_lines(_width: int) -> Sequence[Line]:
    """Build nothing."""
    return ()


class TextView(Painted, ScrollView, can_focus=True):
    """Lines of cells, built again when the width changes.

    Args:
        build: Makes the lines for a width in cells.
        id: The widget's ID.
    """

    DEFAULT_CSS = """
    TextView { height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1; scrollbar-gutter: stable; }
    """
    BINDINGS: ClassVar[list[BindingType]] = bindings(
        "page_up", "page_down", up="scroll_up", down="scroll_down", first="scroll_home", last="scroll_end"
    )

    def __init__(self, build: Builder = no_lines, *, id: str | None = None) -> None:  # noqa: A002 - Textual's word
        super().__init__(id=id)
        self._build = build
        self._lines: Sequence[Line] = ()
        self._built_for = -1
        self._strips: dict[int, Strip] = {}

    @property
    def lines(self) -> Sequence[Line]:
        """The lines as built for the present width."""
        return self._lines

    def show(self, build: Builder) -> None:
        """Show other lines; the place scrolled to stays."""
        self._build = build
        self._built_for = -1
        self._rebuild()

    def on_resize(self) -> None:
        """Build the lines for another width."""
        self._rebuild()

    def draw_line(self, y: int, width: int) -> Strip:
        """Draw a line of the text, wherever it is scrolled to."""
        index = self.scroll_offset.y + y
        strip = self._strips.get(index)
        if strip is None or strip.cell_length != width:
            line = self._lines[index] if index < len(self._lines) else BLANK_LINE
            strip = self._strips[index] = brush_of(self).line(line, width)
        return strip

    def notify_style_update(self) -> None:
        """Forget drawn lines: the theme changed."""
        self._strips.clear()
        super().notify_style_update()

    def scroll_to_line(self, index: int) -> None:
        """Bring a line into view, a few lines below the top."""
        self.scroll_to(y=max(index - 2, 0), animate=False, immediate=True, force=True)

    def _rebuild(self) -> None:
        width = self.size.width - SCROLLBAR
        if width > 0 and width != self._built_for:
            self._built_for = width
            self._take(self._build(width))
        self._measure()

    def _take(self, lines: Sequence[Line]) -> None:
        """Show other lines; those that say the same where they stand are not drawn again."""
        before, self._lines = self._lines, lines
        changed = [at for at, (old, new) in enumerate(zip_longest(before, lines)) if old != new]
        for at in changed:
            self._strips.pop(at, None)
        if changed:
            top, width = self.scroll_offset.y, self.size.width
            self.refresh(*(Region(0, at - top, width, 1) for at in changed))

    def _measure(self) -> None:
        """Say how much there is to scroll, where that changed: Textual lays out the whole screen again for it."""
        room = self.size.height
        if max(len(self._lines), room) != max(self.virtual_size.height, room):
            self.virtual_size = Size(self._built_for, len(self._lines))


MOST: Final = 7


class Head(TextView):
    """A text as high as it is, up to a few lines; keys pass it by."""

    DEFAULT_CSS = """
    Head { height: 1; overflow-y: hidden; scrollbar-size-vertical: 0; scrollbar-gutter: auto; }
    """
    can_focus = False

    def _take(self, lines: Sequence[Line]) -> None:
        height = max(1, min(len(lines), MOST))
        if self.styles.height is None or self.styles.height.value != height:
            self.styles.height = height
        super()._take(lines)
