"""The self-check, on every server version, with every permission and with some missing."""

import pytest
import redis

from streamops.model.observation import Health
from streamops.monitor.doctor import examine
from streamops.monitor.search import Search
from streamops.operations.console import Console
from streamops.resources.acl import STREAM, AclRole, acl_rules
from tests.support.monitor.doctor import PASSWORD, PERMISSIONS, by_topic, make_user
from tests.support.monitor.lag_watching import reports_lag_to_be_believed
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer, StartServer

pytestmark = pytest.mark.border_servers("what a server counts, permits and answers differs by version")


def rules_of(role: AclRole, server: RunningServer) -> list[str]:
    rules = acl_rules(role)
    text = rules.rules_6_2 if server.program.version < (7,) else rules.rules
    return text.replace(STREAM, "orders").split()


async def test_a_sound_server_has_nothing_critical(server: RunningServer) -> None:
    found = by_topic(await examine(server.options))
    assert {
        topic: each.health for topic, each in found.items() if topic not in {"lag", "consumers"}
    } == dict.fromkeys(["connection", "version", *PERMISSIONS, "memory", "parser"], Health.OK)
    assert server.unix_url in found["connection"].text
    assert ".".join(map(str, server.program.version)) in found["version"].text


async def test_what_the_lag_of_each_version_is_worth(server: RunningServer) -> None:
    lag = by_topic(await examine(server.options))["lag"]
    if reports_lag_to_be_believed(server):
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


def _is_denied(server: RunningServer, user: str, *command: str) -> bool:
    client = server.connect(username=user, password=PASSWORD.reveal())
    try:
        client.execute_command(*command)  # type: ignore[no-untyped-call]
    except Exception as error:  # noqa: BLE001 - whatever it is, only a denial counts
        return "NOPERM" in str(error) or "no permissions" in str(error)
    return False
