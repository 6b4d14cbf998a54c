"""What lies behind the lists and panes of a screen."""

from typing import ClassVar

from textual.containers import Container


class Body(Container):
    """A part of a screen that shows nothing itself: drawn as one blank line, not styled line by line with every frame."""

    BLANK: ClassVar[bool] = True
