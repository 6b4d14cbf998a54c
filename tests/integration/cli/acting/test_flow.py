"""Asking on a terminal, refusing without one, stopping on Ctrl-C: on real servers, in processes of their own."""

import json

from tests.support.cli.billing import ack
from tests.support.cli.running import Cli
from tests.support.servers import RunningServer
from tests.support.streams import pending_count


def test_without_a_terminal_nothing_is_done_unless_agreed_to(cli: Cli, stocked: RunningServer) -> None:
    refused = cli(*ack(stocked))
    assert refused.code == 4
    assert refused.out.startswith("plan     ack orders/billing\ncount    2 entries\n")
    assert pending_count(stocked) == 9
    assert cli(*ack(stocked, "--yes")).code == 0
    assert pending_count(stocked) == 7


def test_json_is_one_document(cli: Cli, stocked: RunningServer) -> None:
    plan = cli(*ack(stocked, "--dry-run", "-o", "json"))
    assert (json.loads(plan.out)["schema"], plan.err) == ("streamops.plan/1", "")
    refused = cli(*ack(stocked, "-o", "json"))
    assert (refused.code, refused.out) == (4, "")
    assert "count    2 entries" in refused.err
    outcome = cli(*ack(stocked, "-o", "json", "--yes", "--quiet"))
    assert (json.loads(outcome.out)["schema"], outcome.err) == ("streamops.outcome/1", "")
