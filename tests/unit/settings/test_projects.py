"""What a ``streamops.toml`` that came with a clone may set, and what only with the user's trust."""

import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct, structs

from streamops.errors import SettingsError
from streamops.exporter.outlets import load_notify
from streamops.model.config_keys import config_keys
from streamops.settings.config import read_config, validate_files
from streamops.settings.describe import describe_left_out, render_example
from streamops.settings.files import (
    Trust,
    list_trusted,
    name_of,
    read_project,
    revoke_trust,
    split_allowed,
    trust_project,
    trusted_files,
)
from streamops.settings.load import Flags, Settings, load_pools
from streamops.settings.tables import ConfigTable
from streamops.settings.topics import load_ingest, load_topics
from tests.support.settings.place import Place
from tests.support.tables import table

HEALTH = {f"health.{key}" for key in structs.asdict(Settings().tables.health)}
CONSOLE = {f"console.{key}" for key in ("refresh", "theme", "mouse", "color")}
VIEWS = {f"views.one.{key}" for key in ("place", "filter", "sort", "descending", "faults", "columns")}
HARMLESS = {"default_context"} | HEALTH | CONSOLE | VIEWS

USER = """
default_context = "mine"
[contexts.mine]
host = "mine"
[contexts.other]
host = "other"
[callbacks]
hosts = ["hooks.example.net"]
deny_private = true
[intake]
listen = "127.0.0.1:1"
token_file = "tokens"
[[topics]]
name = "remind"
url = "https://hooks.example.net/remind"
secret_file = "secret"
[[retention]]
streams = ["orders"]
maxlen = 1000
[pools.billing]
stream = "orders"
group = "billing"
[budgets.shared]
workers = 3
[notify]
urls_file = "urls"
[exporter]
listen = "127.0.0.1:2"
web_config = "web.yml"
"""
PROJECTS = {
    "a context": "[contexts.mine]\nurl = 'redis://theirs'",
    "a certificate": "[contexts.mine]\nurl = 'rediss://theirs'\nca = 'ca'\ncert = '~/.ssh/cert'\nkey = '~/.ssh/key'",
    "a program": "[contexts.mine]\nhost = 'mine'\npassword_command = 'touch ran'",
    "exporter": "[exporter]\nlisten = '0.0.0.0:9641'\nweb_config = 'open.yml'\nexclude = ['.*']",
    "callbacks": "[callbacks]\nhosts = ['127.0.0.1']\ndeny_private = false\nmax_answer = 1024",
    "intake": "[intake]\nlisten = '0.0.0.0:1'\ntoken_file = 'theirs'\nmax_body = 1",
    "a topic redirected": "[[topics]]\nname = 'remind'\nurl = 'http://theirs'",
    "a topic of its own": "[[topics]]\nname = 'spy'\nurl = 'http://theirs'\nstream = 'payments'\ncontext = 'mine'",
    "retention": "[[retention]]\nstreams = ['*']\nmaxlen = 1",
    "a pool": "[pools.billing]\nstream = 'payments'\ngroup = 'g'\n[pools.more]\nstream = 's'\ngroup = 'g'",
    "a pool's program": (
        "[pools.more]\nstream = 's'\ngroup = 'g'\ntarget = 'command'\n"
        "[pools.more.command]\nget = 'touch ran'\nset = 'touch ran'"
    ),
    "a budget": "[budgets.shared]\nworkers = 900",
    "notify": "[notify]\nurls_command = 'touch ran'\nevery = '1s'",
    "keys and the clipboard": "[console]\ncopy = 'file'\nkeymap = { filter = 'd' }",
    "what a later version knows": "[later]\na = 1\n[exporter]\nlater = true",
}


def leaves(kind: type[Struct], at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every key that there is; a table by name is called ``one``, an array of tables is a key."""
    for key in config_keys(kind).values():
        place = (*at, key.name, *(("one",) if key.named else ()))
        if key.table is None or key.rows:
            yield place
        else:
            yield from leaves(key.table, place)


def nested(place: tuple[str, ...], value: object) -> dict[str, Any]:
    name, *rest = place
    return {name: nested(tuple(rest), value) if rest else value}


def prepare(place: Place) -> None:
    place.write_user(USER)
    for name, content in (
        ("tokens", "a-token-of-more-than-sixteen"),
        ("secret", "a secret of more than sixteen"),
        ("urls", "json://hooks.example.net"),
    ):
        file = place.user_file.parent / name
        file.write_text(f"{content}\n")
        file.chmod(0o600)
    (place.cwd / "theirs").write_text("another-token-of-sixteen\n")


def everything(place: Place) -> list[object]:
    """All that configuration decides, as commands read it."""
    environ = place.environ()
    settings = place.load()
    topics = load_topics(Flags(), environ, place.cwd)
    return [
        structs.replace(settings, notices=(), left_out=()),
        structs.replace(topics, settings=Settings()),
        load_ingest(environ, place.cwd),
        load_notify(settings),
        load_pools(environ, place.cwd, settings.context),
        read_config(environ, place.cwd).contexts,
    ]


@table("key", list(leaves(ConfigTable)))
def test_every_key_is_harmless_or_left_out_of_an_untrusted_file(key: tuple[str, ...]) -> None:
    table = nested(key, "value")
    kept, left_out = split_allowed(table)
    if ".".join(key) in HARMLESS:
        assert (kept, left_out) == (table, ())
    else:
        assert left_out == (".".join(key[:3]),)
        assert not any(True for _ in leaves_of(kept))


def leaves_of(table: dict[str, Any]) -> Iterator[object]:
    for value in table.values():
        yield from leaves_of(value) if isinstance(value, dict) else (value,)


def test_of_the_whole_example_only_what_is_harmless_is_kept() -> None:
    kept, left_out = split_allowed(tomllib.loads(render_example()))
    assert set(kept) == {"health", "console", "views"}
    assert set(kept["console"]) == {"refresh", "mouse", "color"}
    assert {key.partition(".")[0] for key in left_out} == {
        *("contexts", "retention", "pools", "budgets", "topics"),
        *("callbacks", "intake", "notify", "exporter", "console"),
    }


@pytest.mark.parametrize("text", PROJECTS.values(), ids=PROJECTS)
def test_what_an_untrusted_file_may_not_set_has_no_effect(place: Place, text: str) -> None:
    prepare(place)
    before = everything(place)
    os.mkfifo(place.cwd / "ca")
    place.write_project(text)
    assert everything(place) == before
    assert not (place.cwd / "ran").exists()
    [notice] = place.load().notices
    assert notice.startswith("streamops.toml sets ")
    assert notice.endswith("which only your own file may: streamops config show, or streamops config trust")


@pytest.mark.parametrize("name", ["exporter", "callbacks", "a context", "retention", "a budget"])
def test_what_a_trusted_file_sets_is_in_force(place: Place, name: str) -> None:
    prepare(place)
    before = everything(place)
    place.write_trusted(PROJECTS[name])
    assert everything(place) != before
    [notice] = place.load().notices
    assert notice.startswith("in force from streamops.toml, which you trusted: ")


def test_an_untrusted_file_chooses_among_the_users_contexts(place: Place) -> None:
    prepare(place)
    place.write_project("default_context = 'other'\n[health]\ntime_lag = '1m'")
    assert place.load().connection.addresses == (("other", 6379),)
    assert place.load().notices == ("in force from streamops.toml: default_context and 1 more",)


def test_a_context_of_an_untrusted_file_is_told_and_no_other_is_used_instead(place: Place) -> None:
    prepare(place)
    place.write_project("default_context = 'local'\n[contexts.local]\nhost = 'theirs'")
    with pytest.raises(SettingsError, match="no context named 'local'") as told:
        place.load()
    assert told.value.hint == "streamops.toml has it, and is not trusted: `streamops config trust` trusts it."
    assert place.load(Flags(context="mine")).connection.addresses == (("mine", 6379),)


def test_what_is_left_out_is_told_by_its_first_key_and_shown_by_all(place: Place) -> None:
    place.write_project("[exporter]\nlisten = '0.0.0.0:1'\nmax_streams = 1\n[[topics]]\nname = 'a'\n")
    settings = place.load()
    assert settings.notices[0].startswith("streamops.toml sets exporter.listen and 2 more, which")
    rows = describe_left_out(settings)
    assert [row.key for row in rows] == ["exporter.listen", "exporter.max_streams", "topics"]
    assert {(row.value, row.origin) for row in rows} == {("", f"{place.project_file}, left out: not trusted")}


def test_a_file_that_changes_is_trusted_no_more_and_says_so(place: Place) -> None:
    place.write_trusted(PROJECTS["exporter"])
    assert place.load().tables.exporter.listen == "0.0.0.0:9641"
    place.write_project(PROJECTS["exporter"] + "\n# a comment")
    settings = place.load()
    assert settings.tables.exporter.listen == "127.0.0.1:9641"
    assert settings.notices[0].startswith(
        "streamops.toml has changed since it was trusted, and sets exporter."
    )
    place.write_project("")
    assert place.load().notices == ("streamops.toml has changed since it was trusted",)
    place.write_project(PROJECTS["exporter"])
    assert place.load().tables.exporter.listen == "0.0.0.0:9641"


def test_the_same_content_elsewhere_is_not_trusted(place: Place, tmp_path: Path) -> None:
    trusted = place.write_trusted(PROJECTS["exporter"])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for link in ("symlink_to", "hardlink_to"):
        path = elsewhere / "streamops.toml"
        getattr(path, link)(trusted)
        file = read_project(path, place.environ())
        assert file is not None
        assert file.trust is Trust.UNTRUSTED
        path.unlink()


def test_trust_is_by_the_real_directory_whatever_leads_there(place: Place, tmp_path: Path) -> None:
    place.write_trusted(PROJECTS["exporter"])
    (tmp_path / "link").symlink_to(place.cwd)
    file = read_project(tmp_path / "link" / "streamops.toml", place.environ())
    assert file is not None
    assert file.trust is Trust.TRUSTED


def test_trust_is_listed_and_revoked(place: Place) -> None:
    environ = place.environ()
    path = place.write_trusted(PROJECTS["exporter"])
    assert [(one.path, one.trust) for one in list_trusted(environ)] == [(str(path), "trusted")]
    path.write_text("")
    assert [one.trust for one in list_trusted(environ)] == ["changed since it was trusted"]
    path.unlink()
    assert [one.trust for one in list_trusted(environ)] == [""]
    revoke_trust(path, environ)
    assert list_trusted(environ) == ()
    with pytest.raises(SettingsError, match="is not trusted"):
        revoke_trust(path, environ)


def test_what_is_remembered_is_the_users_alone(place: Place) -> None:
    path = place.write_trusted(PROJECTS["exporter"])
    kept = place.home / ".local/state/streamops/trusted.json"
    assert kept.stat().st_mode & 0o777 == 0o600
    assert set(trusted_files(place.environ()).read()) == {name_of(path)}


@pytest.mark.parametrize(
    ("text", "why"), [("[x", "not TOML"), ("[exporter]\nlisten = 5", "expected a string")]
)
def test_a_file_with_problems_is_not_trusted(place: Place, text: str, why: str) -> None:
    path = place.write_project(text)
    with pytest.raises(SettingsError, match=why):
        trust_project(path, place.environ())
    assert list_trusted(place.environ()) == ()


def test_a_file_that_is_not_there_is_not_trusted(place: Place) -> None:
    with pytest.raises(SettingsError, match="no such file"):
        trust_project(place.project_file, place.environ())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_another_users_file_is_neither_read_nor_trusted(place: Place) -> None:
    path = place.write_trusted("[health]\ntime_lag = '1m'")
    os.chown(path, 12345, 12345)
    settings = place.load()
    assert settings.tables.health == Settings().tables.health
    [notice] = settings.notices
    assert notice.startswith("streamops.toml belongs to another user and is not read")
    with pytest.raises(SettingsError, match="belongs to another user"):
        trust_project(path, place.environ())
    _, problems = validate_files(place.environ(), place.cwd)
    assert [problem.text for problem in problems] == ["belongs to another user, and is not read"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_another_users_link_to_a_file_is_not_followed(place: Place) -> None:
    (place.cwd / "own").write_text("[health]\ntime_lag = '1m'")
    place.project_file.symlink_to("own")
    os.lchown(place.project_file, 12345, 12345)
    assert place.load().tables.health == Settings().tables.health


def test_an_untrusted_file_is_checked_whole(place: Place) -> None:
    place.write_project("[exporter]\nlisten = 5\n[contexts.a]\nport = 1")
    _, problems = validate_files(place.environ(), place.cwd)
    assert [problem.key for problem in problems] == ["exporter.listen", "contexts.a"]
    assert place.load().tables.exporter == Settings().tables.exporter


def test_the_user_who_names_the_file_trusts_it(place: Place) -> None:
    place.write_project(PROJECTS["exporter"])
    settings = place.load(STREAMOPS_CONFIG="streamops.toml")
    assert settings.tables.exporter.listen == "0.0.0.0:9641"
    assert settings.notices == ()
