import json

import pytest

from tests.support.cli.running import Cli, Place
from tests.support.servers import RunningServer

STREAM = "topic:remind"


@pytest.fixture
def url(server: RunningServer, place: Place) -> str:
    del place
    for number in range(5):
        server.command("XADD", STREAM, f"{number + 1}-0", "data", "{}")
    server.command("XGROUP", "CREATE", STREAM, "callbacks", "0")
    server.command("XREADGROUP", "GROUP", "callbacks", "c", "COUNT", 4, "STREAMS", STREAM, ">")
    server.command("XACK", STREAM, "callbacks", "1-0", "2-0", "3-0")
    return server.url


@pytest.mark.parametrize("verb", ["pause", "rm"])
def test_plans_of_topics_count_entries_that_are_not_done(cli: Cli, url: str, verb: str) -> None:
    assert cli("--url", url, "webhooks", "create", "remind", "https://hooks.example.net/").code == 0
    assert "Its 2 entries" in cli("--url", url, "webhooks", verb, "remind", "--dry-run").out


def test_a_disabled_topic_shows_the_entries_that_wait_for_it(cli: Cli, url: str) -> None:
    cli("--url", url, "webhooks", "create", "remind", "https://hooks.example.net/", "--disabled")
    cli("--url", url, "publish", STREAM, "data={}", "--delay", "1h")
    (topic,) = json.loads(cli("--url", url, "webhooks", "ls", "-o", "json").out)["topics"]
    assert (topic["enabled"], topic["waiting"], topic["delayed"]) == (False, 3, 1)
