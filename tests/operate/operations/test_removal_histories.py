"""No pending entry is ever lost with its consumer, after any history, on every server."""

import os
from random import Random

import pytest

from streamops.wire import script_calls
from streamops.wire.scripts import Script, load_script
from tests.operate.operations.doing import open_console
from tests.operate.operations.removal_histories import run_histories
from tests.servers import RunningServer

# Random histories: the lines they run are run by other tests too, and measuring them doubles what they cost.
pytestmark = pytest.mark.no_cover

HISTORIES = int(os.environ.get("STREAMOPS_HISTORIES", "20"))
CHECK = "if #redis.call('XPENDING', key, group, '-', '+', 1, consumer) > 0 then return 0 end"


@pytest.mark.timeout(900)
async def test_what_is_pending_stays_pending(server: RunningServer) -> None:
    async with await open_console(server, "ann") as ann, await open_console(server, "bob") as bob:
        await run_histories(server, (ann, bob), HISTORIES, Random().randrange(10**9))


async def test_removing_without_looking_is_caught(
    any_server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The histories find what they are there to find."""

    def mutated(name: str) -> Script:
        script = load_script(name)
        if name != "consumer_remove":
            return script
        assert CHECK in script.source
        return Script(script.source.replace(CHECK, ""), "0" * 40)

    monkeypatch.setattr(script_calls, "load_script", mutated)
    async with await open_console(any_server, "ann") as ann, await open_console(any_server, "bob") as bob:
        with pytest.raises(AssertionError, match="seed"):
            await run_histories(any_server, (ann, bob), 60, 0)
