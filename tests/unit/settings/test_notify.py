"""Who is told: the table, its addresses, and that these are never shown."""

import pytest

from streamops.errors import SettingsError
from streamops.model.observation import Health
from streamops.settings.config import validate_file
from streamops.settings.describe import describe_settings
from tests.support.settings.notify import LINES, load
from tests.support.settings.place import PLANTED, Place


def test_addresses_are_read_from_a_file_with_the_level_that_each_asks_for(place: Place) -> None:
    place.write_password(LINES, "urls")
    place.write_user('[notify]\nurls_file = "~/urls"\nlevel = "critical"\n')
    found = load(place)
    assert found.least is Health.CRITICAL
    assert [(one.url.reveal(), one.least) for one in found.addresses] == [
        (f"json://127.0.0.1/{PLANTED}", Health.WARN),
        (f"slack://{PLANTED}/b/c", Health.CRITICAL),
        ("mailto://x:y@z", Health.WARN),
    ]
    assert found.addresses[1].origin.endswith("notify.urls_file: line 4")
    assert PLANTED not in repr(found)


def test_a_program_may_print_them(place: Place) -> None:
    place.write_user('[notify]\nurls_command = ["printf", "json://a\\\\njson://b\\\\n"]\n')
    assert [one.url.reveal() for one in load(place).addresses] == ["json://a", "json://b"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("# nobody\n\n", "holds no address"),
        (b"\xff\n", "what is not UTF-8"),
        ("json://h\n" * 10_000, "more than any secret is"),
        (None, "cannot read"),
    ],
)
def test_a_file_without_any_is_refused(place: Place, content: str | bytes | None, text: str) -> None:
    if content is not None:
        place.write_password(content, "urls")
    place.write_user('[notify]\nurls_file = "~/urls"\n')
    with pytest.raises(SettingsError, match=text) as caught:
        load(place)
    assert "notify.urls_file" in caught.value.message


def test_without_any_the_hint_says_where_they_go(place: Place) -> None:
    with pytest.raises(SettingsError) as caught:
        load(place)
    assert caught.value.message == "notify: there are no addresses to send to"
    assert "urls_file" in caught.value.hint


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ('urls_file = "a"\nurls_command = "b"', "says both urls_file and urls_command"),
        ('level = "info"', "not one of warn, critical"),
        ('fire_after = "0s"', "longer than zero"),
        ('repeat_after = "0s"', "longer than zero"),
        ('every = "500ms"', "every shorter than a second"),
        ('url = "json://x"', "unknown key"),
    ],
)
def test_what_does_not_go_together_is_a_problem(place: Place, table: str, text: str) -> None:
    path = place.write_user(f"[notify]\n{table}\n")
    (problem,) = validate_file(path, place.environ())
    assert text in problem.message


def test_what_is_shown_holds_no_address(place: Place) -> None:
    place.write_password(LINES, "urls")
    file = place.write_user('[notify]\nurls_file = "~/urls"\nfire_after = "90s"\n')
    rows = {row.key: row for row in describe_settings(place.load())}
    assert rows["notify.urls_file"] == ("notify.urls_file", str(place.home / "urls"), str(file))
    assert rows["notify.fire_after"] == ("notify.fire_after", "1m30s", str(file))
    assert rows["notify.pause"] == ("notify.pause", "1m", "default")
    assert PLANTED not in repr(rows)


def test_of_the_program_that_prints_them_no_argument_is_shown(place: Place) -> None:
    place.write_user(f'[notify]\nurls_command = "print --token {PLANTED}"\n')
    rows = {row.key: row.value for row in describe_settings(place.load())}
    assert rows["notify.urls_command"] == "print ***"
