"""Topics of the configuration: all problems at once, secrets from files and programs."""

import pytest

from streamops.errors import SettingsError
from streamops.model.secret import Secret
from streamops.model.topics import HERE
from streamops.service.addresses import parse_listen
from streamops.settings.config import validate_file
from streamops.settings.load import Flags
from streamops.settings.topics import list_topics, load_ingest, load_topics
from tests.support.settings.place import PLANTED, Place
from tests.support.settings.topics import TOPIC
from tests.support.tables import table

TOKEN = "a-token-of-more-than-sixteen"  # noqa: S105 - a test's own
LOCAL = '[contexts.local]\nurl = "redis://h"\n'


def test_secrets_come_from_files_and_programs(place: Place) -> None:
    place.write_password(f"{PLANTED}-long-enough")
    place.write_user(
        TOPIC
        + 'secret_file = "~/password"\nheader_files = { Authorization = "~/password" }\nheaders = { X-Shop = "5" }\n'
        + '[[topics]]\nname = "signed"\nurl = "http://h"\nsecret_command = ["printf", "from a program of sixteen"]\n'
    )
    loaded = load_topics(Flags(), place.environ(), place.cwd)
    remind, signed = (one.topic for one in loaded.topics)
    assert remind.secret == Secret(f"{PLANTED}-long-enough")
    assert dict(remind.headers) == {"X-Shop": "5", "Authorization": f"{PLANTED}-long-enough"}
    assert signed.secret == Secret("from a program of sixteen")
    assert [one.signed for one in list_topics(place.environ(), place.cwd)] == [True, True]
    assert PLANTED not in repr(loaded)


def test_every_problem_of_a_topic_at_once(place: Place) -> None:
    path = place.write_user(
        f'[[topics]]\nname = "a b"\nurl = "ftp://{PLANTED}"\nmethod = "GET"\nmax_attempts = 0\nretry_when = "x >"\n'
        '[[topics]]\nname = "c"\nurl = "http://h"\npriority = "urgent"\nretry = "never"\n'
        "[callbacks]\nhosts = ['http://h']\n[intake]\nanonymous = true\ntoken_file = 'x'\n"
    )
    problems = validate_file(path, place.environ())
    text = "\n".join(problem.message for problem in problems)
    assert [problem.key for problem in problems] == ["topics[0]", "topics[1]", "callbacks", "intake"]
    for said in ("name: ", "url: ", "method: ", "max_attempts: ", "retry_when: ", "priority: ", "retry: "):
        assert said in text
    assert PLANTED not in text


def test_what_a_file_holds_is_checked_too(place: Place) -> None:
    place.write_password("short")
    place.write_user(TOPIC + 'secret_file = "~/password"')
    with pytest.raises(SettingsError, match="secret: shorter than 16 characters"):
        load_topics(Flags(), place.environ(), place.cwd)
    (place.home / "password").write_text("a\tb")
    place.write_user(TOPIC + 'header_files = { A = "~/password" }')
    with pytest.raises(SettingsError, match="headers: the value of a holds"):
        load_topics(Flags(), place.environ(), place.cwd)


def test_a_topic_named_twice_is_refused(place: Place) -> None:
    place.write_user(TOPIC + TOPIC)
    with pytest.raises(SettingsError, match="'remind' is listed twice"):
        list_topics(place.environ(), place.cwd)


def test_the_stronger_file_wins(place: Place) -> None:
    place.write_user(TOPIC)
    place.write_trusted('[[topics]]\nname = "remind"\nurl = "http://project"\n')
    (one,) = list_topics(place.environ(), place.cwd)
    assert one.topic.url == "http://project"


def test_c6_each_topic_has_its_context(place: Place) -> None:
    place.write_user(
        f'default_context = "local"\n{LOCAL}[contexts.eu]\nurl = "redis://eu"\n[contexts.us]\nurl = "redis://us"\n'
        f'{TOPIC}context = "local"\n[[topics]]\nname = "eu"\nurl = "http://h"\ncontext = "eu"\n'
    )
    loaded = load_topics(Flags(), place.environ(), place.cwd, ["us", "local"])
    assert list(loaded.contexts) == [HERE, "us", "eu"]
    assert [(one.topic.name, one.contexts) for one in loaded.topics] == [
        ("eu", ("eu",)),
        ("remind", (HERE,)),
    ]
    with pytest.raises(SettingsError, match="no context named 'none'"):
        load_topics(Flags(), place.environ(), place.cwd, ["none"])


def test_a_topic_of_several_contexts_is_served_of_each(place: Place) -> None:
    contexts = '[contexts.eu]\nurl = "redis://eu"\n[contexts.us]\nurl = "redis://us"\n'
    place.write_user(f'default_context = "us"\n{contexts}{TOPIC}contexts = ["eu", "us"]\n')
    loaded = load_topics(Flags(), place.environ(), place.cwd)
    assert list(loaded.contexts) == [HERE, "eu"]
    assert [one.contexts for one in loaded.topics] == [("eu", HERE)]
    for wrong in ('contexts = ["eu", "eu"]', 'context = "eu"\ncontexts = ["eu", "us"]'):
        place.write_user(f"{contexts}{TOPIC}{wrong}\n")
        with pytest.raises(SettingsError, match="contexts"):
            load_topics(Flags(), place.environ(), place.cwd)


def test_tokens_of_the_intake_are_read_a_line_each(place: Place) -> None:
    (place.home / "tokens").write_text(f"# ours\n\n{TOKEN}1\n  {TOKEN}2\r\n")
    place.write_user('[intake]\ntoken_file = "~/tokens"\nlisten = "[::1]:80"\n')
    intake = load_ingest(place.environ(), place.cwd)
    assert (intake.host, intake.port) == ("::1", 80)
    assert intake.tokens == (Secret(f"{TOKEN}1"), Secret(f"{TOKEN}2"))
    assert load_ingest(place.environ(), place.cwd, "0.0.0.0:1").port == 1


@pytest.mark.parametrize("content", ["", "# none\n", "short\n", f"{TOKEN}\nshort", "é" * 20])
def test_a_token_file_without_long_plain_tokens_is_refused(place: Place, content: str) -> None:
    (place.home / "tokens").write_text(content)
    place.write_user('[intake]\ntoken_file = "~/tokens"\n')
    with pytest.raises(SettingsError, match="token"):
        load_ingest(place.environ(), place.cwd)


def test_nobody_is_let_in_by_mistake(place: Place) -> None:
    with pytest.raises(SettingsError, match="there is no token"):
        load_ingest(place.environ(), place.cwd)
    place.write_user("[intake]\nanonymous = true\n")
    assert load_ingest(place.environ(), place.cwd).tokens == ()
    for host in ("0.0.0.0:1", "[::]:1", "10.0.0.1:1", "example.net:1"):
        with pytest.raises(SettingsError, match="which others reach too"):
            load_ingest(place.environ(), place.cwd, host)


@table("written", ["", "h", ":1", "h:", "h:x", "h:65536", "h:-1"])
def test_an_address_that_is_not_host_and_port_is_refused(written: str) -> None:
    with pytest.raises(SettingsError, match="not HOST:PORT"):
        parse_listen(written)
