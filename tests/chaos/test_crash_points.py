"""A worker that dies at a named moment: everything is done by another one, and what may be done twice is known."""

from pathlib import Path

import pytest

from streamops.wire.scripts import load_script
from tests.chaos.dooms import Doom, Moment
from tests.chaos.history import History
from tests.chaos.worker import Post
from tests.support.servers import RunningServer

TWICE = {
    Moment.AFTER_EFFECT,
    Moment.AFTER_HANDLER,
    Moment.COMPLETED,
    Moment.DUPLICATE,
}
"""Between an effect and its acknowledgement: nobody can know that it was done."""

PASSED = {
    "a read": b"XREADGROUP",
    "an acknowledgement": b"XACK",
    "a retry": load_script("consume_retry").source.encode(),
    "a dead letter": load_script("consume_bury").source.encode(),
    "a mark": load_script("consume_mark").source.encode(),
    "a promotion": load_script("pump").source.encode(),
    "a look at a dead worker": load_script("consume_take").source.encode(),
}
"""What requests hold; scripts are sent with their source."""


@pytest.mark.parametrize("moment", [*Moment])
async def test_a_worker_dies_in_its_own_code(server: RunningServer, tmp_path: Path, moment: Moment) -> None:
    async with History(server, tmp_path, Post(concurrency=1, prefetch=1)) as history:
        if moment is Moment.RECLAIMED:
            history.leave_behind()
        dying = await history.join(Doom(moment))
        for number, do in enumerate(("ok", "fail", "reject", "ok")):
            history.publish(do, f"o{number}")
        history.publish("ok", "o0")
        await history.until(f"dead at {moment}", lambda: not dying.process.is_alive())
        await history.settle()
        assert history.audit is not None
        assert history.audit.repeated <= (moment in TWICE)


@pytest.mark.parametrize("request_held", PASSED.values(), ids=[*PASSED])
async def test_the_server_acts_and_nobody_hears_of_it(
    server: RunningServer, tmp_path: Path, request_held: bytes
) -> None:
    """Lost replies alone, of workers that live on, are in ``test_crashes.py``."""
    async with History(server, tmp_path, Post(concurrency=2, prefetch=2)) as history:
        member = await history.join()
        seen = False

        def watch(data: bytes) -> bool:
            nonlocal seen
            if seen or request_held not in data:
                return False
            seen = True
            member.process.kill()
            return True

        await history.until("ready", history.are_ready)
        member.proxy.watch = watch
        history.leave_behind()
        async with history.fault("lost reply"):
            for number, do in enumerate(("fail", "reject", "ok", "ok")):
                history.publish(do, f"o{number}")
            await history.until("sent", lambda: seen)
        await history.settle()
