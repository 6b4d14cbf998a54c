from pathlib import Path

import pytest

from streamops.errors import SettingsError
from streamops.settings.config import validate_file, validate_files
from streamops.settings.decoding import ConfigProblem
from tests.support.settings.place import PLANTED, Place


def test_every_problem_of_a_file_is_told(place: Place) -> None:
    marker = place.home / "ran"
    path = place.write_user(
        f"""
        default_context = "prod"
        colour = true
        [contexts.product]
        url = "redis://:{PLANTED}@h:x"
        password_file = "~/none"
        [contexts.b]
        host = "h"
        password_command = "touch {marker}"
        max_stream = 3
        [contexts.c]
        url = "redis://h"
        host = "h"
        [contexts.'d e']
        host = "h"
        ca = "ca.pem"
        [health]
        time_lag = -1
        """
    )
    problems = validate_file(path, place.environ())
    assert [problem.message.removeprefix(f"{path}: ") for problem in problems] == [
        "colour: unknown key",
        "contexts.b.max_stream: unknown key",
        "contexts.c: says both url and host",
        "health.time_lag: not a duration",
        "contexts.product: url: the URL has a bad port after the host: not a number from 1 to 65535",
        'contexts."d e": ca: the connection speaks no TLS',
        "default_context: no context named 'prod'",
    ]
    assert problems[-1].hint == "Did you mean product? Known contexts: b, c, d e, product."
    assert not marker.exists()
    assert PLANTED not in repr(problems)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    assert validate_file(path, {}) == (ConfigProblem(str(path), "", "no such file"),)
    assert validate_file(path, {})[0].message == f"{path}: no such file"


def test_bad_syntax_is_one_problem_with_its_line(place: Place) -> None:
    path = place.write_user("\n[contexts\n")
    [problem] = validate_file(path, place.environ())
    assert (
        problem.message
        == f"{path}: not TOML: Expected ']' at the end of a table declaration (at line 2, column 10)"
    )


def test_all_files_in_use_are_checked_together(place: Place) -> None:
    user = place.write_user("[contexts.shared]\nhost = 'h'\n[console]\nmouse = 3")
    project = place.write_project("default_context = 'shared'\n[contexts.p]\nport = 1")
    paths, problems = validate_files(place.environ(), place.cwd)
    assert paths == (project, user)
    assert [problem.message for problem in problems] == [
        f"{project}: contexts.p: says neither url nor host nor socket",
        f"{user}: console.mouse: expected true or false, got an integer",
    ]


def test_a_named_file_must_exist(place: Place) -> None:
    with pytest.raises(SettingsError, match="no such file"):
        validate_files(place.environ(STREAMOPS_CONFIG="none.toml"), place.cwd)


@pytest.mark.parametrize(
    ("keymap", "problem"),
    [
        ('{ filtr = "f3" }', "console: keymap: nothing is named 'filtr'; did you mean 'filter'?"),
        ('{ sort = "i" }', "console: keymap: i would mean both 'sort' and 'invert'"),
        ('{ help = "" }', "console: keymap: help: no key"),
        ('{ quit = "ctrl+p" }', "console: keymap: quit: ctrl+p cannot be given another meaning"),
    ],
)
def test_keys_that_cannot_be_are_told(place: Place, keymap: str, problem: str) -> None:
    path = place.write_user(f"[console]\nkeymap = {keymap}\n")
    (found,) = validate_file(path, place.environ())
    assert found.message == f"{path}: {problem}"
