"""Colours: for every terminal, and for all eyes."""

import math
from itertools import combinations
from typing import Final

from streamops.resources.table import Tone
from streamops.tui.theme import (
    COLOUR_BLIND,
    COLOUR_BLIND_NAME,
    DARK_NAME,
    LIGHT_NAME,
    TERMINAL_NAME,
    Background,
    next_theme,
    text_style,
    theme_name,
)
from tests.support.tui.driving import NARROW, resize, running, screen_text, shown, until
from tests.support.tui.shop import shop_source
from tests.support.tui.source import app_for

SEEN: Final = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red ones": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no green ones": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "no blue ones": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}  # fmt: skip
"""Machado, Oliveira and Fernandes 2009, of linear light."""


def test_states_of_the_colour_blind_palette_are_far_apart_to_all_eyes() -> None:
    for eyes in SEEN:
        states = [COLOUR_BLIND[tone] for tone in ("ok", "warn", "critical", "unknown")]
        for one, other in combinations(states, 2):
            # A difference of 2 can just be seen.
            assert math.dist(_lab(_seen(one, eyes)), _lab(_seen(other, eyes))) > 25, (one, other)


def test_the_theme_follows_from_the_word_and_the_terminal() -> None:
    for word, colours, name in [
        ("", "truecolor", DARK_NAME),
        ("light", "truecolor", LIGHT_NAME),
        ("light", "256", LIGHT_NAME),
        ("colour-blind", "256", COLOUR_BLIND_NAME),
        ("terminal", "truecolor", TERMINAL_NAME),
        ("light", "standard", TERMINAL_NAME),
        ("", "standard", TERMINAL_NAME),
        ("dark", None, DARK_NAME),
    ]:
        assert theme_name(word, colours) == name


def test_themes_go_round_and_the_terminals_own_stays() -> None:
    assert next_theme(next_theme(next_theme(DARK_NAME))) == DARK_NAME
    assert next_theme(TERMINAL_NAME) == TERMINAL_NAME


def test_the_terminals_own_colours_are_its_sixteen_and_the_cursor_is_seen() -> None:
    for tone in Tone:
        for ground in Background:
            style = text_style(TERMINAL_NAME, tone, ground, colour=True)
            for colour in (style.color, style.bgcolor):
                assert colour is not None
                assert colour.is_default or (colour.number is not None and colour.number < 16)
            assert bool(style.reverse) is (ground in (Background.CURSOR, Background.BANNER))


async def test_a_small_terminal_is_told_and_drawn_on() -> None:
    app = app_for(shop_source())
    async with running(app, (70, 20)):
        await shown(app, "70x20: less than 80x24 cuts rows and words")
        assert "fulfilment" in screen_text(app)
        for size in ((20, 5), (1, 1), NARROW, (300, 80)):
            await resize(app, *size)
        await until(app, lambda: "fulfilment" in screen_text(app))


def _seen(colour: str, eyes: str) -> tuple[float, ...]:
    light = [_linear(part / 255) for part in bytes.fromhex(colour[1:])]
    rows = (sum(share * part for share, part in zip(row, light, strict=True)) for row in SEEN[eyes])
    return tuple(min(max(part, 0.0), 1.0) for part in rows)


def _linear(part: float) -> float:
    return float(part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4)


def _lab(light: tuple[float, ...]) -> tuple[float, float, float]:
    """CIE L*a*b*, in which distances are what eyes tell."""
    red, green, blue = light
    x = _root((0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.95047)
    y = _root(0.2126 * red + 0.7152 * green + 0.0722 * blue)
    z = _root((0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.08883)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def _root(part: float) -> float:
    return float(part ** (1 / 3)) if part > 0.008856 else 7.787 * part + 16 / 116
