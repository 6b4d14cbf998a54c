from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct

from streamops.resources.table import Cell, Column
from streamops.tui.rows.ordering import ListState, Ordering, PerItemCache, in_former_order, split_words


class Fruit(Struct, frozen=True):
    name: str
    weight: int | None
    rotten: bool = False


WEIGHT = Column[Fruit](
    key="weight",
    title="WEIGHT",
    help="",
    cell=lambda row: Cell(str(row.weight)),
    value=lambda row: row.weight,
    width=6,
    descending=True,
)
NAME = Column[Fruit](
    key="name", title="NAME", help="", cell=lambda row: Cell(row.name), value=lambda row: row.name, width=6
)
APPLE, PEAR, PLUM, FIG = (
    Fruit("Apple", 3),
    Fruit("pear", 3, rotten=True),
    Fruit("plum", None),
    Fruit("fig", 9),
)
FRUIT = (APPLE, PEAR, PLUM, FIG)


def ordering() -> Ordering[Fruit]:
    return Ordering((NAME, WEIGHT), lambda row: row.name, lambda row: row.rotten)


def test_a_wish_selects_and_orders() -> None:
    for wish, expected in [
        (ListState(), FRUIT),
        (ListState(descending=True), (FIG, PLUM, PEAR, APPLE)),
        (ListState(sort="weight", descending=True), (FIG, APPLE, PEAR, PLUM)),
        (ListState(sort="weight"), (PLUM, APPLE, PEAR, FIG)),
        (ListState(sort="gone"), FRUIT),
        (ListState(text="P"), (APPLE, PEAR, PLUM)),
        (ListState(text="p !pl"), (PEAR,)),
        (ListState(text="p e"), (APPLE, PEAR)),
        (ListState(text="!"), FRUIT),
        (ListState(text="  "), FRUIT),
        (ListState(text="nothing"), ()),
        (ListState(faults=True), (PEAR,)),
        (ListState(faults=True, text="fig"), ()),
        (ListState(sort="weight", descending=True, text="p"), (APPLE, PEAR, PLUM)),
        (ListState(sort="name", text="p"), (APPLE, PEAR, PLUM)),
    ]:
        assert tuple(ordering().arrange(FRUIT, wish)) == expected


def test_the_same_rows_and_wish_give_the_very_same_sequence() -> None:
    arranger = ordering()
    wish = ListState(sort="weight", text="p")
    assert arranger.arrange(FRUIT, wish) is arranger.arrange(FRUIT, ListState(sort="weight", text="p"))


rows = st.lists(
    st.builds(Fruit, st.sampled_from("abc"), st.none() | st.integers(0, 3), st.booleans()), max_size=12
)
wishes = st.builds(
    ListState,
    sort=st.sampled_from(["name", "weight", None]),
    descending=st.booleans(),
    text=st.sampled_from(["", "a", "!a", "a b"]),
    faults=st.booleans(),
)


@given(st.lists(st.tuples(rows, wishes), min_size=1, max_size=6))
def test_remembered_orders_never_show(history: list[tuple[list[Fruit], ListState]]) -> None:
    arranger = ordering()
    for found, wish in history:
        remembered = list(arranger.arrange(found, wish))
        assert [id(row) for row in remembered] == [id(row) for row in ordering().arrange(found, wish)]


@given(st.lists(st.lists(st.integers(0, 5).map(lambda number: [number]), max_size=8), max_size=6))
def test_remembered_asks_again_only_for_other_objects(history: list[list[list[int]]]) -> None:
    asked: list[int] = []

    def double(item: list[int]) -> int:
        asked.append(id(item))
        return item[0] * 2

    remembered = PerItemCache(double)
    for items in history:
        assert remembered.values(items) == [item[0] * 2 for item in items]
        assert remembered.values(items) is remembered.values(items)
    shared = [[7]]
    remembered.values(shared)
    asked.clear()
    assert remembered.values([*shared, [8]]) == [14, 16]
    assert len(asked) == 1


def test_words_are_wanted_or_not() -> None:
    assert split_words("Orders !DLQ  ! x") == (["orders", "x"], ["dlq"])


distinct = st.lists(st.integers(0, 9), unique=True)


@given(distinct, distinct)
def test_rows_in_their_former_order_are_all_there_and_each_new_one_follows_the_row_it_followed(
    rows: list[int], former: list[int]
) -> None:
    arranged = in_former_order(rows, former, lambda row: row)
    assert sorted(arranged) == sorted(rows)
    assert [row for row in arranged if row in former] == [row for row in former if row in rows]
    for before, row in zip([None, *rows], rows, strict=False):
        if row not in former:
            place = arranged.index(row)
            assert (arranged[place - 1] if place else None) == before
