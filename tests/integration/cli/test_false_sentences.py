"""What commands say beside their data is true."""

import json

import pytest

from tests.support.cli.running import Cli, Place
from tests.support.servers import RunningServer


@pytest.fixture
def server_url(server: RunningServer, place: Place) -> str:
    del place
    return server.url


def test_no_streams_among_two_keys_names_no_invented_number(
    cli: Cli, server: RunningServer, server_url: str
) -> None:
    server.command("SET", "a", 1)
    server.command("SET", "b", 1)
    assert "all keys were scanned" in cli("--url", server_url, "streams", "ls").err


@pytest.mark.parametrize("output", ["table", "plain", "json"])
def test_quiet_prints_the_outcome_without_the_plan(
    cli: Cli, server: RunningServer, server_url: str, output: str
) -> None:
    del server
    result = cli("--url", server_url, "-q", "publish", "orders", "a=1", "-o", output)
    assert (result.code, result.err) == (0, "")
    assert "effect" not in result.out
    assert "applied" in result.out


def test_quiet_dry_run_prints_the_plan_that_was_asked_for(cli: Cli, server_url: str) -> None:
    assert "effect" in cli("--url", server_url, "-q", "publish", "orders", "a=1", "--dry-run").out


def test_a_heartbeat_that_cannot_be_read_is_told(cli: Cli, server: RunningServer, server_url: str) -> None:
    server.command("HSET", "streamops:worker:so-later", "v", 2)
    result = cli("--url", server_url, "workers", "ls", "-o", "json")
    assert "1 heartbeat cannot be read" in result.err
    assert "no worker" not in result.err
    assert json.loads(result.out)["unreadable"] == ["so-later"]
