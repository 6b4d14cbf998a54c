"""No row moves that should not, and none is lost, in any history of claims, nacks and their undoing."""

import os
from random import Random

import pytest

from streamops.wire import script_calls
from streamops.wire.scripts import Script, load_script
from tests.operate.operations.claim_histories import run_histories
from tests.operate.operations.doing import open_console
from tests.servers import RunningServer

# Random histories: the lines they run are run by other tests too, and measuring them doubles what they cost.
pytestmark = pytest.mark.no_cover

HISTORIES = int(os.environ.get("STREAMOPS_HISTORIES", "30"))

MUTATIONS = {
    "from any consumer": ("claim", "unpack(ARGV, 9)", "ARGV[9]"),
    "however idle": ("claim", "idle >= min_idle and", "(function() ARGV[4] = '0' return true end)() and"),
    "beyond the plan's last ID": ("claim", "ARGV[6], unpack", "'+', unpack"),
    "one more than the plan": ("claim", "count == most", "count > most"),
    "counting a delivery": (
        "claim",
        "ids[count + 1] = 'JUSTID'",
        "ids[count + 1] = 'IDLE' ids[count + 2] = '0'",
    ),
    "given back by anybody": ("nack", "row[2] ~= ARGV[at + 1]", "false"),
    "acknowledged whoever owns it": ("ack", "row[2] ~= owner", "false"),
    "restored whoever owns it": (
        "restore_rows",
        "row[2] ~= (what == 'claimed' and holder or owner)",
        "false",
    ),
    "restored though delivered": (
        "restore_rows",
        "string.format('%.0f', row[4]) ~= deliveries or",
        "false and",
    ),
}


@pytest.mark.timeout(900)
async def test_only_what_should_moves(server: RunningServer) -> None:
    async with await open_console(server, "ann") as ann, await open_console(server, "bob") as bob:
        moved = await run_histories(server, (ann, bob), HISTORIES, Random().randrange(10**9))
    assert moved > HISTORIES // 4


@pytest.mark.parametrize("mutation", MUTATIONS)
async def test_a_guard_left_out_is_caught(
    mutation: str, any_server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The histories find what they are there to find."""
    name, guard, instead = MUTATIONS[mutation]

    def mutated(asked: str) -> Script:
        script = load_script(asked)
        if asked != name:
            return script
        assert guard in script.source
        return Script(script.source.replace(guard, instead), "0" * 40)

    monkeypatch.setattr(script_calls, "load_script", mutated)
    async with await open_console(any_server, "ann") as ann, await open_console(any_server, "bob") as bob:
        with pytest.raises(AssertionError, match="seed"):
            await run_histories(any_server, (ann, bob), 300, 0)
