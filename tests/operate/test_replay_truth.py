"""Whatever happens to operators and consumers, no entry is lost and none is handed on twice."""

import os

import pytest

from streamops.model.acts.replay import ReplayMode
from streamops.wire import script_calls
from streamops.wire.scripts import Script, load_script
from tests.deployments import RunningCluster
from tests.operate.replay_truth import History, Place, hasten
from tests.servers import RunningServer

# Random histories: the lines they run are run by other tests too, and measuring them doubles what they cost.
pytestmark = pytest.mark.no_cover

HISTORIES = int(os.environ.get("STREAMOPS_HISTORIES", "20"))
SAME = "{orders}:dlq"
OTHER = "failed:dlq"


async def live(place: Place, queue: str) -> None:
    modes = list(ReplayMode)
    for seed in range(HISTORIES):
        await History(place, seed, modes[seed % len(modes)], target="orders", queue=queue).run()


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    hasten(monkeypatch)


@pytest.mark.timeout(900)
async def test_no_entry_is_lost_or_doubled(server: RunningServer) -> None:
    await live(server, SAME)


@pytest.mark.timeout(900)
async def test_no_entry_is_lost_or_doubled_between_slots(cluster: RunningCluster) -> None:
    await live(cluster, OTHER)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("redis.call('XDEL', queue, unpack(done))", ""),
        ("if handed then\n    done", "if true then\n    done"),
        (
            "replay(entries[at][1], entries[at][2])",
            "if at < #entries then replay(entries[at][1], entries[at][2]) end",
        ),
        ("if not entry then return false", "if not entry then return true"),
        ("at_beginning and #done == #entries", "at_beginning"),
        ("'COUNT', 1) == 0", "'COUNT', 1) >= 0"),
    ],
)
async def test_a_wrong_script_is_caught(
    any_server: RunningServer, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str
) -> None:
    mutate(monkeypatch, "replay", right, wrong)
    with pytest.raises(AssertionError):
        await live(any_server, SAME)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("if redis.call('EXISTS', marker) == 1 then", "if false then"),
        ("if handed then redis.call('SET', marker", "if false then redis.call('SET', marker"),
        ("local handed, why = ways[how.mode](parts)", "local handed, why = true"),
    ],
)
async def test_a_wrong_script_between_slots_is_caught(
    cluster: RunningCluster, monkeypatch: pytest.MonkeyPatch, right: str, wrong: str
) -> None:
    mutate(monkeypatch, "replay_place", right, wrong)
    with pytest.raises(AssertionError):
        await live(cluster, OTHER)


def mutate(monkeypatch: pytest.MonkeyPatch, script: str, right: str, wrong: str) -> None:
    """Let a script be wrong in one place."""
    source = load_script(script).source
    assert source.count(right) == 1
    changed = source.replace(right, wrong)

    def load(name: str) -> Script:
        return Script(changed, "0" * 40) if name == script else load_script(name)

    monkeypatch.setattr(script_calls, "load_script", load)
