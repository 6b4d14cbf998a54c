import pytest

from tests.integration.cli.test_golden_workers import heartbeat
from tests.support.cli.running import Cli, Place
from tests.support.servers import RunningServer


@pytest.fixture
def url(server: RunningServer, place: Place) -> str:
    del place
    heartbeat(server, "so-1", pool="billing")
    return server.url


@pytest.mark.parametrize("command", ["pause", "resume"])
def test_pause_of_a_pool_that_nobody_knows_is_refused(
    cli: Cli, server: RunningServer, url: str, command: str
) -> None:
    result = cli("--url", url, "pools", command, "biling", "--yes")
    assert result.code == 1
    assert "no pool biling" in result.err
    assert "billing" in result.err
    assert not server.command("EXISTS", "streamops:pool:biling")


def test_pause_without_a_terminal_needs_yes(cli: Cli, server: RunningServer, url: str) -> None:
    assert cli("--url", url, "pools", "pause", "billing").code == 4
    assert not server.command("EXISTS", "streamops:pool:billing")
    assert cli("--url", url, "pools", "pause", "billing", "--yes").code == 0
    assert server.command("HGET", "streamops:pool:billing", "mode") == b"paused"
    # Back to normal is back at once.
    assert cli("--url", url, "pools", "resume", "billing").code == 0


def test_pause_of_a_configured_pool_without_workers_is_planned(
    cli: Cli, server: RunningServer, place: Place
) -> None:
    place.configure(
        f'default_context = "local"\n[contexts.local]\nurl = "{server.url}"\n'
        '[pools.night]\nstream = "orders"\ngroup = "billing"\n'
    )
    assert cli("pools", "pause", "night", "--dry-run").code == 0
    assert cli("pools", "pause", "nigth", "--dry-run").code == 1
