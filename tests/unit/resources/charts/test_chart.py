import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.resources.charts.canvas import BLOCKS, BRAILLE, DOT, SHADE, Canvas
from streamops.resources.charts.chart import AXIS_WIDTH, Chart, Series, SeriesStyle, chart_lines
from streamops.resources.charts.scale import GLYPHS, Mark, Point, Unit
from streamops.resources.table import Tone
from streamops.resources.text import is_safe
from tests.support.invented import NOW
from tests.support.tables import table

END = NOW.timestamp()
START = END - 300


def line(*values: float | None, mark: Mark = Mark.KNOWN, look: SeriesStyle = SeriesStyle.LINE) -> Series:
    """Values at equal distances from the start to the end."""
    apart = 300 / max(len(values) - 1, 1)
    points = [Point(START + number * apart, value, mark) for number, value in enumerate(values)]
    return Series(points, look, Tone.OK, "now", "name")


def drawn(*series: Series, width: int = 40, height: int = 10, note: str = "note") -> list[str]:
    chart = Chart("Lag", Unit.COUNT, "entries", series, START, END, note)
    return ["".join(cell.text for cell in cells) for cells in chart_lines(chart, width, height)]


def field(rows: list[str]) -> list[str]:
    """What stands right of the axis."""
    return [row[AXIS_WIDTH:] for row in rows[1:-2]]


def test_a_chart_has_a_title_a_legend_axes_units_and_true_times() -> None:
    assert drawn(line(0, 100)) == [
        " Lag entries  ⠒ name now",
        "   100 ┤                           ⢀⣀⠤⠒⠉",
        "       │                       ⣀⠤⠔⠊⠁    ",
        "       │                  ⢀⡠⠔⠒⠉         ",
        "    50 ┤             ⢀⣀⠤⠒⠉⠁             ",
        "       │         ⣀⠤⠔⠊⠁                  ",
        "       │    ⢀⡠⠔⠒⠉                       ",
        "     0 ┤⣀⠤⠒⠉⠁                           ",
        "       └──────┬────────────┬────────────",
        "              11:56        11:58",
    ]


def test_what_is_not_known_is_a_gap() -> None:
    known = field(drawn(line(*[50.0] * 40)))
    broken = field(drawn(line(*[50.0] * 15, *[None] * 10, *[50.0] * 15)))
    assert all(column != " " for column in known[0])
    assert broken[0][13:20].strip() == ""
    assert broken[0][:11] == known[0][:11]
    assert not any(row.strip() for row in broken[1:])


def test_neighbours_too_far_apart_are_not_joined() -> None:
    points = [Point(START + 30, 5.0), Point(END - 30, 5.0, Mark.KNOWN, joined=False)]
    rows = field(drawn(Series(points, SeriesStyle.LINE, Tone.OK, "")))
    assert sum(character != " " for row in rows for character in row) == 2


def test_nought_is_the_lowest_dot_and_anything_above_it_is_higher() -> None:
    nought = field(drawn(line(0, 0, 1_000_000, None, None, None)))[-1]
    some = field(drawn(line(1, 1, 1_000_000, None, None, None)))[-1]
    assert nought[0] == "⣀"
    assert some[0] == "⠤"


@pytest.mark.parametrize("mark", [Mark.AT_MOST, Mark.AT_LEAST, Mark.ABOUT])
def test_a_bound_is_drawn_as_a_bound_and_named(mark: Mark) -> None:
    rows = drawn(line(*[50.0] * 40, mark=mark), width=60)
    text = "".join(field(rows))
    assert set(text) == {" ", GLYPHS[mark]}
    assert text.count(GLYPHS[mark]) >= 60 - AXIS_WIDTH - 1
    assert GLYPHS[mark] in rows[0]


def test_known_values_and_bounds_are_not_joined_by_a_line() -> None:
    half = line(*[50.0] * 20)
    points = [*half.points[:10], *(point._replace(mark=Mark.AT_LEAST) for point in half.points[10:])]
    rows = field(drawn(Series(points, SeriesStyle.LINE, Tone.OK, "")))
    assert "▴" in rows[0]
    assert rows[0].index("▴") == 16
    assert "▴" not in "".join(rows[1:])


def test_two_series_differ_by_their_glyphs() -> None:
    rows = drawn(line(*[60.0] * 40, look=SeriesStyle.AREA), line(*[90.0] * 40))
    text = "".join(field(rows))
    assert any(character in BLOCKS[1:] for character in text)
    assert any(ord(character) > BRAILLE for character in text)
    assert "▆ name" in rows[0]
    assert "⠒ name" in rows[0]


def test_where_nothing_is_known_the_note_stands() -> None:
    rows = drawn(line(None, None), note="nothing yet")
    assert any("nothing yet" in row for row in rows)


def test_points_outside_the_window_neither_show_nor_scale() -> None:
    points = [Point(START - 1000, 9_999.0), Point(START - 900, None), Point(END - 5, 4.0, joined=False)]
    rows = drawn(Series(points, SeriesStyle.LINE, Tone.OK, ""))
    assert rows[1].startswith("     4 ┤")
    assert sum(character != " " for row in field(rows) for character in row) == 1


def test_a_line_leads_in_from_before_the_window() -> None:
    points = [Point(START - 100, 4.0), Point(START + 200, 4.0)]
    assert field(drawn(Series(points, SeriesStyle.LINE, Tone.OK, "")))[0].startswith("⠉⠉⠉⠉⠉")


@table(
    ("width", "height", "title"),
    [
        (60, 10, [" Lag entries  ⠒ name now"]),
        (22, 10, [" Lag  ⠒ name now"]),
        (15, 10, [" Lag ⠒ name now"]),
        (14, 10, [" Lag entries", " ⠒ name now"]),
        (14, 8, [" Lag  ⠒ name "]),
        (5, 10, [" Lag"]),
        (2, 10, [" L"]),
        (0, 10, [""]),
    ],
)
def test_titles_take_a_second_line_or_drop_what_does_not_fit(
    width: int, height: int, title: list[str]
) -> None:
    rows = drawn(line(1, 2), width=width, height=height)
    assert rows[: len(title)] == title
    assert len(rows) in {len(title), height}


def test_three_series_of_one_value_are_all_seen_in_half_of_80_columns() -> None:
    three = (
        line(*[60.0] * 40, look=SeriesStyle.AREA),
        line(*[60.0] * 40),
        line(*[60.0] * 40, look=SeriesStyle.DOTS),
    )
    rows = drawn(*three, width=36)
    assert rows[:2] == [" Lag entries  ▆ name now  ⠒ name now", " • name now"]
    edge = rows[2][AXIS_WIDTH:]
    assert edge.count(DOT) == 10
    assert sum(ord(character) > BRAILLE for character in edge) == 18
    assert rows[3][AXIS_WIDTH:] == SHADE * 28


marks = st.sampled_from(list(Mark))
values = st.one_of(st.none(), st.floats(0, 1e15, allow_nan=False))
series = st.builds(
    lambda points, look: Series(points, look, Tone.OK, "1,204", "name"),
    st.lists(
        st.builds(Point, st.floats(START - 400, END + 400), values, marks, st.booleans()), max_size=40
    ).map(lambda points: sorted(points, key=lambda point: point.at)),
    st.sampled_from(list(SeriesStyle)),
)


@given(st.lists(series, max_size=3), st.integers(0, 120), st.integers(0, 40), st.sampled_from(list(Unit)))
def test_whatever_is_drawn_stays_in_its_box(
    several: list[Series], width: int, height: int, unit: Unit
) -> None:
    chart = Chart("Oldest pending", unit, "entries", tuple(several), START, END)
    rows = ["".join(cell.text for cell in cells) for cells in chart_lines(chart, width, height)]
    assert len(rows) <= height
    for row in rows:
        assert len(row) <= width
        assert all(map(is_safe, row))


@given(st.integers(-3, 50), st.integers(-3, 50))
def test_dots_outside_the_canvas_are_nowhere(x: int, y: int) -> None:
    canvas = Canvas(10, 5)
    canvas.dot(x, y, Tone.OK)
    text = "".join(cell.text for row in canvas.rows() for cell in row)
    assert bool(text.strip()) == (0 <= x < 20 and 0 <= y < 20)


@given(st.integers(-5, 60))
def test_columns_are_filled_by_eighths(eighths: int) -> None:
    canvas = Canvas(1, 4)
    canvas.fill(0, eighths, Tone.OK)
    column = "".join("".join(cell.text for cell in row) for row in canvas.rows())
    assert sum(BLOCKS.index(character) for character in column.replace(SHADE, BLOCKS[-1])) == min(
        max(eighths, 0), 32
    )
    # The edge is solid, and light is only what lies under it.
    assert not column.strip().startswith(SHADE)
