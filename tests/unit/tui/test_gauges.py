"""Bars of parts on one line: as many as fit, the rest counted, never wider than the screen."""

from hypothesis import given
from hypothesis import strategies as st

from streamops.resources.table import Tone
from streamops.tui.lines.charting import TITLE, ChartPart, parts_line
from streamops.tui.widgets.paint import cell_width
from tests.support.resources.text import text

PARTS = st.lists(
    st.builds(ChartPart, st.text("ab日▸ ", max_size=50), st.integers(0, 10**9), st.just(Tone.OK)), max_size=12
)


def test_the_greatest_is_the_longest_and_what_there_is_any_of_has_a_bar() -> None:
    line = text(parts_line("Idle", [ChartPart("≤1s", 800), ChartPart("≤1m", 1), ChartPart(">1m", 0)], 80))
    assert line == " Idle        ≤1s ████ 800  ≤1m █ 1  >1m 0  "


def test_parts_that_do_not_fit_are_counted() -> None:
    line = text(parts_line("From", [ChartPart(f"stream-{number}", 9 - number) for number in range(9)], 60))
    assert line.endswith("+7 more")
    assert "stream-1" in line


def test_a_note_follows_where_there_is_room() -> None:
    assert text(parts_line("Reasons", [ChartPart("timeout", 2)], 80, note="(of 200)")).endswith("(of 200)")
    assert "(of 200)" not in text(parts_line("Reasons", [ChartPart("timeout", 2)], 32, note="(of 200)"))


@given(PARTS, st.integers(20, 200))
def test_line_of_parts_is_never_wider_than_the_screen(parts: list[ChartPart], width: int) -> None:
    line = parts_line("Owners", parts, width)
    assert cell_width(text(line)) <= max(width, TITLE + 2)
