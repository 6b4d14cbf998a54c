"""Widgets that draw their own lines, and draw each once."""

from abc import abstractmethod
from typing import Self

from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget


class Painted(Widget):
    """A widget that keeps each of its lines as drawn, until it says that the line changed.

    With every frame Textual asks everything on the screen for all of its lines, whatever changed. It keeps
    lines itself, styled: that is for borders, padding and filters, of which our widgets have none. The very
    same strip handed over again brings along all that Textual remembers on it, its cuts and its escape sequences.
    """

    _kept: dict[int, Strip]
    _kept_for: tuple[Size, tuple[int, int]] | None = None

    @abstractmethod
    def draw_line(self, y: int, width: int) -> Strip:
        """Draw the line at a height, as wide as the widget is."""

    def render_lines(self, crop: Region) -> list[Strip]:
        """The lines that are visible; only those that changed are drawn."""
        size, visible = self.size, crop.column_span
        if self._kept_for != (size, visible):
            self._kept, self._kept_for = {}, (size, visible)
        kept = self._kept
        for y in crop.line_range:
            if y not in kept:
                strip = self.draw_line(y, size.width)
                kept[y] = strip if visible == (0, size.width) else strip.crop(*visible)
        return [kept[y] for y in crop.line_range]

    def refresh(
        self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False
    ) -> Self:
        """Have lines drawn again: those of the regions, all of them where none is named."""
        if not regions:
            self._kept_for = None
        elif self._kept_for is not None:
            for region in regions:
                for y in region.line_range:
                    self._kept.pop(y, None)
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)

    def notify_style_update(self) -> None:
        """Forget the lines: theme or focus changed."""
        self._kept_for = None
        super().notify_style_update()
