"""``config validate`` looks at the keys that a context maps to streams."""

import pytest

from streamops.model.delayed import DelayedBody
from streamops.wire.delayed import encode_body
from tests.support.cli.running import Cli, Place
from tests.support.servers import RunningServer

CONFIG = """
default_context = "shop"
[contexts.shop]
url = "{url}"
dead_letters = {{ orders = "dead" }}
delayed = {{ orders = "later", "a.b" = "theirs" }}
"""


@pytest.fixture(autouse=True)
def mapped(place: Place, server: RunningServer) -> None:
    place.configure(CONFIG.format(url=server.url))


def test_mappings_to_missing_keys_and_to_our_own_are_no_problem(cli: Cli, server: RunningServer) -> None:
    assert cli("config", "validate").code == 0
    server.command("XADD", "dead", "*", "n", 1)
    server.command("ZADD", "later", 1, "m")
    server.command("HSET", "later:jobs", "m", encode_body(DelayedBody("orders", ((b"n", b"1"),))))
    assert cli("config", "validate").code == 0


def test_mappings_to_another_programs_keys_are_problems(cli: Cli, server: RunningServer) -> None:
    server.command("ZADD", "theirs", 1, '{"order": 1}', 2, '{"order": 2}')
    server.command("SET", "dead", "text")
    server.command("XADD", "later", "*", "n", 1)
    told = cli("config", "validate", "-o", "csv")
    assert told.code == 2
    for words in (
        'contexts.shop.dead_letters.orders,"key dead is a string, not a stream"',
        'contexts.shop.delayed.orders,"key later is a stream, not a sorted set"',
        'contexts.shop.delayed."a.b"',
        "sorted set theirs has 2 members that streamops did not write",
    ):
        assert words.replace('delayed."a.b"', 'delayed.""a.b""') in told.out


def test_a_server_that_is_away_is_a_note(cli: Cli, place: Place) -> None:
    place.configure(CONFIG.format(url="unix:///nowhere/at/all"))
    told = cli("config", "validate")
    assert told.code == 0
    assert "of context shop name was not looked at" in told.err
