"""Who is taken for dead: consumers of ours, and only where neither heartbeat nor anything else tells that they live."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.runtime import Entry, Streamops, WorkerOptions
from streamops.runtime.claiming import Claimer
from streamops.runtime.consumer import StreamConsumer
from streamops.runtime.context import ServerClock
from streamops.wire.consuming.claiming import START
from streamops.wire.keys import worker_key
from tests.support.runtime.working import is_idle, until, working
from tests.support.servers import RunningServer
from tests.support.streams import pending_owners

LONG = timedelta(hours=1)
AT_ONCE = timedelta(milliseconds=1)
OURS, STRANGER = "so-other-1", "java-1"


def leave_behind(running: RunningServer, consumer: str) -> None:
    """An entry that a consumer read long ago, who has not been heard of for some milliseconds."""
    running.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    raw_id = running.command("XADD", "s", "*", "n", 1)
    running.command("XREADGROUP", "GROUP", "g", consumer, "STREAMS", "s", ">")
    running.command("XCLAIM", "s", "g", consumer, 0, raw_id, "IDLE", 7_200_000, "JUSTID")


def idle_ms(running: RunningServer, consumer: str) -> int:
    for row in running.command("XINFO", "CONSUMERS", "s", "g"):
        fields = dict(zip(row[::2], row[1::2], strict=True))
        if fields[b"name"] == consumer.encode():
            return int(fields[b"idle"])
    raise AssertionError(f"no consumer {consumer}")


@asynccontextmanager
async def looking(
    running: RunningServer, beat: timedelta, handled: list[Entry] | None = None
) -> AsyncIterator[tuple[Claimer, StreamConsumer]]:
    """Somebody who looks around when told to; the worker's own look is an hour away."""
    app = Streamops(running.options)

    @app.handler("s", group="g", start="0", lease=LONG)
    async def handle(entry: Entry) -> None:
        if handled is not None:
            handled.append(entry)

    async with working(app, WorkerOptions(beat=LONG)) as worker:
        (consumer,) = worker.runners[0].consumers
        claimer = Claimer(consumer)
        claimer._context = replace(consumer.context, interval=beat)
        yield claimer, consumer


async def test_a_worker_that_beats_is_not_dead_however_idle(server: RunningServer) -> None:
    leave_behind(server, OURS)
    server.command("HSET", worker_key(OURS), "beat_ms", 1)
    async with looking(server, AT_ONCE) as (claimer, consumer):
        await until(lambda: idle_ms(server, OURS) > 10)
        await claimer._claim_from_dead(consumer.main)
        assert pending_owners(server, "s", "g") == [OURS]
        server.command("DEL", worker_key(OURS))
        await claimer._claim_from_dead(consumer.main)
        await until(lambda: is_idle(server, "s"))


async def test_who_read_a_moment_ago_is_not_dead_though_it_does_not_beat(server: RunningServer) -> None:
    leave_behind(server, OURS)
    async with looking(server, LONG) as (claimer, consumer):
        await claimer._claim_from_dead(consumer.main)
        assert pending_owners(server, "s", "g") == [OURS]


async def test_strangers_without_a_heartbeat_are_not_dead(server: RunningServer) -> None:
    leave_behind(server, STRANGER)
    async with looking(server, AT_ONCE) as (claimer, consumer):
        await until(lambda: idle_ms(server, STRANGER) > 10)
        await claimer._claim_from_dead(consumer.main)
        assert pending_owners(server, "s", "g") == [STRANGER]


async def test_nobody_is_dead_as_long_as_our_own_beats_went_unheard(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_behind(server, OURS)
    asked, heard = list[None](), asyncio.Event()

    def steady(_: ServerClock) -> bool:
        asked.append(None)
        return heard.is_set()

    async with looking(server, AT_ONCE) as (claimer, _):
        monkeypatch.setattr(ServerClock, "is_steady", steady)
        running = asyncio.create_task(claimer.run())
        await until(lambda: len(asked) >= 4 or is_idle(server, "s"))
        assert pending_owners(server, "s", "g") == [OURS]
        heard.set()
        await until(lambda: is_idle(server, "s"))
        running.cancel()
        await asyncio.wait({running})


async def test_a_lease_runs_from_when_an_entry_was_asked_for(server: RunningServer) -> None:
    """The answer may come late, and the entry be somebody else's by then."""
    leave_behind(server, STRANGER)
    handled = list[Entry]()
    async with looking(server, LONG, handled) as (claimer, consumer):
        server.pause()
        taking = asyncio.create_task(claimer._claim(consumer.main, min_idle=LONG, after=START))
        await asyncio.sleep(0.05)
        asked_by = time.monotonic()
        server.resume()
        await taking
        await until(lambda: handled)
    assert handled[0].leased_at < asked_by
