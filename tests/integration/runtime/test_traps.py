"""The traps that other runtimes fell into, one by one, on one worker or two.

Further ones are shown elsewhere: retries that reach other groups, slow handlers that are doubled, and groups that are
destroyed in ``tests/runtime/test_worker.py``; dead letters without their acknowledgement, or the reverse, in
``test_crash_points.py``.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from streamops.runtime import Entry, Streamops, heartbeat
from streamops.runtime.events import Adopted, DeadLettered, Event, Overran, Reclaimed, Retried, Troubled
from streamops.wire.options import ConnectionOptions
from tests.chaos.proxy import Proxy
from tests.support.runtime.working import (
    LONGEST_WAIT,
    QUICK,
    beaten,
    drained_beside,
    is_idle,
    unread,
    until,
    working,
)
from tests.support.servers import RunningServer
from tests.support.streams import consumer_names, pending_count
from tests.support.wire.script_calls import arguments_of

IMPATIENT = timedelta(seconds=0.3)
RESUMES_WITHIN = 15.0


@asynccontextmanager
async def between(server: RunningServer, directory: Path) -> AsyncIterator[tuple[Proxy, ConnectionOptions]]:
    """A network that can fail, and how to reach the server over it."""
    async with Proxy(server.socket_path, directory / "proxy") as proxy:
        yield proxy, replace(server.options, socket_path=str(proxy.path))


def told_by(app: Streamops) -> list[Event]:
    """What the application's worker tells from now on."""
    told: list[Event] = []
    app.events.on(Event, told.append)
    return told


def add_times(server: RunningServer, number: int = 1, **fields: str | bytes) -> list[str]:
    parts = [part for pair in (fields or {"a": "1"}).items() for part in pair]
    return [reply.decode() for reply in server.commands([("XADD", "s", "*", *parts)] * number)]


def deliver(server: RunningServer, consumer: str, count: int) -> None:
    """Have entries delivered to a consumer."""
    server.command("XREADGROUP", "GROUP", "g", consumer, "COUNT", count, "STREAMS", "s", ">")


async def test_entries_pending_under_ones_own_name_are_handled_after_a_restart(server: RunningServer) -> None:
    app, seen = Streamops(server.options), list[str]()
    ids = add_times(server, 3)
    server.command("XGROUP", "CREATE", "s", "g", "0")
    deliver(server, "mine", 3)

    @app.handler("s", group="g", lease=60)
    async def handle(entry: Entry) -> None:
        seen.append(entry.id)

    async with working(app, replace(QUICK, consumer="mine")):
        await until(lambda: is_idle(server, "s"))
    assert sorted(seen) == sorted(ids)


async def test_a_read_that_was_given_up_and_arrives_late_strands_nothing(server: RunningServer) -> None:
    """Delivered to a connection that is gone, after its owner, who lives and is alone, has looked what it owns."""
    app, seen = Streamops(server.options), list[str]()
    told = told_by(app)

    @app.handler("s", group="g", start="0", lease=0.4)
    async def handle(entry: Entry) -> None:
        seen.append(entry.id)

    async with working(app) as only:
        add_times(server)
        await until(lambda: seen)
        with server.client.pipeline(transaction=True) as at_once:
            at_once.xadd("s", {"a": "2"})
            at_once.execute_command("XREADGROUP", "GROUP", "g", only.id, "STREAMS", "s", ">")  # type: ignore[no-untyped-call] # redis-py has no types here
            at_once.execute()
        await until(lambda: len(seen) == 2)
        await until(lambda: is_idle(server, "s"))
    assert any(isinstance(event, Adopted) for event in told)


async def test_nobody_is_taken_for_dead_because_the_server_was_away(server: RunningServer) -> None:
    """All heartbeats and leases run out meanwhile; whoever is back first must not take everything."""
    options = replace(server.options, timeout=IMPATIENT)
    first, second, starts, finish = Streamops(options), Streamops(options), list[str](), asyncio.Event()
    told = [*map(told_by, (first, second))]

    async def handle(entry: Entry) -> None:
        starts.append(entry.id)
        await finish.wait()

    def waits(events: list[Event]) -> int:
        return sum(isinstance(event, Troubled) for event in events)

    for app in (first, second):
        app.handler("s", group="g", start="0", lease=0.5, concurrency=10)(handle)
    patient = replace(QUICK, beat=timedelta(seconds=0.2))
    async with working(first, patient) as one, working(second, patient) as two:
        add_times(server, 10)
        await until(lambda: len(starts) == 10)
        server.pause()
        # Two waits are longer than leases and heartbeats last.
        await until(lambda: min(map(waits, told)) >= 2)
        server.resume()
        await beaten(server, one, two, times=4)
        finish.set()
        await until(lambda: is_idle(server, "s"))
    assert len(starts) == 10
    assert not [event for each in told for event in each if isinstance(event, (Overran, Reclaimed))]


async def test_a_worker_that_was_taken_for_dead_takes_nothing_back(
    server: RunningServer, tmp_path: Path
) -> None:
    """Its entries were handled by another one, and its name was removed: that is not a group that was destroyed."""
    async with between(server, tmp_path) as (proxy, options):
        first, second = Streamops(replace(options, timeout=IMPATIENT)), Streamops(server.options)
        starts, told = list[str](), told_by(first)

        @first.handler("s", group="g", start="0", retry=0.6, in_place=True)
        async def fail(_: Entry) -> None:
            starts.append("first")
            raise ValueError("not yet")

        @second.handler("s", group="g")
        async def handle(_: Entry) -> None:
            starts.append("second")

        add_times(server)
        async with working(first) as one:
            await until(lambda: any(isinstance(event, Retried) for event in told))
            proxy.hole()
            async with working(second) as other:
                await until(lambda: consumer_names(server, "s", "g") == [other.id])
                proxy.resume()
                await until(lambda: not one.in_flight)
                await beaten(server, one, times=3)
    assert starts == ["first", "second"]


async def test_reads_wait_longer_than_the_time_limit_of_a_connection(server: RunningServer) -> None:
    app, seen = Streamops(replace(server.options, timeout=timedelta(seconds=0.8))), list[str]()
    told = told_by(app)

    @app.handler("s", group="g", start="0")
    async def handle(entry: Entry) -> None:
        seen.append(entry.id)

    def reads() -> int:
        stats = server.client.info("commandstats")
        return int(stats.get("cmdstat_xreadgroup", {"calls": 0})["calls"])

    async with working(app, replace(QUICK, block=timedelta(seconds=1.2))):
        before = reads()
        await until(lambda: reads() > before)
        add_times(server)
        await until(lambda: seen)
    assert not [event for event in told if isinstance(event, Troubled)]


async def test_a_worker_gets_over_a_network_that_swallows_everything(
    server: RunningServer, tmp_path: Path
) -> None:
    async with between(server, tmp_path) as (proxy, options):
        app, seen = Streamops(replace(options, timeout=IMPATIENT)), list[float]()

        @app.handler("s", group="g", start="0")
        async def handle(_: Entry) -> None:
            seen.append(time.monotonic())

        async with working(app):
            add_times(server)
            await until(lambda: seen)
            # Connections that were there say nothing any more, not even that they are gone; new ones work.
            proxy.hole(new=False)
            began = time.monotonic()
            while not seen[-1] > began:
                add_times(server)
                assert time.monotonic() - began < RESUMES_WITHIN
                await asyncio.sleep(0.05)
            proxy.cut()
            await until(lambda: is_idle(server, "s"))


async def test_what_is_read_ahead_is_bounded_by_number(server: RunningServer) -> None:
    app, in_flight = Streamops(server.options), list[int]()
    add_times(server, 200)
    server.command("XGROUP", "CREATE", "s", "g", "0")
    deliver(server, "mine", 100)

    @app.handler("s", group="g", concurrency=2, prefetch=25)
    async def handle(_: Entry) -> None:
        in_flight.append(only.in_flight)
        await asyncio.sleep(0.002)

    async with working(app, replace(QUICK, consumer="mine")) as only:
        await until(lambda: len(in_flight) > 75)
    # Finished ones that are not acknowledged yet are in hand too.
    assert max(in_flight) <= 2 * 25 + 2


async def test_what_is_read_ahead_is_bounded_by_bytes(server: RunningServer) -> None:
    app, running = Streamops(server.options), asyncio.Event()
    add_times(server, 60, body=b"x" * 100_000)

    @app.handler("s", group="g", start="0", concurrency=2, prefetch=500, prefetch_bytes=1_000_000)
    async def handle(_: Entry) -> None:
        await running.wait()

    async with working(app) as only:
        await until(lambda: only.in_flight)
        await beaten(server, only, times=3)
        # The first read cannot know how large entries are.
        first = only.runners[0].executor.handler.concurrency * 3
        assert only.in_flight <= first + 10
        running.set()
        await until(lambda: is_idle(server, "s"))
        await asyncio.sleep(0)


async def test_looking_for_idle_entries_comes_to_the_end_of_many_that_are_not(
    server: RunningServer,
) -> None:
    app, seen = Streamops(server.options), list[str]()
    ids = add_times(server, 1000)
    server.command("XGROUP", "CREATE", "s", "g", "0")
    deliver(server, "somebody", 1000)
    server.command("XCLAIM", "s", "g", "somebody", 0, *ids[-3:], "IDLE", 100_000, "JUSTID")
    server.command("XCLAIM", "s", "g", "somebody", 0, *ids[:-3], "IDLE", 0, "JUSTID")

    @app.handler("s", group="g", lease=8)
    async def handle(entry: Entry) -> None:
        seen.append(entry.id)

    async with working(app):
        await until(lambda: len(seen) == 3)
    assert sorted(seen) == sorted(ids[-3:])
    assert pending_count(server, "s", "g") == 997


async def test_history_reads_of_others_cost_no_attempts(server: RunningServer) -> None:
    app, attempts = Streamops(server.options), list[int]()
    told = told_by(app)
    add_times(server)
    server.command("XGROUP", "CREATE", "s", "g", "0")
    deliver(server, "naive", 1)
    for _ in range(20):
        server.command("XREADGROUP", "GROUP", "g", "naive", "STREAMS", "s", "0")

    @app.handler("s", group="g", lease=0.3, max_attempts=3)
    async def handle(entry: Entry) -> None:
        assert entry.deliveries > 20
        attempts.append(entry.attempt)

    async with working(app):
        await until(lambda: is_idle(server, "s"))
    assert attempts == [2]
    assert not [event for event in told if isinstance(event, DeadLettered)]


async def test_draining_gives_back_what_never_began_with_all_its_attempts(server: RunningServer) -> None:
    first, second, seen = Streamops(server.options), Streamops(server.options), list[str]()
    begun, held = asyncio.Event(), asyncio.Event()

    @first.handler("s", group="g", start="0", concurrency=1, max_attempts=1)
    async def slow(entry: Entry) -> None:
        begun.set()
        await held.wait()
        seen.append(entry.id)

    @second.handler("s", group="g", start="0", max_attempts=1)
    async def handle(entry: Entry) -> None:
        seen.append(entry.id)

    told = told_by(second)
    ids = add_times(server, 10)
    async with working(first) as worker:
        await begun.wait()
        await drained_beside(worker, held)
    assert pending_count(server, "s", "g")
    async with working(second):
        await until(lambda: is_idle(server, "s"))
    assert sorted(seen) == sorted(ids)
    assert not [event for event in told if isinstance(event, DeadLettered)]


async def test_names_of_dead_consumers_do_not_pile_up(server: RunningServer) -> None:
    app = Streamops(server.options)
    server.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    for number in range(20):
        add_times(server)
        deliver(server, f"so-gone-{number}-abcd", 1)

    @app.handler("s", group="g")
    async def handle(_: Entry) -> None:
        pass

    async with working(app) as only:
        await until(lambda: consumer_names(server, "s", "g") == [only.id])
    assert consumer_names(server, "s", "g") == []


async def test_a_handler_that_waits_for_something_cancelled_has_failed_and_no_more(
    server: RunningServer,
) -> None:
    app, attempts = Streamops(server.options), list[int]()

    @app.handler("s", group="g", start="0", retry=0.01, concurrency=1)
    async def handle(entry: Entry) -> None:
        attempts.append(entry.attempt)
        if entry.attempt == 1:
            waiting = asyncio.ensure_future(asyncio.Event().wait())
            waiting.cancel()
            await waiting

    add_times(server)
    async with working(app):
        await until(lambda: attempts == [1, 2])
        await until(lambda: is_idle(server, "s"))


@pytest.mark.parametrize("stubborn", [False, True], ids=["slow to end", "never ends"])
async def test_a_call_that_is_cut_off_while_its_worker_drains_does_not_keep_it(
    server: RunningServer, *, stubborn: bool
) -> None:
    app, cut_off = Streamops(server.options), asyncio.Event()

    @app.handler("s", group="g", start="0", timeout=0.1, retry=60)
    async def handle(_: Entry) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cut_off.set()
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if not stubborn:
                    raise

    add_times(server)
    async with working(app, replace(QUICK, grace=timedelta(seconds=0.1))):
        await cut_off.wait()


async def test_calls_are_timed_from_their_start_and_not_from_their_marks(
    server: RunningServer, tmp_path: Path
) -> None:
    async with between(server, tmp_path) as (proxy, options):
        app, outcomes = Streamops(options), list[str]()
        add_times(server)
        server.command("XGROUP", "CREATE", "s", "g", "0")
        deliver(server, "mine", 1)

        @app.handler("s", group="g", timeout=0.15)
        async def handle(_: Entry) -> None:
            outcomes.append("begun")
            await asyncio.sleep(0)
            outcomes.append("done")

        def slow_down_marks(request: bytes) -> bool:
            if arguments_of("consume_mark", request):
                proxy.slow_down(0.25)
            return False

        proxy.watch = slow_down_marks
        async with working(app, replace(QUICK, consumer="mine", beat=timedelta(seconds=5))):
            await until(lambda: len(outcomes) == 2)
            proxy.resume()
    assert outcomes == ["begun", "done"]


async def test_a_group_that_is_set_back_does_not_double_what_is_in_hand(server: RunningServer) -> None:
    app, starts, finish = Streamops(server.options), list[str](), asyncio.Event()

    @app.handler("s", group="g", start="0", concurrency=5)
    async def handle(entry: Entry) -> None:
        starts.append(entry.id)
        await finish.wait()

    async with working(app):
        ids = add_times(server, 3)
        await until(lambda: len(starts) == 3)
        server.command("XGROUP", "SETID", "s", "g", "0")
        ids += add_times(server, 1)
        await until(lambda: unread(server, "s") == 0)
        await until(lambda: len(starts) == 4)
        finish.set()
        await until(lambda: is_idle(server, "s"))
    assert starts == ids


async def test_a_worker_whose_heartbeat_broke_does_not_work_on(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(*_: Any) -> int:
        raise RuntimeError("no heart")

    monkeypatch.setattr(heartbeat, "write_heartbeat", broken)
    app = Streamops(server.options)

    @app.handler("s", group="g")
    async def handle(_: Entry) -> None: ...

    with pytest.raises(RuntimeError, match="no heart"):
        async with asyncio.timeout(LONGEST_WAIT):
            await app.worker(QUICK).run()


async def test_what_comes_due_while_slots_are_cancelled_wakes_none_of_them(server: RunningServer) -> None:
    app = Streamops(server.options)

    @app.handler("s", group="g")
    async def handle(_: Entry) -> None: ...

    worker = app.worker(QUICK)
    work = asyncio.create_task(worker.run())
    await until(lambda: worker.runners and worker.runners[0].executor._resting)
    work.cancel()
    while not work.done():
        worker.runners[0].executor.wake()
        await asyncio.sleep(0)
    assert work.cancelled()
