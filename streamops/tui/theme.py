"""The palettes, and what each tone looks like in them.

States are distinguished by blue, amber and red, never green against red, and always by a glyph and a word too. One palette
keeps its states apart by how light they are as well, for eyes that lack a kind of cone; one has the terminal's own sixteen
colours, for terminals that have no more.
"""

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Final, TypeAlias

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


Palette: TypeAlias = Mapping[str, str]
"""Colours as ``#rrggbb``: one for each background, one for each tone, and the accent, which leads the eye."""
COLOURS: Final = {
    # Dark, light, colour-blind, terminal.
    "page":        ("#0f141a", "#fcfcfa", "#101418", "default"),
    "bar":         ("#1a222c", "#e9edf1", "#1c232b", "default"),
    "cursor":      ("#1f3a56", "#c5dff7", "#15283e", "default"),
    "cursor_idle": ("#1e2a36", "#e3eaf0", "#1a2430", "default"),
    "banner":      ("#8c2026", "#b3261e", "#a8380f", "default"),
    "plain":       ("#c9d3de", "#29323c", "#d5dbe2", "default"),
    "dim":         ("#8593a3", "#586471", "#8f9aa6", "default"),
    "strong":      ("#ffffff", "#000000", "#ffffff", "default"),
    "ok":          ("#6bb5f5", "#0b5cad", "#3d95ff", "cyan"),
    "warn":        ("#f0b429", "#8a5200", "#fff08a", "yellow"),
    "critical":    ("#ff857b", "#b3261e", "#ef6a38", "red"),
    "unknown":     ("#b8a6e6", "#5e4b9c", "#b48fb8", "magenta"),
    "accent":      ("#7cc4ff", "#0b5cad", "#7cc4ff", "cyan"),
}  # fmt: skip
NAMES: Final = {word: f"streamops-{word}" for word in ("dark", "light", "colour-blind", "terminal")}
"""The themes by the words of the configuration, in the order of the colours."""
PALETTES: Final[Mapping[str, Palette]] = {
    name: {what: colours[at] for what, colours in COLOURS.items()} for at, name in enumerate(NAMES.values())
}
DARK_NAME, LIGHT_NAME, COLOUR_BLIND_NAME, TERMINAL_NAME = PALETTES
DARK, LIGHT, COLOUR_BLIND, TERMINAL = PALETTES.values()
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
    return Style(color=front, bgcolor=palette[ground], bold=bold)


@lru_cache(maxsize=8)
def divider_style(theme: str, *, colour: bool) -> Style:
    """The style of lines between parts: there, and no more than that."""
    if not colour:
        return Style()
    palette = PALETTES.get(theme, DARK)
    if palette is TERMINAL:
        return Style(dim=True)
    return Style(color=palette["cursor_idle"], bgcolor=palette["page"])


def _terminal_style(tone: Tone, ground: Background, *, bold: bool) -> Style:
    """Grounds by what every terminal can do: nobody knows what its sixteen colours look like beside each other."""
    return Style(
        color=TERMINAL["critical" if ground is Background.BANNER else tone],
        bgcolor=TERMINAL["page"],
        bold=bold,
        dim=tone is Tone.DIM and ground is not Background.CURSOR,
        reverse=ground in (Background.CURSOR, Background.BANNER),
        underline=ground is Background.CURSOR_IDLE,
    )


def _front(palette: Palette, tone: Tone, ground: Background) -> str:
    return palette["plain" if tone is Tone.DIM and ground is Background.CURSOR else tone]


def themes() -> list[Theme]:
    """All of them."""
    return [_theme(name, palette) for name, palette in PALETTES.items()]


def _theme(name: str, palette: Palette) -> Theme:
    is_terminal = palette is TERMINAL
    of = {what: f"ansi_{colour}" for what, colour in palette.items()} if is_terminal else palette
    return Theme(
        name=name,
        ansi=is_terminal,
        dark=palette is not LIGHT,
        primary=of["accent"],
        secondary=of["ok"],
        accent=of["accent"],
        foreground=of["plain"],
        background=of["page"],
        surface=of["bar"],
        panel=of["cursor_idle"],
        boost=of["bar"] if is_terminal else None,
        warning=of["warn"],
        error=of["critical"],
        success=of["ok"],
        variables={
            "block-cursor-background": of["cursor"],
            "block-cursor-foreground": of["strong"],
            "block-cursor-text-style": "bold",
            "scrollbar": of["cursor_idle"],
            "scrollbar-background": of["page"],
            "scrollbar-hover": of["accent"],
            "scrollbar-active": of["accent"],
            "scrollbar-background-hover": of["page"],
            "scrollbar-background-active": of["page"],
            "input-selection-background": of["cursor"],
            **(OF_TERMINAL if is_terminal else {}),
        },
    )


OF_TERMINAL: Final = {
    **BUILTIN_THEMES["ansi-dark"].variables,
    "block-cursor-background": "ansi_cyan",
    "block-cursor-foreground": "ansi_black",
    "block-cursor-text-style": "bold",
    "input-cursor-background": "ansi_cyan",
    "input-cursor-foreground": "ansi_black",
    "input-selection-background": "ansi_cyan",
    "scrollbar": "ansi_bright_black",
}
