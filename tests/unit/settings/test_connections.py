import os
from datetime import timedelta

import pytest

from streamops.errors import SettingsError
from streamops.model.streams import Mode
from streamops.wire.options import ConnectionOptions, Secret, Tls
from tests.support.settings.place import PLANTED, Place


def connection(place: Place, table: str) -> ConnectionOptions:
    place.write_user(f"default_context = 'a'\n[contexts.a]\n{table}")
    return place.load().connection


def refusal(place: Place, table: str) -> SettingsError:
    with pytest.raises(SettingsError) as caught:
        connection(place, table)
    assert PLANTED not in f"{caught.value!r} {caught.value.hint} {caught.value.__context__!r}"
    return caught.value


@pytest.mark.parametrize(
    ("table", "label"),
    [
        ("url = 'rediss://h/3'", "rediss://h:6379/3"),
        ("host = 'h'", "redis://h:6379/0"),
        ("host = 'h'\nport = 7\ndatabase = 2\ntls = true", "rediss://h:7/2"),
        ("host = '::1'", "redis://[::1]:6379/0"),
        ("socket = '/run/a b.sock'\ndatabase = 2", "unix:///run/a%20b.sock?db=2"),
    ],
)
def test_an_address_is_a_url_or_its_parts(place: Place, table: str, label: str) -> None:
    assert connection(place, table).label == label


def test_names_of_files_are_relative_to_the_configuration(place: Place) -> None:
    place.user_file.with_name("ca.pem").touch()
    place.write_password(name="cert.pem")
    options = connection(
        place, "url = 'rediss://h?ca=ca.pem'\ncert = '~/cert.pem'\nsni = 'inner'\nverify = false"
    )
    assert options.tls == Tls(
        ca_file=str(place.user_file.with_name("ca.pem")),
        certificate_file=str(place.home / "cert.pem"),
        server_name="inner",
        verify=False,
    )
    assert connection(place, "socket = 's.sock'").socket_path == str(place.user_file.with_name("s.sock"))


def test_a_context_adds_to_its_url(place: Place) -> None:
    place.write_password("one\n", "one")
    place.write_password("two\n", "two")
    options = connection(
        place,
        """
        url = "redis+sentinel://s1,s2/orders?timeout=9"
        username = "operator"
        password_file = "~/one"
        sentinel_username = "watcher"
        sentinel_password_command = ["sh", "-c", "cat $HOME/two"]
        timeout = "1s500ms"
        """.replace("$HOME", str(place.home)),
    )
    assert options == ConnectionOptions(
        mode=Mode.SENTINEL,
        addresses=(("s1", 26379), ("s2", 26379)),
        username="operator",
        password=Secret("one"),
        sentinel_service="orders",
        sentinel_username="watcher",
        sentinel_password=Secret("two"),
        timeout=timedelta(seconds=1.5),
        label="redis+sentinel://s1:26379,s2:26379/orders/0",
    )


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            f"url = 'redis://u:{PLANTED}@h:x'",
            "url: the URL has a bad port after the host: not a number from 1 to 65535",
        ),
        (
            f"url = 'redis://u:{PLANTED}@h'\npassword_file = '~/p'",
            "password_file: the url holds a password already",
        ),
        (
            f"url = 'redis://:{PLANTED}@h'\npassword_command = 'p'",
            "password_command: the url holds a password already",
        ),
        (f"url = 'redis://u:{PLANTED}@h'\nusername = 'v'", "username: stated twice, in the url too"),
        ("url = 'rediss://h?sni=a'\nsni = 'b'", "sni: stated twice, in the url too"),
        ("url = 'redis://h'\nca = 'ca.pem'", "ca: the connection speaks no TLS"),
        ("host = 'h'\ntls = false\nverify = false", "verify: the connection speaks no TLS"),
        ("url = 'rediss://h'\nkey = 'k.pem'", "key: stated without cert"),
        ("host = 'a/b'", "host: the URL has no name and no address where the host should be"),
        ("host = 'h:7'", "host: holds a colon"),
        ("host = 'h'\ntimeout = '2h'", "timeout: more than an hour"),
        ("host = 'h'\ntls = true\nsni = 'a/b'", "sni: not a host name"),
        ("host = 'u@h'", "host: the URL has no name and no address where the host should be"),
        ("host = 'h'\nsentinel_username = 'w'", "sentinel_username: the context names no Sentinels"),
        (
            "host = 'h'\nsentinel_password_file = 'w'",
            "sentinel_password_file: the context names no Sentinels",
        ),
        ("host = 'h'\npassword_command = \"'\"", "password_command: not a program with arguments"),
        ("host = 'h'\npassword_command = 'false'", "password_command: failed with exit status 1"),
        (
            f"host = 'h'\npassword_command = ['sh', '-c', 'echo {PLANTED}; exit 7']",
            "password_command: failed with exit status 7",
        ),
    ],
)
def test_a_context_is_refused_in_one_line(place: Place, table: str, message: str) -> None:
    error = refusal(place, table)
    assert error.message == f"{place.user_file}: contexts.a: {message}"
    assert error.hint


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            "host = 'h'\npassword_file = '~/none'",
            "password_file: cannot read {home}/none: No such file or directory",
        ),
        ("host = 'h'\npassword_file = '~/empty'", "password_file: {home}/empty holds nothing"),
        ("url = 'rediss://h?ca=~/none'", "cannot read {home}/none: No such file or directory"),
        ("url = 'rediss://h'\ncert = '~/none'", "cannot read {home}/none: No such file or directory"),
    ],
)
def test_a_file_that_is_missing_or_empty_is_named(place: Place, table: str, message: str) -> None:
    place.write_password("", "empty")
    error = refusal(place, table)
    assert error.message == f"{place.user_file}: contexts.a: {message.format(home=place.home)}"


@pytest.mark.parametrize("key", ["ca", "cert"])
def test_a_pipe_is_no_certificate_and_is_not_waited_for(place: Place, key: str) -> None:
    os.mkfifo(place.home / "pipe")
    error = refusal(place, f"url = 'rediss://h'\n{key} = '~/pipe'")
    assert error.message.endswith(f"cannot read {place.home}/pipe: it is a pipe")


def test_a_projects_file_that_is_named_is_trusted(place: Place) -> None:
    place.write_project("default_context = 'a'\n[contexts.a]\nhost = 'h'\npassword_command = 'echo pw'")
    settings = place.load(STREAMOPS_CONFIG="streamops.toml")
    assert settings.connection.password == Secret("pw")
