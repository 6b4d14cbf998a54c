import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import convert, to_builtins

from streamops.errors import SettingsError
from streamops.resources.views import SavedView, check_view_name, view_toml
from tests.support.tables import table

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@given(
    st.builds(
        SavedView,
        place=TEXT,
        filter=TEXT,
        sort=st.none() | TEXT,
        descending=st.none() | st.booleans(),
        faults=st.booleans(),
        columns=st.lists(TEXT, max_size=4).map(tuple),
    )
)
def test_a_view_written_is_the_view_read(view: SavedView) -> None:
    table = tomllib.loads(view_toml("mine", view))["views"]["mine"]
    assert convert(table, SavedView) == view


def test_only_what_is_not_the_default_is_written() -> None:
    view = SavedView(place="orders billing", filter='idle>5m "x y"', sort="idle_seconds", descending=True)
    assert view_toml("stuck", view) == (
        "[views.stuck]\n"
        'place = "orders billing"\n'
        'filter = "idle>5m \\"x y\\""\n'
        'sort = "idle_seconds"\n'
        "descending = true\n"
    )
    assert to_builtins(SavedView())["place"] == "status"


@table("name", ["", "a b", "ä", "x" * 65, "a.b", '"'])
def test_a_view_has_a_name_that_can_be_typed(name: str) -> None:
    with pytest.raises(SettingsError, match="cannot be called"):
        check_view_name(name)


def test_bytes_that_no_file_can_hold_are_refused() -> None:
    with pytest.raises(SettingsError, match="not UTF-8"):
        view_toml("mine", SavedView(place="\udcff"))
