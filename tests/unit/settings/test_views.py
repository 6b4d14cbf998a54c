from pathlib import Path

import pytest

from streamops.errors import SettingsError
from streamops.resources.views import SavedView
from streamops.settings.describe import describe_settings
from streamops.settings.views import save_view
from tests.support.settings.place import Place

STUCK = SavedView(place="orders billing", filter="idle>5m", sort="idle", descending=True)
WRITTEN = """[views.stuck]
place = "orders billing"
filter = "idle>5m"
sort = "idle"
descending = true
"""


def save(place: Place, name: str = "stuck", view: SavedView = STUCK) -> Path:
    return save_view(name, view, place.environ(), place.cwd)


def test_views_are_read_by_name_and_the_stronger_file_wins_whole(place: Place) -> None:
    place.write_user('[views.a]\nfilter = "lag>5"\nsort = "lag"\n[views.b]\nfaults = true\n')
    place.write_project('[views.a]\nplace = "streams"\n')
    settings = place.load()
    assert settings.tables.views == {"a": SavedView(place="streams"), "b": SavedView(faults=True)}
    rows = {row.key: (row.value, row.origin) for row in describe_settings(settings)}
    assert rows["views.a.place"] == ("streams", str(place.project_file))
    assert rows["views.b.faults"] == ("true", str(place.user_file))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[views.a]\nsrot = 1", "views.a.srot: unknown key"),
        ("[views.a]\nsort = 1", "views.a.sort: expected a string"),
        ("[views]\na = 1", "views.a: expected a table, got an integer"),
        ('[views.a]\ncolumns = "lag"', "views.a.columns: expected an array"),
    ],
)
def test_a_view_that_cannot_be_understood_is_named(place: Place, text: str, problem: str) -> None:
    place.write_user(text)
    with pytest.raises(SettingsError, match="views") as raised:
        place.load()
    assert problem in raised.value.message


def test_a_view_is_saved_into_a_new_file_that_nobody_else_may_read(place: Place) -> None:
    path = save(place)
    assert path == place.user_file
    assert path.read_text() == WRITTEN
    assert path.stat().st_mode & 0o777 == 0o600
    assert place.load().tables.views == {"stuck": STUCK}


@pytest.mark.parametrize(
    "before", ["# mine\n[console]\ncolor = true", "# mine\n[console]\ncolor = true\n", "# x\n\n"]
)
def test_what_stands_in_the_file_stays_as_it_is(place: Place, before: str) -> None:
    place.write_user(before)
    place.user_file.chmod(0o640)
    save(place)
    after = place.user_file.read_text()
    assert after.startswith(before)
    assert after.endswith(f"\n\n{WRITTEN}")
    assert place.user_file.stat().st_mode & 0o777 == 0o640
    assert sorted(path.name for path in place.user_file.parent.iterdir()) == ["config.toml"]


def test_a_second_view_stands_beside_the_first(place: Place) -> None:
    save(place)
    save(place, "all", SavedView(faults=True))
    assert place.load().tables.views == {"stuck": STUCK, "all": SavedView(faults=True)}


def test_a_view_of_that_name_is_not_overwritten(place: Place) -> None:
    save(place)
    before = place.user_file.read_text()
    with pytest.raises(SettingsError, match="has a view stuck already"):
        save(place, view=SavedView())
    assert place.user_file.read_text() == before


@pytest.mark.parametrize("before", ["[broken", "views = 5\n", "views = {}\n"])
def test_a_file_to_whose_end_nothing_can_be_added_stays_as_it_is(place: Place, before: str) -> None:
    place.write_user(before)
    with pytest.raises(SettingsError):
        save(place)
    assert place.user_file.read_text() == before


def test_a_file_that_is_a_link_stays_one(place: Place) -> None:
    real = place.cwd / "dotfiles.toml"
    real.write_text("# mine\n")
    place.user_file.symlink_to(real)
    assert save(place) == real
    assert place.user_file.is_symlink()
    assert WRITTEN in real.read_text()


def test_the_file_that_the_environment_names_is_the_one(place: Place) -> None:
    environ = place.environ(STREAMOPS_CONFIG="mine.toml")
    path = save_view("stuck", STUCK, environ, place.cwd)
    assert path == place.cwd / "mine.toml"


def test_without_a_home_there_is_nowhere_to_save(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="no home directory"):
        save_view("stuck", STUCK, {}, tmp_path)


def test_a_directory_that_cannot_be_written_says_so(place: Place) -> None:
    environ = place.environ(STREAMOPS_CONFIG="/proc/streamops.toml")
    with pytest.raises(SettingsError, match="cannot be written"):
        save_view("stuck", STUCK, environ, place.cwd)
