"""Handlers that are called by the clock, on a real server."""

import asyncio
from datetime import UTC, datetime

import pytest

from streamops.errors import SettingsError
from streamops.runtime import Streamops
from streamops.runtime.cron import CronSchedule
from streamops.runtime.events import Duplicate
from streamops.testing import staged
from tests.support.runtime.working import LONGEST_WAIT
from tests.support.servers import RunningServer

pytest.importorskip("cronsim", reason="streamops[cron]")


def next_slots(schedule: CronSchedule, instant: datetime, count: int) -> list[str]:
    slots = []
    for _ in range(count):
        instant = schedule.after(instant)
        slots.append(instant.isoformat())
    return slots


async def test_a_slot_that_a_worker_with_a_slow_clock_adds_again_is_a_duplicate(
    server: RunningServer,
) -> None:
    app, slots, told = Streamops(server.options), list[datetime](), asyncio.Event()
    app.on(Duplicate)(lambda _: told.set())

    @app.cron("0 3 * * *", name="report")
    def report(at: datetime) -> None:
        slots.append(at)

    async with staged(app, server.options) as stage:
        while not slots:
            await stage.hasten()
            await stage.idle()
        await stage.publish("cron:report", {"at": slots[0].isoformat()}, id="cron-again", delay=0)
        async with asyncio.timeout(LONGEST_WAIT):
            await told.wait()
    assert len(slots) == 1


async def test_a_slot_that_is_due_before_a_worker_starts_is_made_up_for(server: RunningServer) -> None:
    app, slots = Streamops(server.options), list[datetime]()

    @app.cron("0 3 * * *", name="report")
    def report(at: datetime) -> None:
        slots.append(at)

    queue = "{cron:report}:delayed"
    async with staged(app, server.options) as stage:
        while not server.command("ZCARD", queue):
            await stage.idle()
    (ident,) = server.command("ZRANGE", queue, 0, -1)
    server.command("ZADD", queue, 1, ident)
    async with staged(app, server.options) as stage:
        while not slots:
            await stage.idle()
    assert [f"cron-{at:%Y%m%dT%H%M%SZ}".encode() for at in slots] == [ident]


def test_an_hour_that_is_left_out_or_comes_twice_is_called_once() -> None:
    schedule = CronSchedule("30 2 * * *", "Europe/Berlin")
    spring = datetime(2026, 3, 28, 12, tzinfo=UTC)
    assert next_slots(schedule, spring, 2) == ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"]
    autumn = datetime(2026, 10, 24, 12, tzinfo=UTC)
    assert next_slots(schedule, autumn, 2) == ["2026-10-25T02:30:00+02:00", "2026-10-26T02:30:00+01:00"]


@pytest.mark.parametrize(
    ("expression", "timezone", "words"),
    [
        ("every day", "UTC", "cron 'every day': "),
        ("0 3 30 2 *", "UTC", "cron '0 3 30 2 \\*': "),
        ("0 3 * * *", "Europe/Berlim", "No time zone found"),
        ("0 3 * * *", "../etc/passwd", "cron '0 3 \\* \\* \\*': "),
    ],
)
def test_what_is_no_schedule_is_refused_in_one_line(expression: str, timezone: str, words: str) -> None:
    with pytest.raises(SettingsError, match=words) as raised:
        Streamops().cron(expression, timezone=timezone)
    assert "\n" not in raised.value.message
