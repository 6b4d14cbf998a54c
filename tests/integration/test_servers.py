"""The test servers themselves: a fixture that lies would make every other test lie."""

from pathlib import Path

import pytest
import redis

from tests.support.programs import REQUIRE_SERVERS, ServerProgram, missing_labels
from tests.support.servers import RunningServer, StartServer


@pytest.mark.parametrize("turn", [1, 2])
def test_server_is_flushed_for_each_test(server: RunningServer, turn: int) -> None:
    assert server.command("DBSIZE") == 0
    assert server.command("ACL", "USERS") == [b"default"]
    server.command("XADD", "orders", f"{turn}-1", "field", "value")
    server.command("ACL", "SETUSER", "narrow", "~orders")


def test_started_server_takes_configuration_and_cleans_up(
    start_server: StartServer, program: ServerProgram
) -> None:
    server = start_server("--maxmemory", "4mb", program=program)
    assert server.program == program
    assert server.command("CONFIG", "GET", "maxmemory") == [b"maxmemory", b"4194304"]
    server.stop()
    assert not server.directory.exists()
    with pytest.raises(redis.ConnectionError):
        server.command("PING")


def test_paused_server_is_silent_and_comes_back(start_server: StartServer) -> None:
    server = start_server()
    server.pause()
    with pytest.raises(redis.TimeoutError):
        server.connect(socket_timeout=0.05).ping()
    server.resume()
    assert server.client.ping()


def test_required_servers_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(REQUIRE_SERVERS, "redis-7.0, valkey-99.0")
    assert missing_labels([ServerProgram("redis", (7, 0, 15), Path("redis-server"))]) == ("valkey-99.0",)
