from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamops.settings.decoding import decode_config
from streamops.settings.files import read_file
from tests.support.settings.place import Place


def messages(text: str, place: Place) -> list[tuple[str, str]]:
    file = read_file(place.write_user(text), place.environ())
    assert file is not None
    prefix = f"{place.user_file}: "
    assert all(problem.message.startswith(prefix) for problem in file.problems)
    return [(problem.message.removeprefix(prefix), problem.hint) for problem in file.problems]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("defalt_context = 'a'", "defalt_context: unknown key", "Did you mean default_context?"),
        ("default_context = 3", "default_context: expected a string, got an integer", ""),
        ("default_context = ''", "default_context: empty, or holds a character that does not print", ""),
        ("contexts = 3", "contexts: expected a table, got an integer", ""),
        ("contexts = [1]", "contexts: expected a table, got an array", ""),
        ("health = 'x'", "health: expected a table, got a string", ""),
        ("[contexts]\na = 3", "contexts.a: expected a table, got an integer", ""),
        ("[contexts.'']\nhost = 'h'", 'contexts."": a name that is empty or does not print', ""),
        (
            "[contexts.\"a\\u001b\"]\nhost = 'h'",
            'contexts."a\\u001b": a name that is empty or does not print',
            "",
        ),
        (
            "[contexts.a]\nhost = 'h'\nusernam = 'x'",
            "contexts.a.usernam: unknown key",
            "Did you mean username?",
        ),
        (
            "[contexts.a]\nhost = 'h'\npassword = 'x'",
            "contexts.a.password: unknown key",
            "Did you mean password_file?",
        ),
        ("[contexts.'a b']\nhost = 'h'\nx = 1", 'contexts."a b".x: unknown key', "Known keys: "),
        ("[contexts.a]\nurl = 3", "contexts.a.url: expected a string, got an integer", ""),
        ("[contexts.a]\nhost = 'h'\nport = 0", "contexts.a.port: expected an integer >= 1", ""),
        (
            "[contexts.a]\nhost = 'h'\nport = true",
            "contexts.a.port: expected an integer, got true or false",
            "",
        ),
        (
            "[contexts.a]\nhost = 'h'\nenvironment = 'prod'",
            "contexts.a.environment: not one of production, staging, development",
            "Did you mean production?",
        ),
        (
            "[contexts.a]\nhost = 'h'\nstreams = ['a', 3]",
            "contexts.a.streams[1]: expected a string, got an integer",
            "",
        ),
        (
            "[contexts.a]\nhost = 'h'\nstreams = 'a'",
            "contexts.a.streams: expected an array, got a string",
            "",
        ),
        (
            "[contexts.a]\nhost = 'h'\ndead_letters = {a = 3}",
            "contexts.a.dead_letters[...]: expected a string, got an integer",
            "",
        ),
        (
            "[contexts.a]\nhost = 'h'\npassword_command = 3",
            "contexts.a.password_command: expected a string or an array, got an integer",
            "",
        ),
        ("[contexts.a]\nhost = 'h'\nurl = 'redis://h'", "contexts.a: says both url and host", ""),
        ("[contexts.a]\nsocket = '/s'\nurl = 'redis://h'", "contexts.a: says both url and socket", ""),
        ("[contexts.a]\nsocket = '/s'\nport = 1", "contexts.a: says both socket and port", ""),
        (
            "[contexts.a]\nhost = 'h'\npassword_file = 'p'\npassword_command = 'p'",
            "contexts.a: says both password_file and password_command",
            "",
        ),
        (
            "[contexts.a]\nhost = 'h'\ndelayed = { a = 'q', b = 'q' }",
            "contexts.a: delayed: q is the queue of a, and cannot be that of b too",
            "",
        ),
        ("[contexts.a]", "contexts.a: says neither url nor host nor socket", ""),
        ("[health]\ntime_lag = 'soon'", "health.time_lag: not a duration", "Write 250ms, 30s"),
        (
            "[health]\ntime_lag = true",
            "health.time_lag: expected a duration, got true or false",
            'Write "30s"',
        ),
        ("[health]\ntime_lag = 0", "health.time_lag: a duration must be longer than zero", ""),
        ("[health]\npoison_deliveries = 0", "health.poison_deliveries: expected an integer >= 1", ""),
        ("[health]\noom_memory = 2", "health.oom_memory: expected a number <= 1.0", ""),
        ("[health]\ntimelag = 5", "health.timelag: unknown key", "Did you mean time_lag?"),
        ("[console]\nmouse = 'no'", "console.mouse: expected true or false, got a string", ""),
        ("[console]\nrefresh = ''", "console.refresh: not a duration", ""),
        ("x = ", "not TOML: Invalid value (at end of document)", "See https://toml.io"),
        ("\n\na b", "not TOML: Expected '=' after a key in a key/value pair (at line 3, column 3)", ""),
        (f"x = {'9' * 5000}", "not TOML: a number or a nesting beyond reason", ""),
        (f"x = {'[' * 5000}", "not TOML: a number or a nesting beyond reason", ""),
    ],
)
def test_a_problem_names_its_key(place: Place, text: str, message: str, hint: str) -> None:
    [(told, advice)] = messages(text, place)
    assert told == message
    assert hint in advice


def test_every_problem_is_found_and_the_rest_kept(place: Place) -> None:
    text = """
        colour = true
        [contexts.a]
        url = 3
        [contexts.b]
        host = "h"
        port = "x"
        read_only = true
        [health]
        time_lag = "2m"
        dead_letters = -1
    """
    assert [message for message, _ in messages(text, place)] == [
        "colour: unknown key",
        "contexts.a.url: expected a string, got an integer",
        "contexts.b.port: expected an integer, got a string",
        "health.dead_letters: expected an integer >= 1",
    ]
    file = read_file(place.user_file, {})
    assert file is not None
    assert file.stated["contexts"]["b"] == {"host": "h", "read_only": True}
    assert list(file.stated["health"]) == ["time_lag"]


def test_a_file_that_is_not_text_is_one_problem(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"x = '\xff'")
    file = read_file(path, {})
    assert file is not None
    assert [problem.text for problem in file.problems] == ["not UTF-8"]


def test_a_directory_is_no_file(tmp_path: Path) -> None:
    file = read_file(tmp_path, {})
    assert file is not None
    assert [problem.text for problem in file.problems] == ["cannot be read: Is a directory"]


def test_where_there_is_no_file_there_is_none(tmp_path: Path) -> None:
    assert read_file(tmp_path / "none.toml", {}) is None
    (tmp_path / "file").touch()
    assert read_file(tmp_path / "file" / "none.toml", {}) is None


KEYS = st.sampled_from(
    ["default_context", "contexts", "health", "console", "a", "url", "time_lag", "streams", ""]
)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.datetimes()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
)


@given(st.dictionaries(KEYS, VALUES))
def test_any_table_is_decoded_or_has_problems(table: dict[str, Any]) -> None:
    stated, problems = decode_config(table, "file")
    assert set(stated) <= set(table)
    assert all("\n" not in problem.message for problem in problems)
