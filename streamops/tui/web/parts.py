"""The parts of the page: our own, and the terminal that comes with textual-serve."""

from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final, NamedTuple

from streamops.errors import SettingsError


class Part(NamedTuple):
    """One file of the page.

    Attributes:
        body: Its content.
        type: Its media type.
    """

    body: bytes
    type: str


NO_ICON: Final = Part(b"", "image/x-icon")
OWN: Final = {
    "/": ("page.html", "text/html"),
    "/page.css": ("page.css", "text/css"),
    "/page.js": ("page.js", "text/javascript"),
}
TERMINAL: Final = {
    "/xterm.css": ("css/xterm.css", "text/css"),
    "/textual.js": ("js/textual.js", "text/javascript"),
    "/font.ttf": ("fonts/RobotoMono-VariableFont_wght.ttf", "font/ttf"),
}


def read_parts() -> dict[str, Part]:
    """All parts, by their paths.

    Raises:
        SettingsError: What the terminal comes with is not installed.
    """
    try:
        terminal = files("textual_serve") / "static"
        return {**_read(files(__package__), OWN), **_read(terminal, TERMINAL), "/favicon.ico": NO_ICON}
    except (ModuleNotFoundError, FileNotFoundError):
        raise SettingsError(
            "the console in a browser needs textual-serve, which is not installed",
            "pip install 'streamops[web]'; or open the console in a terminal: ssh -t HOST streamops tui",
        ) from None


def _read(place: Traversable, names: dict[str, tuple[str, str]]) -> dict[str, Part]:
    return {path: Part(place.joinpath(name).read_bytes(), kind) for path, (name, kind) in names.items()}
