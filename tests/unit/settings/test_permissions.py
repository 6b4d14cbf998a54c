"""Secrets that others can read are told of, wherever they stand."""

import pytest

from streamops.settings.load import Flags
from tests.support.settings.place import Place

SECRETS = """
[contexts.a]
host = "h"
password_file = "password"
[contexts.b]
host = "h"
sentinel_password_file = "password"
[contexts.c]
host = "h"
tls = true
key = "password"
[[topics]]
name = "remind"
url = "http://h/"
headers = { "X-Api-Key" = "x", "Content-Language" = "de" }
header_files = { "Authorization" = "password" }
secret_file = "password"
[intake]
token_file = "password"
[notify]
urls_file = "password"
[pools.p]
stream = "s"
group = "g"
target = "command"
command = { get = "get", set = "set {desired}", env = { API_TOKEN = "x", LANG = "C" } }
"""
FILES = (
    "contexts.a.password_file",
    "contexts.b.sentinel_password_file",
    "contexts.c.key",
    "topics[0].header_files.Authorization",
    "topics[0].secret_file",
    "intake.token_file",
    "notify.urls_file",
)
WITHIN = (
    "topics[0].headers.X-Api-Key",
    "pools.p.command.env.API_TOKEN",
)


def warned(place: Place, *, file: int, secret: int) -> list[str]:
    """The places that are warned of."""
    path = place.write_user(SECRETS, mode=file)
    named = path.parent / "password"
    named.write_text("a secret of more than sixteen")
    named.chmod(secret)
    told = place.load(Flags(url="redis://h")).warnings
    assert all(one.endswith("others may read the file: chmod 600 it") for one in told)
    return [one.removeprefix(f"{path}: ").replace(":", " ").split()[0] for one in told]


def test_private_files_are_not_warned_of(place: Place) -> None:
    assert warned(place, file=0o600, secret=0o600) == []


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_file_that_a_setting_names(place: Place, mode: int) -> None:
    assert sorted(warned(place, file=0o600, secret=mode)) == sorted(FILES)


def test_secrets_in_the_file_itself(place: Place) -> None:
    assert sorted(warned(place, file=0o644, secret=0o600)) == sorted(WITHIN)


def test_what_is_not_there_is_not_warned_of(place: Place) -> None:
    place.write_user('[contexts.a]\nhost = "h"\npassword_file = "none"\nkey = "/dev/null"\n')
    assert place.load(Flags(url="redis://h")).warnings == ()
