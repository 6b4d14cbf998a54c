"""The palettes as Textual wants them, for its own widgets: inputs, the command palette, toasts, scroll bars."""

from textual.theme import BUILTIN_THEMES, Theme

from streamops.tui.theme import PALETTES, TERMINAL, TERMINAL_NAME, Palette


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
