"""A primary behind Sentinels: found, followed through a failover, and its absence explained."""

import asyncio
import time
from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.errors import Refused, ServerError, Unreachable
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.wire import primary as primary_module
from streamops.wire.options import Secret
from streamops.wire.server import Server
from tests.support.deployments import Certificates, StartSentinel
from tests.support.eventually import SETTLE_SECONDS, eventually
from tests.support.programs import newest_program
from tests.support.servers import RunningServer, StartServer, choose_port
from tests.support.wire.refusals import PLANTED, check_no_secret, refusal
from tests.support.wire.sentinel import behind, has_good_replica, names


async def test_primary_is_found(start_server: StartServer, start_sentinel: StartSentinel) -> None:
    primary = start_server()
    primary.command("XADD", "kept", "*", "a", "b")
    sentinel = start_sentinel(primary)
    assert await names(behind(sentinel.port)) == ["kept"]
    # The first Sentinels are down: the last one is asked in time.
    assert await names(behind(choose_port(), choose_port(), sentinel.port)) == ["kept"]


async def test_sentinels_that_hang_are_passed_over(
    start_server: StartServer, start_sentinel: StartSentinel
) -> None:
    primary = start_server()
    hanging, waking = start_sentinel(primary), start_sentinel(primary)
    hanging.pause()
    server = await Server.connect(behind(hanging.port, hanging.port, waking.port))
    started = time.monotonic()
    await server.ping()
    assert time.monotonic() - started < 0.5
    await server.close()


async def test_service_that_nobody_knows(server: RunningServer, start_sentinel: StartSentinel) -> None:
    sentinel = start_sentinel(server)
    error = await refusal(behind(sentinel.port, service="payments"))
    assert isinstance(error, Unreachable)
    assert "'payments' is unknown" in error.message


async def test_passwords_of_sentinel_and_server(
    start_server: StartServer, start_sentinel: StartSentinel
) -> None:
    primary = start_server()
    sentinel = start_sentinel(primary)
    sentinel.command("ACL", "SETUSER", "default", "resetpass", f">{PLANTED}")
    primary.command("ACL", "SETUSER", "default", "resetpass", f">{PLANTED}-too")
    right = replace(
        behind(sentinel.port), password=Secret(f"{PLANTED}-too"), sentinel_password=Secret(PLANTED)
    )
    server = await Server.connect(right)
    await server.close()

    missing = await refusal(replace(right, sentinel_password=None))
    assert isinstance(missing, Refused)
    assert missing.message.startswith("a Sentinel of")
    assert "wants a password" in missing.message
    wrong = await refusal(replace(right, sentinel_password=Secret(f"{PLANTED}-wrong")))
    assert isinstance(wrong, Refused)
    assert wrong.message.startswith("a Sentinel of")
    assert "refused its password" in wrong.message
    servers = await refusal(replace(right, password=Secret(f"{PLANTED}-wrong")))
    assert isinstance(servers, Refused)
    assert servers.message.startswith("redis+sentinel://")


async def test_sentinel_and_server_behind_tls(tls_server: RunningServer, certificates: Certificates) -> None:
    tls_server.command("XADD", "kept", "*", "a", "b")
    watched = f"sentinel monitor orders 127.0.0.1 {tls_server.port} 1\ntls-replication yes\n"
    with RunningServer(tls_server.program, *certificates.server_args, tls=True, sentinel=watched) as sentinel:
        for server_name in (None, "localhost"):
            tls = replace(certificates.client_tls, server_name=server_name)
            assert await names(replace(behind(sentinel.port), tls=tls)) == ["kept"]
        strange = replace(certificates.client_tls, server_name="redis.example.org")
        error = await refusal(replace(behind(sentinel.port), tls=strange))
        assert "not valid for 'redis.example.org'" in error.message


def state_of(sentinel: RunningServer) -> dict[bytes, bytes]:
    """What the Sentinel says of the primary."""
    flat = sentinel.command("SENTINEL", "MASTER", "orders")
    return dict(zip(flat[::2], flat[1::2], strict=True))


def sentinel_of(primary: RunningServer, failovers: int) -> RunningServer:
    """A Sentinel that has heard of so many failovers, the last of which made this server the primary."""
    lines = (
        f"sentinel monitor orders 127.0.0.1 {primary.port} 1",
        f"sentinel config-epoch orders {failovers}",
    )
    return RunningServer(newest_program(), sentinel="\n".join(lines) + "\n")


async def test_a_sentinel_that_was_told_late_is_passed_over_by_whoever_knows_better(
    start_server: StartServer,
) -> None:
    former, primary = start_server(), start_server()
    with sentinel_of(former, 1) as late, sentinel_of(primary, 2) as informed:
        first = await Server.connect(behind(informed.port))
        second = Server(behind(late.port, informed.port), tracker=first.tracker)
        await second.single("s", "XADD", "s", "*", "n", "1")
        assert (former.command("EXISTS", "s"), primary.command("XLEN", "s")) == (0, 1)
        await second.close()
        # Whoever knows better merely does not answer, which is no reason to go back to the former one.
        informed.kill()
        third = Server(behind(late.port, informed.port), tracker=first.tracker)
        with pytest.raises(Unreachable, match="have not heard of the last failover") as told:
            await third.single("s", "XADD", "s", "*", "n", "2")
        assert not told.value.sent
        await third.close()
        # Where all answer, and nobody knows better, they have been set up anew: whoever they name is believed.
        fourth = Server(behind(late.port), tracker=first.tracker)
        await fourth.single("s", "XADD", "s", "*", "n", "3")
        assert (former.command("XLEN", "s"), primary.command("XLEN", "s")) == (1, 1)
        await fourth.close()
        await first.close()


async def test_a_sentinel_that_holds_the_primary_down_may_know_better_than_one_that_was_told_late(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    former, primary = start_server(), start_server()
    with sentinel_of(former, 1) as late, sentinel_of(primary, 2) as informed:
        informed.command("SENTINEL", "SET", "orders", "down-after-milliseconds", 200)
        first = await Server.connect(behind(informed.port))
        primary.kill()
        await eventually(lambda: b"s_down" in state_of(informed)[b"flags"])
        second = Server(behind(late.port, informed.port), tracker=first.tracker)
        with pytest.raises(Unreachable, match="have not heard of the last failover"):
            await second.single("s", "XADD", "s", "*", "n", "1")
        # Nor does it matter how many were told late, or for how long they agree.
        monkeypatch.setattr(primary_module, "LONGEST_FAILOVER", 1e-9)
        third = Server(behind(late.port, informed.port, late.port), tracker=first.tracker)
        for _ in range(3):
            with pytest.raises(Unreachable, match="have not heard of the last failover"):
                await third.single("s", "XADD", "s", "*", "n", "2")
        assert former.command("EXISTS", "s") == 0
        await third.close()
        await second.close()
        await first.close()


async def test_sentinels_set_up_anew_are_followed_though_one_is_gone_for_good(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    former, primary = start_server(), start_server()
    with sentinel_of(former, 5) as gone, sentinel_of(primary, 0) as one, sentinel_of(primary, 0) as two:
        server = await Server.connect(behind(gone.port))
        gone.kill()
        fewer = Server(behind(gone.port, gone.port, one.port, two.port), tracker=server.tracker)
        both = Server(behind(gone.port, one.port, two.port), tracker=server.tracker)
        for unsure in (both, fewer):
            with pytest.raises(Unreachable, match="have not heard of the last failover"):
                await unsure.ping()
        monkeypatch.setattr(primary_module, "LONGEST_FAILOVER", 0.0)
        await both.single("s", "XADD", "s", "*", "n", "1")
        assert (former.command("EXISTS", "s"), primary.command("XLEN", "s")) == (0, 1)
        for closing in (both, fewer, server):
            await closing.close()


async def test_two_of_four_sentinels_are_not_followed_however_long_they_agree(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(primary_module, "LONGEST_FAILOVER", 1e-9)
    former, primary = start_server(), start_server()
    with sentinel_of(former, 1) as late, sentinel_of(primary, 2) as informed:
        first = await Server.connect(behind(informed.port))
        informed.kill()
        second = Server(behind(informed.port, late.port, informed.port, late.port), tracker=first.tracker)
        for _ in range(3):
            with pytest.raises(Unreachable, match="have not heard of the last failover"):
                await second.single("s", "XADD", "s", "*", "n", "1")
        await second.close()
        await first.close()


async def test_sentinels_that_hang_are_asked_last_and_hide_nothing(
    start_server: StartServer, start_sentinel: StartSentinel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of those who look for another primary, nobody waits long enough for all that hang."""
    monkeypatch.setattr(primary_module, "LET_BE", 0.0)
    monkeypatch.setattr(primary_module, "LOOK_EVERY", 0.0)
    former, primary = start_server(), start_server()
    *hanging, informed = start_sentinel(former), start_sentinel(former), start_sentinel(former)
    options = behind(*(one.port for one in (*hanging, informed)))
    server = await Server.connect(replace(options, timeout=timedelta(seconds=4 * SETTLE_SECONDS)))
    for one in hanging:
        one.pause()
    informed.command("SENTINEL", "REMOVE", "orders")
    informed.command("SENTINEL", "MONITOR", "orders", "127.0.0.1", primary.port, 1)

    async def ping_until_it_fails() -> None:
        async with asyncio.timeout(SETTLE_SECONDS):
            while True:
                await server.ping()

    with pytest.raises(Unreachable, match="name another primary"):
        await ping_until_it_fails()
    await server.close()


async def test_clients_of_one_tracker_learn_of_a_failover_at_once(
    start_server: StartServer, start_sentinel: StartSentinel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(primary_module, "LOOK_EVERY", 3600.0)
    former, primary = start_server(), start_server()
    sentinel = start_sentinel(former)
    first = await Server.connect(behind(sentinel.port))
    sentinel.command("SENTINEL", "REMOVE", "orders")
    sentinel.command("SENTINEL", "MONITOR", "orders", "127.0.0.1", primary.port, 1)
    second = Server(first.options, tracker=first.tracker)
    await second.ping()
    with pytest.raises(Unreachable, match="name another primary") as told:
        await first.single("s", "XADD", "s", "*", "n", "1")
    assert not told.value.sent
    await first.single("s", "XADD", "s", "*", "n", "1")
    assert (former.command("EXISTS", "s"), primary.command("XLEN", "s"), first.changes) == (0, 1, 1)
    await first.close()
    await second.close()


async def test_a_console_goes_on_with_the_replica_that_is_promoted(
    start_server: StartServer, start_sentinel: StartSentinel
) -> None:
    """The primary dies with our connection to it; once a replica is promoted the console goes on with that."""
    primary = start_server("--repl-diskless-sync-delay", "0")
    replica = start_server("--replicaof", "127.0.0.1", str(primary.port))
    primary.command("XADD", "kept", "*", "a", "b")
    await eventually(lambda: primary.command("ROLE")[2] != [] and replica.command("EXISTS", "kept") == 1)
    sentinel = start_sentinel(primary)
    hurry = ("down-after-milliseconds", 200, "failover-timeout", 1000)
    sentinel.command("SENTINEL", "SET", "orders", *hurry)
    await eventually(lambda: has_good_replica(sentinel))

    options = replace(behind(sentinel.port), password=None)
    async with await Console.open(options, Watch(streams=("kept",))) as console:
        before = await console.collect()
        primary.kill()
        with pytest.raises(ServerError) as caught:
            await console.collect()
        assert isinstance(caught.value, Unreachable)
        check_no_secret(caught.value)

        deadline = time.monotonic() + SETTLE_SECONDS
        while True:
            try:
                after = await console.collect()
                break
            except ServerError:
                assert time.monotonic() < deadline
                await asyncio.sleep(0.05)
    assert [stream.name for stream in after.streams] == ["kept"]
    assert after.server.nodes[0].role == "master"
    assert before.server.nodes[0].replication_ids[0] in after.server.nodes[0].replication_ids


async def test_a_promoted_replica_is_gone_on_with_as_soon_as_the_sentinel_names_it(
    start_server: StartServer, start_sentinel: StartSentinel
) -> None:
    """Until then it tells the state of the former primary, which takes writes that will all be lost."""
    primary = start_server("--repl-diskless-sync-delay", "0")
    upstream = ("--replicaof", "127.0.0.1", str(primary.port))
    replica = start_server(*upstream)
    # A replica that cannot be told of the new primary keeps the failover in progress.
    hanging = start_server(*upstream, "--replica-priority", "0")
    await eventually(lambda: len(primary.command("ROLE")[2]) == 2)
    sentinel = start_sentinel(primary)
    await eventually(lambda: state_of(sentinel)[b"num-slaves"] == b"2" and has_good_replica(sentinel))
    sentinel.command("SENTINEL", "SET", "orders", "down-after-milliseconds", 600_000)
    hanging.pause()
    sentinel.command("SENTINEL", "FAILOVER", "orders")

    def named() -> int:
        return int(sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "orders")[1])

    await eventually(lambda: named() == replica.port)
    server = Server(behind(sentinel.port))
    assert await server.single("s", "CONFIG", "GET", "port") == [b"port", str(replica.port).encode()]
    state = state_of(sentinel)
    assert (int(state[b"port"]), b"failover_in_progress" in state[b"flags"]) == (primary.port, True)
    await server.close()
