from hypothesis import given
from hypothesis import strategies as st

from streamops.tui.widgets.line_view import Viewport


def view(rows: list[int], page: int = 5) -> Viewport[int]:
    """Rows of numbers, each its own identity."""
    made = Viewport[int](lambda row: row)
    made.resize(page)
    made.take(rows)
    return made


rows = st.lists(st.integers(0, 60), unique=True, max_size=40)
moves = st.one_of(
    st.tuples(st.just("take"), rows),
    st.tuples(st.just("move"), st.integers(-5, 60)),
    st.tuples(st.just("resize"), st.integers(-1, 12)),
)


@given(st.lists(moves, max_size=12))
def test_the_cursor_is_always_on_a_row_and_visible(history: list[tuple[str, object]]) -> None:
    made = view([])
    for what, value in history:
        if what == "take":
            assert isinstance(value, list)
            before = made.highlighted
            touched = not made._untouched
            made.take(value)
            if touched and before in value:
                assert made.highlighted == before
        elif what == "move":
            assert isinstance(value, int)
            made.move_to(value)
        else:
            assert isinstance(value, int)
            made.resize(value)
        assert 0 <= made.cursor < max(len(made.rows), 1)
        assert made.top <= made.cursor < made.top + made.page
        assert 0 <= made.top <= max(len(made.rows) - made.page, 0)
        thumb = made.thumb()
        assert 0 <= thumb.start <= thumb.stop <= made.page
        assert (len(thumb) > 0) == (len(made.rows) > made.page)


def test_an_untouched_cursor_stays_at_the_top_as_rows_come_in() -> None:
    made = view([5, 9])
    made.take([1, 2, 5, 9])
    assert made.highlighted == 1
    made.move_to(2)
    made.take([0, 1, 2, 5, 9])
    assert made.highlighted == 5


def test_a_row_that_moves_stays_on_its_line_of_the_screen() -> None:
    made = view(list(range(30)))
    made.move_to(12)
    line = made.cursor - made.top
    made.take([*range(100, 110), *range(30)])
    assert made.highlighted == 12
    assert made.cursor - made.top == line


def test_a_row_that_goes_leaves_the_cursor_near() -> None:
    made = view(list(range(10)))
    made.move_to(9)
    made.take(list(range(4)))
    assert made.highlighted == 3
    made.take([])
    assert made.highlighted is None


def test_moving_says_whether_it_moved() -> None:
    made = view([1, 2])
    assert made.move_to(1)
    assert not made.move_to(7)
    assert made.move_to(-3)


def test_the_thumb_goes_from_end_to_end() -> None:
    made = view(list(range(100)), page=10)
    assert made.thumb() == range(1)
    made.move_to(99)
    assert made.thumb() == range(9, 10)
    assert view(list(range(10)), page=10).thumb() == range(0)
