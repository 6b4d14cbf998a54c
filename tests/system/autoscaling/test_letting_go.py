"""Letting workers go on a real pool: the idle first, none with entries in hand, nothing lost and nothing done twice."""

import asyncio
from collections import Counter
from pathlib import Path

from msgspec.structs import replace

from streamops.autoscaling.controller import Controller
from streamops.autoscaling.policy.config import ScalingConfig
from streamops.model.pools import Applied
from tests.support.autoscaling.pools import POOL, console_on, options, steer
from tests.support.eventually import SETTLE_SECONDS, eventually
from tests.support.runtime.supervisor.run import supervising
from tests.support.runtime.supervisor.running import add_job
from tests.support.servers import RunningServer
from tests.support.streams import pending_count

ENTRIES = 60
APP = """
import asyncio, os
from streamops.runtime import Entry, Streamops

app = Streamops()

@app.handler("jobs", group="g", start="0", concurrency=4, prefetch=4)
async def handle(entry: Entry) -> None:
    for word in ("begun", "done"):
        with open(os.environ["LEDGER"], "a") as ledger:
            ledger.write(f"{entry.id}-{word} {os.getpid()}\\n")
        while word == "begun" and os.path.exists("held"):
            await asyncio.sleep(0.01)
"""


async def test_a_pool_that_shrinks_while_it_works_loses_nothing_and_does_nothing_twice(
    server: RunningServer, tmp_path: Path
) -> None:
    held = tmp_path / "held"
    (assignment,) = options(config=ScalingConfig(minimum=1, maximum=4)).assignments
    given = options(assignments=(replace(assignment, stream="jobs", group="g"),))
    server.command("XGROUP", "CREATE", "jobs", "g", "0", "MKSTREAM")
    with supervising(server, tmp_path, "--workers", "auto", "--pool", POOL, app=APP) as running:
        async with console_on(server) as console:
            controller = Controller(console, given)
            await eventually(lambda: bool(server.command("EXISTS", f"streamops:supervisors:{POOL}")))
            steer(server, override=4)
            async with asyncio.timeout(SETTLE_SECONDS):
                while (await controller.round()).decisions[POOL].ready < 4:  # noqa: ASYNC110 - a round each time
                    await asyncio.sleep(0.01)
            held.touch()
            entries = [add_job(server) for _ in range(ENTRIES)]
            await eventually(lambda: len({pid for _, pid in running.handled}) == 4)
            steer(server, override=1, steered_at=2)
            down = (await controller.round()).decisions[POOL]
            assert (down.outcome, down.ordered, down.target) == (Applied.DONE, 4, 1)
            held.unlink()
            await eventually(lambda: len(running.children()) == 1)
            (left,) = running.children()
            of_others = [word for word, pid in running.handled if pid != left]
            # Each of those who went had ended what it had begun.
            assert Counter(word.split("-done")[0].split("-begun")[0] for word in of_others) == Counter(
                dict.fromkeys({word.removesuffix("-done") for word in of_others if word.endswith("-done")}, 2)
            )
            await eventually(
                lambda: pending_count(server, "jobs", "g") == 0 and len(running.handled) >= 2 * ENTRIES
            )
            told = Counter(word for word, _ in running.handled)
            assert told == Counter([f"{entry}-{word}" for entry in entries for word in ("begun", "done")])
            await controller.leave()
