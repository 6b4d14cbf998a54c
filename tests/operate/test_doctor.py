"""The self-check, on every server version, with every permission and with some missing."""

from datetime import timedelta

import pytest
import redis
from msgspec.structs import replace

from streamops.errors import Refused, Unreachable
from streamops.model.observation import Health
from streamops.operate.console import Console
from streamops.operate.doctor import Examination, examine
from streamops.operate.search import Search
from streamops.present.acl import AclRole, acl_rules
from streamops.wire.options import ConnectionOptions, Secret
from tests.programs import ServerProgram
from tests.servers import RunningServer, StartServer

PASSWORD = Secret("correct-horse")
TRUSTED = {"redis-8.0", "redis-8.2", "valkey-8.1", "valkey-9.1"}
PERMISSIONS = [
    "may find streams",
    "may see groups",
    "may see streams",
    "may run scripts",
    "may see consumers",
    "may read entries",
    "may ask INFO",
]


def make_user(server: RunningServer, name: str, *rules: str) -> ConnectionOptions:
    server.command("ACL", "SETUSER", name, "reset", "on", f">{PASSWORD.reveal()}", *rules)
    return replace(server.options, username=name, password=PASSWORD)


def rules_of(role: AclRole, server: RunningServer) -> list[str]:
    rules = acl_rules(role)
    return (rules.rules_6_2 if server.program.version < (7,) else rules.rules).split()


def by_topic(found: tuple[Examination, ...]) -> dict[str, Examination]:
    return {each.topic: each for each in found}


async def test_a_sound_server_has_nothing_critical(server: RunningServer) -> None:
    found = by_topic(await examine(server.options))
    assert {
        topic: each.health for topic, each in found.items() if topic not in {"lag", "consumers"}
    } == dict.fromkeys(["connection", "version", *PERMISSIONS, "memory", "parser"], Health.OK)
    assert server.unix_url in found["connection"].text
    assert ".".join(map(str, server.program.version)) in found["version"].text


async def test_what_the_lag_of_each_version_is_worth(server: RunningServer) -> None:
    lag = by_topic(await examine(server.options))["lag"]
    if server.label in TRUSTED:
        assert (lag.health, lag.advice) == (Health.OK, "")
    elif server.label == "redis-6.2":
        assert "reports no lag" in lag.text
    else:
        assert "too high" in lag.text
        assert lag.health is Health.WARN


async def test_the_observer_rules_are_enough_to_see_everything(
    program: ServerProgram, start_server: StartServer
) -> None:
    server = start_server(program=program)
    client = server.client
    client.xgroup_create("orders", "billing", "0", mkstream=True)
    for number in range(5):
        client.xadd("orders", {"n": str(number)})
    client.xreadgroup("billing", "worker-1", {"orders": ">"}, count=2)
    options = make_user(server, "observer", *rules_of(AclRole.OBSERVER, server))
    found = by_topic(await examine(options))
    assert {topic: found[topic].health for topic in PERMISSIONS} == dict.fromkeys(PERMISSIONS, Health.OK)
    async with await Console.open(options) as console:
        await console.discover()
        observation = await console.observe()
        assert observation.snapshot.gaps == ()
        group = observation.streams[0].groups[0].group
        assert (group.lag.entries, group.pending) == (3, 2)
        assert group.members is not None
        assert (await console.search("orders", Search())).scanned == 5
        assert len((await console.read_pending("orders", "billing")).rows) == 2
    for write in (
        ("XADD", "orders", "*", "a", "b"),
        ("DEL", "orders"),
        ("XGROUP", "DESTROY", "orders", "billing"),
    ):
        assert _is_denied(server, "observer", *write)
    observer = server.connect(username="observer", password=PASSWORD.reveal())
    smuggled = "return redis.call('XADD', KEYS[1], '*', 'a', 'b')"
    for command in ("EVAL", "EVAL_RO"):
        # Versions word it differently; none does it.
        with pytest.raises(redis.ResponseError):
            observer.execute_command(command, smuggled, "1", "orders")  # type: ignore[no-untyped-call]
    assert client.xlen("orders") == 5


@pytest.mark.parametrize("role", [AclRole.OPERATOR, AclRole.RUNTIME])
async def test_every_server_accepts_the_rules_of_every_role(
    role: AclRole, program: ServerProgram, start_server: StartServer
) -> None:
    server = start_server(program=program)
    make_user(server, "someone", *rules_of(role, server))
    assert not _is_denied(server, "someone", "XADD", "orders", "*", "a", "b")
    assert not _is_denied(server, "someone", "XGROUP", "CREATE", "orders", "g", "0")
    assert not _is_denied(server, "someone", "XACK", "orders", "g", "0-1")
    assert _is_denied(server, "someone", "FLUSHALL")
    assert _is_denied(server, "someone", "CONFIG", "GET", "maxmemory")


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


def _is_denied(server: RunningServer, user: str, *command: str) -> bool:
    client = server.connect(username=user, password=PASSWORD.reveal())
    try:
        client.execute_command(*command)  # type: ignore[no-untyped-call]
    except Exception as error:  # noqa: BLE001 - whatever it is, only a denial counts
        return "NOPERM" in str(error) or "no permissions" in str(error)
    return False
