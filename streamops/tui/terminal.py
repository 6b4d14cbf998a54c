"""Whether there is a terminal that a console can be drawn on."""

import signal
from collections.abc import Mapping
from typing import Final, Protocol

from streamops.errors import SettingsError

HUNG_UP: Final = 128 + signal.SIGHUP
"""How a program ends whose terminal went away."""
HINT = "for plain output use: streamops status"
DRIVER = "streamops.tui.web.driver:BrowserDriver"
DRIVER_VARIABLE = "TEXTUAL_DRIVER"


class Stream(Protocol):
    """What is asked of stdin and stdout."""

    def isatty(self) -> bool:
        """Whether it is a terminal."""


def is_in_browser(environment: Mapping[str, str]) -> bool:
    """Whether this process draws for a tab of a browser, and not on a terminal."""
    return environment.get(DRIVER_VARIABLE) == DRIVER


def require_terminal(stdin: Stream | None, stdout: Stream | None, environment: Mapping[str, str]) -> None:
    """Refuse to draw where nothing can be drawn.

    Raises:
        SettingsError: Input or output is no terminal, or the terminal cannot move its cursor.
    """
    if stdin is None or stdout is None or not (stdin.isatty() and stdout.isatty()):
        raise SettingsError("the console needs a terminal for its input and its output", HINT)
    if environment.get("TERM", "") in ("dumb", ""):
        raise SettingsError(f"the console cannot be drawn with TERM={environment.get('TERM', '')!r}", HINT)
