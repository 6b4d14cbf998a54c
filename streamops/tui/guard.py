"""The last door before the terminal: filters over every line that any widget draws."""

import re
from typing import Final

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from streamops.present.text import is_safe

REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
NOT_ASCII: Final = re.compile(r"[^ -~]")


class OnlyShown(LineFilter):
    """Replaces, one for one, every character that a terminal would obey, reorder by or hide.

    Text is sanitised where it is made. This catches what never passed there, such as a paste into an
    input of Textual's own, without changing the width of the line.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with such characters replaced."""
        del background
        return [
            segment if segment.text.isascii() and segment.text.isprintable() else _shown(segment)
            for segment in segments
        ]


class WithoutColour(LineFilter):
    """Takes every colour away; bold, reverse and underline stay.

    Textual's own answer to ``NO_COLOR`` is shades of grey, which are colours to a terminal.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments without colours."""
        del background
        return [
            segment
            if segment.style is None
            else Segment(segment.text, segment.style.without_color, segment.control)
            for segment in segments
        ]


def _shown(segment: Segment) -> Segment:
    return Segment(NOT_ASCII.sub(_replace, segment.text), segment.style, segment.control)


def _replace(match: re.Match[str]) -> str:
    character = match.group()
    return character if is_safe(character) else REPLACEMENT
