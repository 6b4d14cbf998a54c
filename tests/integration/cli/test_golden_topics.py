"""Exit codes and JSON of ``webhooks``, on a real server.

``STREAMOPS_WRITE_GOLDEN=1`` writes the transcripts anew; read the difference before it is committed.
"""

import json
import shlex
from pathlib import Path

import pytest

from streamops.model.delayed import DelayedBody
from streamops.model.secret import Secret
from streamops.model.topics import Topic
from streamops.wire.delayed import encode_body
from streamops.wire.topics import TOPICS, decode_topic, encode_topic
from tests.support.cli.golden import MASKS, compare, told
from tests.support.cli.running import Cli, Place, Result
from tests.support.servers import RunningServer

GOLDEN = Path(__file__).with_name("golden_topics")
YEAR_2100 = 4_102_444_800_000
HIDDEN = "never to be seen anywhere"
CONFIG = f"""
default_context = "local"
[contexts.local]
url = "{{url}}"
environment = "production"
[contexts.away]
url = "redis://127.0.0.1:1/0"
[[topics]]
name = "remind"
url = "https://hooks.example.net/remind?token={HIDDEN.replace(" ", "+")}"
delay = "30m"
priority = "high"
retry_when = "body.code != `200`"
secret_file = "secret"
headers = {{{{ Authorization = "{HIDDEN}" }}}}
[[topics]]
name = "elsewhere"
url = "http://hooks.example.net/"
context = "away"
"""
URL = "https://hooks.example.net/paid"
READING = [
    ["webhooks", "ls"],
    ["webhooks", "show", "remind"],
    ["webhooks", "ls", "-o", "json"],
    ["webhooks", "show", "remind", "-o", "json"],
    ["webhooks", "show", "broken", "-o", "json"],
    ["webhooks", "show", "wrong", "-o", "json"],
    ["webhooks", "show", "none"],
]
ACTING = [
    ["webhooks", "create", "paid", URL, "--dry-run", "-o", "json"],
    ["--read-only", "webhooks", "create", "paid", URL],
    [
        "webhooks",
        "create",
        "paid",
        URL,
        "--secret-file",
        "secret",
        "--headers-file",
        "headers",
        "--priority",
        "high",
    ],
    ["webhooks", "create", "paid", URL],
    ["webhooks", "create", "paid", URL, "--replace", "--retry", "exponential 10s 1h jitter", "-o", "json"],
    ["webhooks", "show", "paid", "-o", "json"],
    ["webhooks", "pause", "paid"],
    ["webhooks", "pause", "paid"],
    ["webhooks", "resume", "paid", "-o", "jsonl"],
    ["webhooks", "pause", "remind"],
    ["webhooks", "rm", "paid"],
    ["webhooks", "rm", "paid", "--confirm", "paid"],
    ["webhooks", "rm", "paid", "--confirm", "paid"],
]
WRONG = [
    [
        "webhooks",
        "create",
        "a b",
        "ftp://h",
        "--method",
        "GET",
        "--priority",
        "0",
        "--time-to-run",
        "2h",
        "--retry-when",
        "x",
    ],
    ["webhooks", "create", "paid", URL, "--retry", "never"],
    ["webhooks", "create", "paid", URL, "--priority", "urgent"],
    ["webhooks", "create", "paid", URL, "--retry-when", "body.code > 5"],
    ["webhooks", "create", "paid", "https://user:hidden@h/"],
    ["webhooks", "create", "paid", URL, "--secret-file", "none"],
    ["webhooks", "create", "paid", URL, "--secret-file", "short"],
    ["webhooks", "create", "paid", URL, "--headers-file", "short"],
    ["webhooks", "create", "paid"],
    ["webhooks", "serve", "--no-intake", "--no-callbacks"],
    ["--read-only", "webhooks", "serve"],
    ["webhooks", "serve", "--listen", "nowhere", "--no-callbacks"],
    ["webhooks", "serve", "--listen", "127.0.0.1:0"],
    ["webhooks", "serve", "--also", "none"],
]


@pytest.fixture
def stocked(server: RunningServer, place: Place) -> RunningServer:
    """A server with topics, in the configuration and in Redis, and messages that wait."""
    place.configure(CONFIG.format(url=server.url))
    (place.cwd / "secret").write_text(f"{HIDDEN}\n")
    (place.cwd / "headers").write_text(f"# for the receiver\nAuthorization: {HIDDEN}\nX-Shop: 5\n")
    (place.cwd / "short").write_text("short\n")
    body = encode_body(DelayedBody("topic:remind", ((b"data", b"x"),)))
    server.command("ZADD", "{topic:remind}:delayed", YEAR_2100, "a", YEAR_2100, "b")
    server.command("HSET", "{topic:remind}:delayed:jobs", "a", body, "b", body)
    kept = Topic(name="kept", url="http://h", secret=Secret(HIDDEN), enabled=False, stream="elsewhere")
    server.command("HSET", TOPICS, "kept", encode_topic(kept), "broken", b'{"v":1}')
    server.command("HSET", TOPICS, "wrong", b'{"v":1,"url":"ftp://h","max_attempts":0}')
    server.command("HSET", TOPICS, "remind", encode_topic(Topic(name="remind", url="http://shadowed")))
    return server


def discreet(cli: Cli) -> Cli:
    """The same command line; the secret is not in what it prints."""

    def run(*args: str) -> Result:
        result = cli(*args)
        assert HIDDEN not in result.out + result.err
        return result

    return run


def test_reading_topics_prints_what_is_recorded_and_no_secret(
    cli: Cli, stocked: RunningServer, place: Place
) -> None:
    assert stocked.command("HLEN", TOPICS) == 4
    compare("reading", told(discreet(cli), READING, place, MASKS), GOLDEN)


def test_commands_that_act_on_topics_print_what_they_did(
    cli: Cli, stocked: RunningServer, place: Place
) -> None:
    compare("acting", told(discreet(cli), ACTING, place, MASKS), GOLDEN)
    records = repr(stocked.command("XRANGE", "streamops:audit", "-", "+"))
    assert "topics.add" in records
    assert HIDDEN not in records


def test_a_wrong_topic_prints_all_of_its_problems_and_writes_nothing(
    cli: Cli, server: RunningServer, place: Place
) -> None:
    """Every problem at once; nothing is written."""
    place.configure(CONFIG.format(url=server.url))
    (place.cwd / "secret").write_text(f"{HIDDEN}\n")
    (place.cwd / "short").write_text("short\n")
    compare("wrong", told(cli, WRONG, place, MASKS), GOLDEN)
    assert server.command("EXISTS", TOPICS) == 0


def test_a_topic_that_is_added_is_kept(cli: Cli, server: RunningServer, place: Place) -> None:
    (place.cwd / "secret").write_text(f"{HIDDEN}\n")
    options = (
        "--delay",
        "90s",
        "--retry",
        "1s, 5s",
        "--max-attempts",
        "3",
        "--secret-file",
        "secret",
        "--disabled",
    )
    assert cli("--url", server.url, "webhooks", "create", "paid", URL, *options, "--accept-empty").code == 0
    topic = decode_topic("paid", server.command("HGET", TOPICS, "paid"))
    assert (topic.delay.seconds, topic.retry.text, topic.max_attempts) == (90, "1s, 5s", 3)
    assert (topic.enabled, topic.retry_empty, topic.secret) == (False, False, Secret(HIDDEN))


def test_switching_tells_the_command_that_sets_it_back(cli: Cli, server: RunningServer) -> None:
    server.command("HSET", TOPICS, "kept", encode_topic(Topic(name="kept", url="http://h")))
    told = json.loads(cli("--url", server.url, "webhooks", "pause", "kept", "-o", "json").out)
    back = told["undo"]
    ((first, _), *_) = server.command("XRANGE", "streamops:audit", "-", "+", "COUNT", 1)
    refused = cli("--url", server.url, "undo", first.decode(), "--yes")
    assert (refused.code, "`streamops webhooks resume kept` reverses it." in refused.err) == (4, True)
    program, *words = shlex.split(back)
    assert (program, cli(*words).code) == ("streamops", 0)
    assert decode_topic("kept", server.command("HGET", TOPICS, "kept")).enabled


def test_a_topic_that_changed_meanwhile_is_left_alone(server: RunningServer) -> None:
    """The script looks again."""
    server.command("HSET", TOPICS, "kept", b"another")
    with pytest.raises(Exception, match="changed since the plan"):
        server.client.eval(_source(), 1, TOPICS, "kept", "0" * 40, "new")
    assert server.command("HGET", TOPICS, "kept") == b"another"


def _source() -> str:
    from streamops.wire.scripts import load_script  # noqa: PLC0415 - for one test

    return load_script("topic_set").source
