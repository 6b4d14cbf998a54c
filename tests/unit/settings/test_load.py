import os
from datetime import timedelta

import pytest

from streamops.errors import ExitCode, SettingsError
from streamops.model.acting import Environment
from streamops.monitor.thresholds import Thresholds
from streamops.monitor.watch import Watch
from streamops.settings.load import Flags, Settings
from streamops.wire.options import ConnectionOptions, Secret
from tests.support.settings.place import PLANTED, Place

CONTEXTS = """
[contexts.{name}]
url = "redis://{name}:1/0"
"""


def contexts(*names: str, default: str = "") -> str:
    head = f"default_context = '{default}'\n" if default else ""
    return head + "".join(CONTEXTS.format(name=name) for name in names)


def test_a_user_without_a_home_has_defaults_too(place: Place) -> None:
    assert place.load(HOME="") == Settings()


ALL_CONTEXTS = ("flag", "env", "project", "user", "chosen")


@pytest.mark.parametrize(
    ("flags", "variables", "project", "user", "host", "origin"),
    [
        (Flags(url="redis://url"), {"STREAMOPS_URL": "redis://other"}, "project", "user", "url", "--url"),
        (Flags(url="redis://url"), {"STREAMOPS_CONTEXT": "env"}, "project", "user", "url", "--url"),
        (Flags(context="flag"), {"STREAMOPS_URL": "redis://other"}, "project", "user", "flag", "--context"),
        (Flags(context="flag"), {"STREAMOPS_CONTEXT": "env"}, "project", "user", "flag", "--context"),
        (Flags(), {"STREAMOPS_URL": "redis://url"}, "project", "user", "url", "STREAMOPS_URL"),
        (Flags(), {"STREAMOPS_CONTEXT": "env"}, "project", "user", "env", "STREAMOPS_CONTEXT"),
        (Flags(), {"STREAMOPS_CONTEXT": "", "STREAMOPS_URL": ""}, "project", "user", "project", "{project}"),
        (Flags(), {}, "project", "user", "project", "{project}"),
        (Flags(), {}, "", "user", "user", "{user}"),
        (Flags(), {}, "", "", "127.0.0.1", "default"),
    ],
)
def test_the_strongest_word_on_the_server_wins(
    *, place: Place, flags: Flags, variables: dict[str, str], project: str, user: str, host: str, origin: str
) -> None:
    place.write_project(contexts("project", default=project))
    place.write_user(contexts(*ALL_CONTEXTS, default=user))
    settings = place.load(flags, **variables)
    assert settings.connection.addresses[0][0] == host
    key = "url" if settings.context is None else "context"
    told = origin.format(
        project=f"{place.project_file}: default_context", user=f"{place.user_file}: default_context"
    )
    assert settings.origins.get(key, "default") == told


@pytest.mark.parametrize(
    ("flags", "variables", "message"),
    [
        (Flags(url="redis://h", context="a"), {}, "--url and --context exclude each other"),
        (
            Flags(),
            {"STREAMOPS_URL": "redis://h", "STREAMOPS_CONTEXT": "a"},
            "STREAMOPS_URL and STREAMOPS_CONTEXT exclude each other",
        ),
        (Flags(context="orders"), {}, "--context: no context named 'orders'"),
        (Flags(context="a\x1b"), {}, "--context: no context named 'a\\x1b'"),
        (Flags(), {"STREAMOPS_CONTEXT": "orders"}, "STREAMOPS_CONTEXT: no context named 'orders'"),
        (Flags(url=""), {}, "--url: the URL has no scheme"),
        (
            Flags(url=f"redis://:{PLANTED}@h:x"),
            {},
            "--url: the URL has a bad port after the host: not a number from 1 to 65535",
        ),
        (Flags(), {"STREAMOPS_URL": f":{PLANTED}@h"}, "STREAMOPS_URL: the URL has no scheme"),
        (Flags(), {"STREAMOPS_READ_ONLY": "perhaps"}, "STREAMOPS_READ_ONLY: neither true nor false"),
        (Flags(timeout=timedelta(0)), {}, "--timeout: not above 0 and up to an hour"),
        (Flags(timeout=timedelta(hours=2)), {}, "--timeout: not above 0 and up to an hour"),
        (Flags(), {"STREAMOPS_CONFIG": "/no/such.toml"}, "STREAMOPS_CONFIG: no such file: /no/such.toml"),
    ],
)
def test_what_cannot_be_understood_is_refused(
    place: Place, flags: Flags, variables: dict[str, str], message: str
) -> None:
    place.write_user(contexts("order"))
    with pytest.raises(SettingsError) as caught:
        place.load(flags, **variables)
    assert caught.value.message == message
    assert caught.value.hint
    assert caught.value.exit_code == ExitCode.USAGE
    assert PLANTED not in f"{caught.value!r} {caught.value.hint}"


def test_an_unknown_context_is_answered_with_the_known_ones(place: Place) -> None:
    with pytest.raises(SettingsError) as caught:
        place.load(Flags(context="orders"))
    assert caught.value.hint == f"There is no configuration file; write one to {place.user_file}."
    place.write_user(contexts("order", "billing"))
    with pytest.raises(SettingsError) as caught:
        place.load(Flags(context="orders"))
    assert caught.value.hint == "Did you mean order? Known contexts: billing, order."


def test_a_default_context_that_is_gone_is_an_error_not_the_default_server(place: Place) -> None:
    place.write_user("default_context = 'gone'")
    with pytest.raises(SettingsError) as caught:
        place.load()
    assert caught.value.message == f"{place.user_file}: default_context: no context named 'gone'"


def test_a_projects_context_replaces_the_users_whole(place: Place) -> None:
    """Were they merged key by key, a project could have the user's password sent to a host of its own."""
    place.write_password()
    place.write_user("[contexts.a]\nurl = 'redis://mine'\npassword_file = '~/password'\nread_only = true")
    place.write_trusted("[contexts.a]\nurl = 'redis://theirs'")
    settings = place.load(Flags(context="a"))
    assert settings.connection == ConnectionOptions(
        addresses=(("theirs", 6379),), label="redis://theirs:6379/0"
    )
    assert not settings.read_only


def test_health_and_console_are_merged_key_by_key(place: Place) -> None:
    place.write_user("[health]\ntime_lag = '1m'\ndead_letters = 7\n[console]\ntheme = 'light'\nmouse = false")
    place.write_project("[health]\ntime_lag = 90\n[console]\nmouse = true\nrefresh = '500ms'")
    settings = place.load()
    assert settings.tables.health == Thresholds(time_lag=timedelta(seconds=90), dead_letters=7)
    assert (settings.tables.console.theme, settings.tables.console.mouse) == ("light", True)
    assert settings.tables.console.refresh == timedelta(milliseconds=500)
    project, user = str(place.project_file), str(place.user_file)
    assert settings.origins == {
        "health.time_lag": project,
        "health.dead_letters": user,
        "console.theme": user,
        "console.mouse": project,
        "console.refresh": project,
    }


def test_values_that_only_clash_once_merged_are_refused(place: Place) -> None:
    place.write_user("[notify]\nurls_file = 'urls'")
    place.write_trusted("[notify]\nurls_command = 'urls'")
    with pytest.raises(SettingsError, match="notify: says both urls_file and urls_command"):
        place.load()


def test_streamops_config_is_read_in_place_of_both(place: Place) -> None:
    place.write_user(contexts("user", default="user"))
    place.write_project(contexts("project", default="project"))
    (place.cwd / "other.toml").write_text(contexts("other", default="other"))
    (place.home / "other.toml").write_text(contexts("home", default="home"))
    assert place.load(STREAMOPS_CONFIG="other.toml").context == "other"
    assert place.load(STREAMOPS_CONFIG="~/other.toml").context == "home"
    with pytest.raises(SettingsError, match="no context named 'user'"):
        place.load(Flags(context="user"), STREAMOPS_CONFIG="other.toml")


def test_xdg_config_home_moves_the_users_file(place: Place) -> None:
    moved = place.home / "elsewhere" / "streamops" / "config.toml"
    moved.parent.mkdir(parents=True)
    moved.write_text(contexts("moved", default="moved"))
    place.write_user(contexts("user", default="user"))
    assert place.load(XDG_CONFIG_HOME=str(place.home / "elsewhere")).context == "moved"
    # The XDG specification has relative paths ignored.
    assert place.load(XDG_CONFIG_HOME="elsewhere").context == "user"


@pytest.mark.parametrize(
    ("flag", "variable", "table", "read_only", "origin"),
    [
        (True, "0", "false", True, "--read-only"),
        (False, "1", "true", False, "--read-only"),
        (None, "1", "false", True, "STREAMOPS_READ_ONLY"),
        (None, "off", "true", False, "STREAMOPS_READ_ONLY"),
        (None, " TRUE ", "false", True, "STREAMOPS_READ_ONLY"),
        (None, "", "true", True, "{file}"),
        (None, "", "false", False, "{file}"),
        (None, "", None, False, "default"),
    ],
)
def test_read_only_comes_from_the_strongest_source(
    place: Place, *, flag: bool | None, variable: str, table: str | None, read_only: bool, origin: str
) -> None:
    place.write_user(contexts("a", default="a") + (f"read_only = {table}" if table else ""))
    settings = place.load(Flags(read_only=flag), STREAMOPS_READ_ONLY=variable)
    assert settings.read_only is read_only
    assert settings.origins.get("read_only", "default") == origin.format(file=place.user_file)


@pytest.mark.parametrize(
    ("flag", "variable", "table", "color", "origin"),
    [
        (False, "", "true", False, "--no-color"),
        (True, "1", "false", True, "--no-color"),
        (None, "1", "true", False, "NO_COLOR"),
        (None, "0", "true", False, "NO_COLOR"),
        (None, "", "false", False, "{file}"),
        (None, "", None, True, "default"),
    ],
)
def test_color_comes_from_the_strongest_source(
    place: Place, *, flag: bool | None, variable: str, table: str | None, color: bool, origin: str
) -> None:
    place.write_user(f"[console]\ncolor = {table}" if table else "")
    settings = place.load(Flags(color=flag), NO_COLOR=variable)
    assert settings.tables.console.color is color
    assert settings.origins.get("console.color", "default") == origin.format(file=place.user_file)


@pytest.mark.parametrize(
    ("flag", "table", "url", "timeout"),
    [
        (timedelta(seconds=5), "timeout = 4", "?timeout=3", 5),
        (None, "timeout = 4", "?timeout=3", 4),
        (None, "", "?timeout=3", 3),
        (None, "", "", 2),
    ],
)
def test_a_timeout_comes_from_the_strongest_source(
    place: Place, flag: timedelta | None, table: str, url: str, timeout: int
) -> None:
    place.write_user(f"[contexts.a]\nurl = 'redis://h{url}'\n{table}")
    settings = place.load(Flags(context="a", timeout=flag))
    assert settings.connection.timeout == timedelta(seconds=timeout)
    if flag:
        assert settings.origins["timeout"] == "--timeout"


def test_a_context_says_what_to_watch(place: Place) -> None:
    place.write_user(
        """
        [contexts.a]
        host = "h"
        environment = "staging"
        streams = ["orders:*"]
        exclude = ["*:tmp"]
        dead_letters = { "orders:new" = "orders:failed" }
        delayed = { "orders:new" = "orders:later" }
        max_streams = 5
        """
    )
    settings = place.load(Flags(context="a"))
    assert settings.environment is Environment.STAGING
    assert settings.watch == Watch(
        ("orders:*",),
        ("*:tmp",),
        {"orders:new": "orders:failed"},
        5,
        delayed={"orders:new": "orders:later"},
    )
    assert place.load().watch == Watch()


def test_files_of_a_url_outside_any_file_are_relative_to_the_working_directory(place: Place) -> None:
    (place.cwd / "ca.pem").touch()
    tls = place.load(Flags(url="rediss://h?ca=ca.pem")).connection.tls
    assert tls is not None
    assert tls.ca_file == str(place.cwd / "ca.pem")
    with pytest.raises(SettingsError) as caught:
        place.load(Flags(url="rediss://h?ca=none.pem"))
    assert caught.value.message == f"--url: cannot read {place.cwd}/none.pem: No such file or directory"


def test_a_broken_file_is_an_error_whatever_the_flags_say(place: Place) -> None:
    place.write_user("x = 1\ny = 2")
    with pytest.raises(SettingsError) as caught:
        place.load(Flags(url="redis://h"))
    assert caught.value.message == f"{place.user_file}: x: unknown key"
    assert caught.value.hint.endswith("`streamops config validate` lists every problem.")


def test_a_file_without_end_is_not_read_to_it(place: Place) -> None:
    place.write_project("# " + "x" * (64 << 10))
    with pytest.raises(SettingsError, match="longer than 64 KiB"):
        place.load()
    place.write_project("")
    place.write_user("# " + "x" * (1 << 20))
    with pytest.raises(SettingsError, match="longer than 1024 KiB"):
        place.load()


def test_a_pipe_that_was_cloned_is_not_waited_for(place: Place) -> None:
    os.mkfifo(place.project_file)
    with pytest.raises(SettingsError, match="not a file"):
        place.load()


def test_a_line_that_would_keep_the_parser_busy_is_not_parsed(place: Place) -> None:
    place.write_project("a = 1\n" + "a." * 30_000 + "a = 1")
    with pytest.raises(SettingsError, match="more than 200 dots in line 2"):
        place.load()


SHARED = (
    f"[contexts.a]\nurl = 'redis://:{PLANTED}@h'\n[contexts.b]\nurl = 'redis://u@h'\n[contexts.c]\nurl = 'x'"
)


@pytest.mark.parametrize(
    ("mode", "warned"), [(0o600, False), (0o640, True), (0o604, True), (0o644, True), (0o620, False)]
)
def test_a_password_that_others_can_read_is_warned_of(place: Place, mode: int, *, warned: bool) -> None:
    path = place.write_user(SHARED, mode=mode)
    settings = place.load(Flags(context="b"))
    expected = f"{path}: contexts.a.url holds a password and others may read the file: chmod 600 it"
    assert settings.warnings == ((expected,) if warned else ())


def test_a_readable_file_without_passwords_is_fine(place: Place) -> None:
    place.write_user(contexts("a", default="a"), mode=0o644)
    assert place.load().warnings == ()


def test_settings_never_print_a_password(place: Place) -> None:
    place.write_user(SHARED)
    settings = place.load(Flags(context="a"))
    assert settings.connection.password == Secret(PLANTED)
    assert PLANTED not in f"{settings!r} {settings}"


@pytest.mark.parametrize(
    "text",
    [
        f"[contexts.a]\nurl = 'redis://:{PLANTED}@h'\nx = 1",
        f"[contexts.a]\nurl = 'redis://:{PLANTED}@h'\nhost = 'h'",
        f"[contexts.a]\nurl = ['redis://:{PLANTED}@h']",
        f"[contexts.a]\npassword = '{PLANTED}'\nhost = 'h'",
        f"[contexts.a]\nurl = 'redis://:{PLANTED}@h",
        f"[contexts.a]\nurl = redis://:{PLANTED}@h",
        f"[contexts.a]\nurl = 'redis://:{PLANTED}@h' {PLANTED}",
        f"[contexts.a]\nurl = 'redis://:{PLANTED}@h'\nurl = '{PLANTED}'",
        f"[contexts.a]\nhost = 'h'\npassword_command = ['{PLANTED}', 3]",
        f"[contexts.a]\nhost = 'h'\npassword_command = '/no/{PLANTED}'",
        f"[contexts.a]\nhost = 'h'\ntimeout = '{PLANTED}'",
        f"[contexts.a]\nhost = 'h'\nenvironment = '{PLANTED}'",
    ],
)
def test_no_error_prints_a_password(place: Place, text: str) -> None:
    place.write_user(text)
    with pytest.raises(SettingsError) as caught:
        place.load(Flags(context="a"))
    assert PLANTED not in f"{caught.value!r} {caught.value.hint} {caught.value.__context__!r}"
