"""Some lines above a list: what all of it comes to."""

from collections.abc import Sequence
from typing import Final

from streamops.tui.paint import Line
from streamops.tui.text_view import TextView

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
