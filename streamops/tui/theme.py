"""Two palettes, and what each tone looks like in them.

States are told apart by blue, amber and red, never green against red, and always by a glyph and a word too.
"""

from enum import StrEnum
from functools import lru_cache
from typing import Final

from msgspec import Struct
from rich.style import Style
from textual.theme import Theme

from streamops.present.table import Tone


class Ground(StrEnum):
    """What text stands on."""

    PAGE = "page"
    BAR = "bar"
    CURSOR = "cursor"
    CURSOR_IDLE = "cursor_idle"
    BANNER = "banner"


class Palette(Struct, frozen=True):
    """Colours as ``#rrggbb``: one for each ground, then one for each tone.

    Attributes:
        dark: Whether the page is darker than its text.
        accent: What leads the eye: the crumb one stands at, keys in the footer, focus.
    """

    dark: bool
    page: str
    bar: str
    cursor: str
    cursor_idle: str
    banner: str
    plain: str
    dim: str
    strong: str
    ok: str
    warn: str
    critical: str
    unknown: str
    accent: str


DARK: Final = Palette(
    dark=True,
    page="#0f141a",
    bar="#1a222c",
    cursor="#1f3a56",
    cursor_idle="#1e2a36",
    banner="#8c2026",
    plain="#c9d3de",
    dim="#8593a3",
    strong="#ffffff",
    ok="#6bb5f5",
    warn="#f0b429",
    critical="#ff857b",
    unknown="#b8a6e6",
    accent="#7cc4ff",
)
LIGHT: Final = Palette(
    dark=False,
    page="#fcfcfa",
    bar="#e9edf1",
    cursor="#c5dff7",
    cursor_idle="#e3eaf0",
    banner="#b3261e",
    plain="#29323c",
    dim="#586471",
    strong="#000000",
    ok="#0b5cad",
    warn="#8a5200",
    critical="#b3261e",
    unknown="#5e4b9c",
    accent="#0b5cad",
)
DARK_NAME: Final = "streamops-dark"
LIGHT_NAME: Final = "streamops-light"
PALETTES: Final = {DARK_NAME: DARK, LIGHT_NAME: LIGHT}
BOLD: Final = frozenset({Tone.STRONG, Tone.CRITICAL, Tone.WARN})
WHITE: Final = "#ffffff"


def theme_name(word: str) -> str:
    """The theme for ``dark`` or ``light``; dark for anything else."""
    return LIGHT_NAME if word == "light" else DARK_NAME


def themes() -> list[Theme]:
    """The palettes as Textual wants them, for its own widgets (inputs, the palette, toasts)."""
    return [_theme(name, palette) for name, palette in PALETTES.items()]


@lru_cache(maxsize=256)
def ink(theme: str, tone: Tone, ground: Ground, *, colour: bool) -> Style:
    """The style of text of one tone on one ground.

    Args:
        theme: A theme's name; an unknown one is drawn as the dark one.
        tone: What the text means.
        ground: What it stands on.
        colour: False leaves bold, reverse and underline only.
    """
    bold = tone in BOLD or ground is Ground.BANNER
    if not colour:
        reverse = ground in (Ground.CURSOR, Ground.BANNER)
        return Style(bold=bold, reverse=reverse, underline=ground is Ground.CURSOR_IDLE)
    palette = PALETTES.get(theme, DARK)
    front = WHITE if ground is Ground.BANNER else _front(palette, tone, ground)
    return Style(color=front, bgcolor=getattr(palette, ground.value), bold=bold)


@lru_cache(maxsize=8)
def faint_ink(theme: str, *, colour: bool) -> Style:
    """The style of lines between parts: there, and no more than that."""
    if not colour:
        return Style()
    palette = PALETTES.get(theme, DARK)
    return Style(color=palette.cursor_idle, bgcolor=palette.page)


def _front(palette: Palette, tone: Tone, ground: Ground) -> str:
    if tone is Tone.DIM and ground is Ground.CURSOR:
        return palette.plain
    front: str = getattr(palette, tone.value)
    return front


def _theme(name: str, palette: Palette) -> Theme:
    return Theme(
        name=name,
        dark=palette.dark,
        primary=palette.accent,
        secondary=palette.ok,
        accent=palette.accent,
        foreground=palette.plain,
        background=palette.page,
        surface=palette.bar,
        panel=palette.cursor_idle,
        warning=palette.warn,
        error=palette.critical,
        success=palette.ok,
        variables={
            "block-cursor-background": palette.cursor,
            "block-cursor-foreground": palette.strong,
            "block-cursor-text-style": "bold",
            "scrollbar": palette.cursor_idle,
            "scrollbar-background": palette.page,
            "scrollbar-hover": palette.accent,
            "scrollbar-active": palette.accent,
            "scrollbar-background-hover": palette.page,
            "scrollbar-background-active": palette.page,
            "input-selection-background": palette.cursor,
        },
    )
