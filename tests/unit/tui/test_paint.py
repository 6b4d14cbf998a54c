import math

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from streamops.resources.table import Align, Cell, Tone
from streamops.resources.text import safe
from streamops.tui.theme import (
    COLOUR_BLIND,
    COLOUR_BLIND_NAME,
    DARK,
    DARK_NAME,
    LIGHT,
    LIGHT_NAME,
    Background,
    text_style,
)
from streamops.tui.widgets.paint import Brush, cell_width, chop, fit, printable, wrap

any_text = st.text(max_size=40)


def test_fit_pads_or_cuts_visibly() -> None:
    for text, width, align, expected in [
        ("lag", 5, Align.LEFT, "lag  "),
        ("lag", 5, Align.RIGHT, "  lag"),
        ("lagging", 5, Align.LEFT, "lagg…"),
        ("lagging", 5, Align.RIGHT, "lagg…"),
        ("日本語", 6, Align.LEFT, "日本語"),
        ("日本語", 5, Align.LEFT, "日本…"),
        ("日本語", 4, Align.LEFT, "日 …"),
        ("x", 0, Align.LEFT, ""),
        ("a\x1bb", 8, Align.LEFT, "a\\x1bb  "),
    ]:
        assert fit(text, width, align) == expected


@given(any_text, st.integers(1, 30), st.sampled_from(Align))
def test_fit_takes_exactly_its_width(text: str, width: int, align: Align) -> None:
    assert cell_len(fit(text, width, align)) == width


@given(any_text)
def test_printable_lets_nothing_through_that_a_terminal_obeys(text: str) -> None:
    assert printable(text).isprintable()


@given(any_text.map(safe), st.integers(2, 30))
def test_pieces_are_the_text_and_none_is_too_wide(text: str, width: int) -> None:
    pieces = chop(text, width)
    assert "".join(pieces) == text
    assert all(cell_width(piece) <= width for piece in pieces)


@given(any_text.map(safe), st.integers(2, 30))
def test_wrapped_lines_hold_every_word_and_none_is_too_wide(text: str, width: int) -> None:
    lines = wrap(text, width)
    assert all(cell_width(line) <= width for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")


def test_wrap_breaks_at_spaces_and_inside_long_words_only() -> None:
    assert wrap("two words", 20) == ["two words"]
    assert wrap("two words", 5) == ["two", "words"]
    assert wrap("a unbreakable", 6) == ["a", "unbrea", "kable"]
    assert wrap("", 5) == [""]


@given(st.lists(any_text, max_size=5), st.integers(0, 40))
def test_a_line_is_exactly_as_wide_as_asked(texts: list[str], width: int) -> None:
    strip = Brush(DARK_NAME, colour=True).line([Cell(text) for text in texts], width)
    assert cell_len(strip.text) == width
    assert strip.cell_length == width


def test_a_cut_line_says_so() -> None:
    brush = Brush(DARK_NAME, colour=True)
    assert brush.line([Cell("abc"), Cell("def")], 5).text == "abcd…"
    assert brush.line([Cell("abc"), Cell("def")], 3).text == "ab…"
    assert brush.line([Cell("abc"), Cell("def")], 6).text == "abcdef"


def test_without_colour_there_is_none() -> None:
    for tone in Tone:
        for ground in Background:
            style = text_style(DARK_NAME, tone, ground, colour=False)
            assert style.color is None
            assert style.bgcolor is None


def test_every_tone_can_be_read_on_every_ground() -> None:
    """WCAG's contrast: 4.5 for text."""
    for name in [DARK_NAME, LIGHT_NAME, COLOUR_BLIND_NAME]:
        for tone in Tone:
            for ground in Background:
                style = text_style(name, tone, ground, colour=True)
                assert style.color is not None
                assert style.bgcolor is not None
                front, back = style.color.get_truecolor(), style.bgcolor.get_truecolor()
                light, dark = sorted((_luminance(front), _luminance(back)), reverse=True)
                assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_states_differ_without_red_and_green() -> None:
    """As a person without red cones sees them, warn, critical and ok stay apart."""
    for palette in (DARK, LIGHT, COLOUR_BLIND):
        seen = [_as_protanope(colour) for colour in (palette["ok"], palette["warn"], palette["critical"])]
        for one in range(3):
            for other in range(one):
                assert _distance(seen[one], seen[other]) > 40


def _luminance(colour: tuple[int, ...]) -> float:
    parts = [part / 255 for part in colour]
    red, green, blue = (
        part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _as_protanope(colour: str) -> tuple[float, float, float]:
    red, green, blue = bytes.fromhex(colour[1:])
    # Viénot, Brettel and Mollon 1999, in gamma space: enough to tell whether two colours fall together.
    mixed = 0.11238 * red + 0.88762 * green
    return mixed, mixed, 0.00401 * red - 0.00401 * green + blue


def _distance(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    return math.dist(one, other)
