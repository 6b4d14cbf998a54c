from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from streamops.resources.groups import GROUP_COLUMNS
from streamops.resources.table import Cell, Column
from streamops.tui.widgets.layout import AT_ONCE, MARGIN, MOST_MET, Layout, place_columns


def column(key: str, width: int, priority: int, *, flexible: bool = False) -> Column[None]:
    return Column(
        key=key,
        title=key.upper(),
        help="",
        cell=lambda _row: Cell(""),
        value=lambda _row: None,
        width=width,
        priority=priority,
        flexible=flexible,
    )


NAME = column("name", 10, 0, flexible=True)
SHOWN = Column[tuple[str]](
    key="name",
    title="NAME",
    help="",
    cell=lambda row: Cell(row[0]),
    value=lambda row: row[0],
    width=10,
    flexible=True,
)
COLUMNS = (NAME, column("a", 5, 1), column("b", 5, 2), column("c", 5, 2))


def keys(width: int, natural: int = 10) -> list[str]:
    return [placed.column.key for placed in place_columns(COLUMNS, width, {"name": natural})]


def test_columns_leave_by_priority_the_rightmost_of_equals_first() -> None:
    assert keys(30) == ["name", "a", "b", "c"]
    assert keys(29) == ["name", "a", "b"]
    assert keys(23) == ["name", "a"]
    assert keys(17) == ["name"]
    assert keys(3) == ["name"]


def test_gaps_widen_where_nothing_is_lost_by_it() -> None:
    narrow, wide = place_columns(COLUMNS, 30, {"name": 10}), place_columns(COLUMNS, 33, {"name": 10})
    assert [placed.start for placed in narrow] == [1, 12, 18, 24]
    assert [placed.start for placed in wide] == [1, 13, 20, 27]


def test_flexible_columns_grow_to_their_natural_width_and_no_further() -> None:
    assert place_columns(COLUMNS, 200, {"name": 30})[0].width == 30
    assert place_columns(COLUMNS, 40, {"name": 30})[0].width == 17
    assert place_columns(COLUMNS, 200, {"name": 2})[0].width == len("name")


@given(st.integers(0, 250), st.integers(0, 80), st.integers(0, 80))
def test_columns_never_overlap_nor_leave_the_screen(width: int, stream: int, group: int) -> None:
    placed = place_columns(GROUP_COLUMNS, width, {"stream": stream, "group": group, "findings": 5})
    end = 0
    for _, start, column_width in placed:
        assert start > end or end == 0
        assert column_width >= 0
        end = start + column_width
    assert {"stream", "group", "health", "lag", "pending"} <= {place.column.key for place in placed}
    if width >= 80:
        assert end <= width - MARGIN


def test_the_first_screen_fits_eighty_columns_with_short_names() -> None:
    listed = tuple(column for column in GROUP_COLUMNS if not column.sparse)
    placed = place_columns(listed, 79, {"stream": 12, "group": 10, "findings": 10})
    shown = [place.column.key for place in placed]
    assert shown == [
        "stream",
        "group",
        "health",
        "lag",
        "time_lag_seconds",
        "pending",
        "oldest_pending_age_seconds",
    ]


def names_of(texts: Sequence[str]) -> list[tuple[str]]:
    return [(text,) for text in texts]


def width_of(layout: Layout[tuple[str]]) -> int:
    return layout.placed[0].width


def test_of_many_rows_the_first_are_measured_before_they_are_drawn_and_the_others_after() -> None:
    layout = Layout((SHOWN,), id)
    rows = names_of(["short name"] * AT_ONCE + ["a name that is longer"])
    assert layout.fit(rows, rows[:40], 200)
    assert (width_of(layout), layout.is_settled) == (10, False)
    assert layout.measure_rest(200)
    assert (width_of(layout), layout.is_settled) == (21, True)
    assert not layout.measure_rest(200)


def test_rows_that_come_before_the_others_are_measured_forget_none_of_them() -> None:
    layout = Layout((SHOWN,), id)
    for rows in (names_of(["short name"] * AT_ONCE + ["a name that is longer"]), names_of(["short name"])):
        layout.fit(rows, rows[:40], 200)
    layout.measure_rest(200)
    assert width_of(layout) == 21


@given(st.lists(st.lists(st.text("ab", max_size=30), max_size=5), max_size=5))
def test_columns_are_as_wide_as_the_longest_text_they_have_met(histories: list[list[str]]) -> None:
    layout = Layout((SHOWN,), id)
    longest = len(SHOWN.title)
    kept: list[tuple[str]] = []
    for texts in histories:
        # Some rows stay the same objects, as they do from one observation to the next.
        kept = kept[: len(texts)] + names_of(texts)
        layout.fit(kept, (), 200)
        longest = max([longest, *map(len, texts)])
        assert (width_of(layout), layout.is_settled) == (longest, True)


def test_a_row_that_is_read_anew_is_measured_again_where_it_is_on_the_screen() -> None:
    layout = Layout((SHOWN,), len)
    layout.fit(names_of(["short"]), (), 200)
    read_anew = names_of(["a text that is longer now"])
    layout.fit(read_anew, (), 200)
    assert width_of(layout) == 5
    layout.fit(read_anew, read_anew, 200)
    assert width_of(layout) == 25


def test_rows_that_come_and_go_are_not_remembered_for_ever() -> None:
    layout = Layout((SHOWN,), lambda row: row[0])
    for number in range(100):
        layout.fit(names_of([f"name {number}"]), (), 200)
    assert len(layout._met) <= 2 * MOST_MET
