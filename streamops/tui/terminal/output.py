"""The terminal: whether there is one, when it goes away, and what every line passes on its way out to it."""

import re
import signal
from collections.abc import Mapping
from typing import Final, Protocol

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from streamops.errors import SettingsError
from streamops.resources.text import is_safe

REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"
NOT_ASCII: Final = re.compile(r"[^ -~]")


class OnlyShown(LineFilter):
    """Replaces, one for one, every character that a terminal would obey, reorder by or hide.

    Text is sanitised if it is made. This catches what never passed there, such as a paste into an
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


HUNG_UP: Final = 128 + signal.SIGHUP
"""How a program ends whose terminal went away."""
HINT = "for plain output use: streamops status"
DRIVER = "streamops.tui.web.driver:BrowserDriver"
DRIVER_VARIABLE = "TEXTUAL_DRIVER"


class TtyStream(Protocol):
    """What is asked of stdin and stdout."""

    def isatty(self) -> bool:
        """Whether it is a terminal."""


def is_in_browser(environment: Mapping[str, str]) -> bool:
    """Whether this process draws for a tab of a browser, and not on a terminal."""
    return environment.get(DRIVER_VARIABLE) == DRIVER


def require_terminal(
    stdin: TtyStream | None, stdout: TtyStream | None, environment: Mapping[str, str]
) -> None:
    """Refuse to draw where nothing can be drawn.

    Raises:
        SettingsError: Input or output is no terminal, or the terminal cannot move its cursor.
    """
    if stdin is None or stdout is None or not (stdin.isatty() and stdout.isatty()):
        raise SettingsError("the console needs a terminal for its input and its output", HINT)
    if environment.get("TERM", "") in ("dumb", ""):
        raise SettingsError(f"the console cannot be drawn with TERM={environment.get('TERM', '')!r}", HINT)
