"""``@app.cron`` has a function called by the clock: once a slot, however many workers there are. Each slot is an entry of
the stream ``cron:NAME``, added as a delayed message; it is retried and given up like any other.
"""

import asyncio
from datetime import datetime

import pytest

from streamops.errors import SettingsError
from streamops.runtime import Reject, Router, Streamops
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions

pytest.importorskip("cronsim", reason="streamops[cron]")


async def test_each_slot_is_called_once_by_many_workers(redis: ConnectionOptions) -> None:
    app, slots, enough = Streamops(), list[datetime](), asyncio.Event()

    # Six fields: each second.
    @app.cron("* * * * * *", name="tick")
    async def tick(at: datetime) -> None:
        slots.append(at)
        if len(slots) == 3:
            enough.set()

    async with staged(app, redis), staged(app, redis), staged(app, redis):
        async with asyncio.timeout(30):
            await enough.wait()
    assert len(set(slots)) == len(slots)


async def test_a_test_lets_the_next_slot_come(redis: ConnectionOptions) -> None:
    jobs, reported = Router(), list[datetime]()

    @jobs.cron("0 3 * * MON", timezone="Europe/Berlin", name="report", retry=None)
    async def report(at: datetime) -> None:
        reported.append(at)
        raise Reject("nothing to report")

    app = Streamops()
    app.include(jobs, prefix="shop:")
    async with staged(app, redis) as stage:
        while not reported:
            await stage.hasten()
            await stage.idle()
        (letter,) = await stage.dead_letters("shop:cron:report")
    (at,) = reported
    assert (at.weekday(), at.hour) == (0, 3)
    assert letter.fields == {"at": at.isoformat().encode()}


def test_what_is_no_schedule_is_refused_where_it_is_declared() -> None:
    app = Streamops()
    with pytest.raises(SettingsError, match="Bad minute"):
        app.cron("61 * * * *")
    with pytest.raises(SettingsError, match="No time zone found with key Europe/Berlim"):
        app.cron("0 3 * * *", timezone="Europe/Berlim")
