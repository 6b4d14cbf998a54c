"""What ``pools`` says of a pool that KEDA scales: who decides, and no ordered number for workers that live."""

import json

import pytest

from tests.support.cli.running import Cli, Place
from tests.support.servers import RunningServer
from tests.support.written_pools import decision, write_pool

HELD = decision("steady", "all is well", (6, 6, 6), ready_known=False)


@pytest.fixture
def url(server: RunningServer, place: Place) -> str:
    del place
    write_pool(server, "billing", HELD, target="KEDA")
    return server.url


def test_show_tells_the_ordered_number_and_that_live_workers_are_not_known(cli: Cli, url: str) -> None:
    shown = cli("--url", url, "pools", "show", "billing")
    assert shown.code == 0
    assert "READY       ?" in shown.out
    told = json.loads(cli("--url", url, "pools", "show", "billing", "-o", "json").out)
    assert (told["target"], told["ordered"], told["ready"]) == ("KEDA", 6, None)
    explained = cli("--url", url, "pools", "explain", "billing").out
    assert "6 workers, ready unknown" in explained


def test_show_tells_the_workers_that_heartbeat(cli: Cli, server: RunningServer, url: str) -> None:
    write_pool(server, "billing", {**HELD, "ready": 4, "ready_known": True}, target="KEDA")
    assert json.loads(cli("--url", url, "pools", "show", "billing", "-o", "json").out)["ready"] == 4


def test_scale_names_what_decides_and_no_supervisor(cli: Cli, server: RunningServer, url: str) -> None:
    refused = cli("--url", url, "pools", "scale", "billing", "8")
    assert refused.code == 1
    assert "KEDA scales its workers, to the count that `streamops autoscale keda` decides on" in refused.err
    assert "streamops pools override billing N" in refused.err
    assert "supervisor" not in refused.err
    assert server.command("HGET", "streamops:pool:billing", "desired") is None


def test_the_controller_to_start_again_is_that_of_keda(cli: Cli, server: RunningServer, url: str) -> None:
    server.command("HDEL", "streamops:pool:billing", "leader", "leader_until")
    explained = cli("--url", url, "pools", "explain", "billing").out
    assert "no controller runs: `streamops autoscale keda` starts one" in explained
    planned = cli("--url", url, "pools", "override", "billing", "8", "--dry-run")
    assert "this applies once one runs: `streamops autoscale keda`" in planned.out + planned.err
