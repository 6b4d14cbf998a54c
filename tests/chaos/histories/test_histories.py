"""Random histories of operations, workers and readings: nothing is lost, doubled or told falsely. Numbers on every version."""

import pytest

from tests.chaos.histories import delayed, killed_operators, killed_trims, promoting, replays, trims, truth
from tests.chaos.histories.kinds import KINDS
from tests.chaos.histories.sizes import seeds
from tests.support.deployments import RunningCluster
from tests.support.programs import ServerProgram
from tests.support.servers import RunningServer, StartServer

# The lines that these run are run by other tests too, and measuring them doubles what they cost.
pytestmark = [pytest.mark.no_cover, pytest.mark.timeout(3_600)]

# The longest kinds play fewer.
FEW = {"moving_truth": 2, "consuming": 3}

each_border = pytest.mark.border_servers("scripts and replies differ by version")


@each_border
@pytest.mark.parametrize("kind", KINDS)
async def test_history_loses_doubles_and_misreports_nothing(server: RunningServer, kind: str) -> None:
    await KINDS[kind](server, seeds(FEW.get(kind, 6)))


@each_border
async def test_safe_trim_keeps_what_groups_need(program: ServerProgram, start_server: StartServer) -> None:
    running = start_server("--stream-node-max-entries", str(trims.NODE_ENTRIES), program=program)
    await trims.play(running, seeds(6))


@each_border
def test_killed_trim_is_gone_on_with(program: ServerProgram, start_server: StartServer) -> None:
    running = start_server("--stream-node-max-entries", str(trims.NODE_ENTRIES), program=program)
    killed_trims.play_all(running, seeds(2))


@each_border
async def test_what_a_killed_operator_did_is_done_again_or_undone(server: RunningServer) -> None:
    await killed_operators.play_all(server, seeds(3))


async def test_replay_between_slots_loses_and_doubles_nothing(cluster: RunningCluster) -> None:
    await replays.play(cluster, seeds(6), queue="failed:dlq")


@each_border
async def test_operators_at_once_move_each_delayed_message_once(server: RunningServer) -> None:
    await delayed.operate_at_once(server)


@each_border
async def test_promoters_at_once_move_each_delayed_message_once(server: RunningServer) -> None:
    await promoting.promote_at_once(server)


@pytest.mark.every_server("what a server counts differs by version")
@pytest.mark.parametrize(
    "machine", [truth.StreamTruth, truth.DeepTruth, truth.SpacedTruth, truth.RestrictedTruth]
)
def test_numbers_are_true_after_any_history(server: RunningServer, machine: type[truth.StreamTruth]) -> None:
    truth.play(machine, server, examples=max(1, len(seeds(2))))
