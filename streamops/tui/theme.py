"""The palettes, and what each tone looks like in them.

States are distinguished by blue, amber and red, never green against red, and always by a glyph and a word too. One palette
keeps its states apart by how light they are as well, for eyes that lack a kind of cone; one has the terminal's own sixteen
colours, for terminals that have no more.
"""

from enum import StrEnum
from functools import lru_cache
from typing import Final

from msgspec import Struct
from rich.style import Style
from textual.theme import BUILTIN_THEMES, Theme

from streamops.resources.table import Tone


class Background(StrEnum):
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
COLOUR_BLIND: Final = Palette(
    dark=True,
    page="#101418",
    bar="#1c232b",
    cursor="#15283e",
    cursor_idle="#1a2430",
    banner="#a8380f",
    plain="#d5dbe2",
    dim="#8f9aa6",
    strong="#ffffff",
    ok="#3d95ff",
    warn="#fff08a",
    critical="#ef6a38",
    unknown="#b48fb8",
    accent="#7cc4ff",
)
TERMINAL: Final = Palette(
    dark=True,
    page="default",
    bar="default",
    cursor="default",
    cursor_idle="default",
    banner="default",
    plain="default",
    dim="default",
    strong="default",
    ok="cyan",
    warn="yellow",
    critical="red",
    unknown="magenta",
    accent="cyan",
)
DARK_NAME: Final = "streamops-dark"
LIGHT_NAME: Final = "streamops-light"
COLOUR_BLIND_NAME: Final = "streamops-colour-blind"
TERMINAL_NAME: Final = "streamops-terminal"
PALETTES: Final = {
    DARK_NAME: DARK,
    LIGHT_NAME: LIGHT,
    COLOUR_BLIND_NAME: COLOUR_BLIND,
    TERMINAL_NAME: TERMINAL,
}
NAMES: Final = {
    "dark": DARK_NAME,
    "light": LIGHT_NAME,
    "colour-blind": COLOUR_BLIND_NAME,
    "terminal": TERMINAL_NAME,
}
"""The palettes by the words of the configuration."""
FEW_COLOURS: Final = frozenset({"standard", "windows"})
"""Rich's words for terminals that have sixteen colours."""
BOLD: Final = frozenset({Tone.STRONG, Tone.CRITICAL, Tone.WARN})
WHITE: Final = "#ffffff"


def theme_name(word: str, colours: str | None = None) -> str:
    """The theme for a word of the configuration; dark for none.

    Args:
        word: ``dark``, ``light``, ``colour-blind`` or ``terminal``.
        colours: What the terminal can draw, in Rich's words: with sixteen colours there is one theme alone, because any
            other would become black on black somewhere.
    """
    return TERMINAL_NAME if colours in FEW_COLOURS else NAMES.get(word, DARK_NAME)


def next_theme(name: str) -> str:
    """The theme after another one; the terminal's own stays, and comes by configuration."""
    if name == TERMINAL_NAME:
        return name
    others = [other for other in PALETTES if other != TERMINAL_NAME]
    return others[(others.index(name) + 1) % len(others)] if name in others else DARK_NAME


@lru_cache(maxsize=256)
def text_style(theme: str, tone: Tone, ground: Background, *, colour: bool) -> Style:
    """The style of text of one tone on one ground.

    Args:
        theme: A theme's name; an unknown one is drawn as the dark one.
        tone: What the text means.
        ground: What it stands on.
        colour: False leaves bold, reverse and underline only.
    """
    bold = tone in BOLD or ground is Background.BANNER
    if not colour:
        reverse = ground in (Background.CURSOR, Background.BANNER)
        return Style(bold=bold, reverse=reverse, underline=ground is Background.CURSOR_IDLE)
    palette = PALETTES.get(theme, DARK)
    if palette is TERMINAL:
        return _terminal_style(tone, ground, bold=bold)
    front = WHITE if ground is Background.BANNER else _front(palette, tone, ground)
    return Style(color=front, bgcolor=getattr(palette, ground.value), bold=bold)


@lru_cache(maxsize=8)
def divider_style(theme: str, *, colour: bool) -> Style:
    """The style of lines between parts: there, and no more than that."""
    if not colour:
        return Style()
    palette = PALETTES.get(theme, DARK)
    if palette is TERMINAL:
        return Style(dim=True)
    return Style(color=palette.cursor_idle, bgcolor=palette.page)


def _terminal_style(tone: Tone, ground: Background, *, bold: bool) -> Style:
    """Grounds by what every terminal can do: nobody knows what its sixteen colours look like beside each other."""
    return Style(
        color=TERMINAL.critical if ground is Background.BANNER else getattr(TERMINAL, tone.value),
        bgcolor=TERMINAL.page,
        bold=bold,
        dim=tone is Tone.DIM and ground is not Background.CURSOR,
        reverse=ground in (Background.CURSOR, Background.BANNER),
        underline=ground is Background.CURSOR_IDLE,
    )


def _front(palette: Palette, tone: Tone, ground: Background) -> str:
    if tone is Tone.DIM and ground is Background.CURSOR:
        return palette.plain
    front: str = getattr(palette, tone.value)
    return front


def themes() -> list[Theme]:
    """All of them."""
    return [
        _terminal_theme() if palette is TERMINAL else _theme(name, palette)
        for name, palette in PALETTES.items()
    ]


def _terminal_theme() -> Theme:
    return Theme(
        name=TERMINAL_NAME,
        ansi=True,
        dark=True,
        primary="ansi_cyan",
        secondary="ansi_cyan",
        accent="ansi_cyan",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        boost="ansi_default",
        warning="ansi_yellow",
        error="ansi_red",
        success="ansi_cyan",
        variables={
            **BUILTIN_THEMES["ansi-dark"].variables,
            "block-cursor-background": "ansi_cyan",
            "block-cursor-foreground": "ansi_black",
            "block-cursor-text-style": "bold",
            "input-cursor-background": "ansi_cyan",
            "input-cursor-foreground": "ansi_black",
            "input-selection-background": "ansi_cyan",
            "input-selection-foreground": "ansi_black",
            "scrollbar": "ansi_bright_black",
            "scrollbar-background": "ansi_default",
            "scrollbar-hover": "ansi_cyan",
            "scrollbar-active": "ansi_cyan",
            "scrollbar-background-hover": "ansi_default",
            "scrollbar-background-active": "ansi_default",
        },
    )


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
