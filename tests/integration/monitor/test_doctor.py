"""The self-check, on every server version, with every permission and with some missing."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import Refused, Unreachable
from streamops.model.observation import Health
from streamops.monitor.doctor import examine
from streamops.wire.options import Secret
from tests.support.monitor.doctor import PERMISSIONS, by_topic, make_user
from tests.support.servers import StartServer


async def test_what_is_missing_is_named_with_what_follows_from_it(start_server: StartServer) -> None:
    server = start_server()
    options = make_user(
        server, "little", "~*", "+ping", "+time", "+xlen", "+xinfo|groups", "+xpending", "+scan"
    )
    found = by_topic(await examine(options))
    assert found["may see groups"].health is Health.OK
    assert found["may see streams"].health is Health.WARN
    assert found["may see streams"].text.startswith("no permission for XINFO")
    assert found["may ask INFO"].health is Health.WARN
    assert found["version"].health is Health.UNKNOWN
    assert "doctor --acl observer" in found["may read entries"].advice


async def test_without_groups_there_is_nothing_to_see(start_server: StartServer) -> None:
    server = start_server()
    options = make_user(server, "less", "~*", "+ping", "+info", "+scan", "+time")
    assert by_topic(await examine(options))["may see groups"].health is Health.CRITICAL


@pytest.mark.parametrize(
    ("command", "topic"), [("time", "may ask the time"), ("xpending", "may see pending entries")]
)
async def test_groups_are_seen_without_the_time_and_without_pending_entries(
    start_server: StartServer, command: str, topic: str
) -> None:
    options = make_user(start_server(), "less", "~*", "+@all", f"-{command}")
    found = by_topic(await examine(options))
    assert found["may see groups"].health is Health.OK
    assert found[topic].health is Health.WARN
    assert found[topic].text.startswith(f"no permission for {command.upper()}")


async def test_a_key_that_may_not_be_read_is_no_missing_command(start_server: StartServer) -> None:
    server = start_server()
    options = make_user(server, "narrow", "~orders:*", "+@all")
    found = by_topic(await examine(options))
    assert {found[topic].health for topic in PERMISSIONS} == {Health.OK}


@pytest.mark.parametrize(
    ("policy", "limit", "health", "words"),
    [
        ("allkeys-lru", "100mb", Health.CRITICAL, "evict whole streams"),
        ("volatile-lru", "100mb", Health.OK, "that have a TTL"),
        ("noeviction", "100mb", Health.OK, "refuses writes"),
        ("allkeys-lru", "0", Health.OK, "no maxmemory"),
    ],
)
async def test_eviction_policies(
    start_server: StartServer, policy: str, limit: str, health: Health, words: str
) -> None:
    server = start_server("--maxmemory", limit, "--maxmemory-policy", policy)
    memory = by_topic(await examine(server.options))["memory"]
    assert memory.health is health
    assert words in memory.text


async def test_no_server_and_a_wrong_password_are_errors(start_server: StartServer) -> None:
    server = start_server()
    wrong = replace(make_user(server, "observer", "+@all"), password=Secret("wrong"))
    with pytest.raises(Refused):
        await examine(wrong)
    server.stop()
    with pytest.raises(Unreachable):
        await examine(replace(server.options, timeout=timedelta(seconds=1)))
