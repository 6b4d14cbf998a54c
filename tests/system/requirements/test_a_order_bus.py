"""A: an order event bus: a producer of thin facts, consumer groups, concurrent workers that lose nothing."""

import asyncio
import json
import signal
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from streamops.errors import Unreachable
from streamops.runtime import Delays, Entry, Payload, Streamops, WorkerOptions
from streamops.runtime.events import Troubled
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions
from tests.support.eventually import eventually
from tests.support.requirements.processes import Commands, until
from tests.support.servers import RunningServer, StartServer

STREAM, GROUP = "orders:events", "orders:cg"
QUICK = WorkerOptions(beat=timedelta(seconds=0.1))

KILLED_ONCE = """
import os
from streamops.runtime import Entry, Streamops

app = Streamops()

@app.handler("orders:events", group="orders:cg", start="0", key="order_id", concurrency=1)
def handle(entry: Entry) -> None:
    with open("ledger", "a") as ledger:
        ledger.write(f"{entry.id} {entry.attempt}\\n")
    if entry.attempt == 1 and entry.get("kill"):
        os.kill(os.getpid(), 9)
"""

SLOW = """
import time
from streamops.runtime import Entry, Streamops

app = Streamops()

@app.handler("orders:events", group="orders:cg", start="0", concurrency=1, threads=True)
def handle(entry: Entry) -> None:
    with open("begun", "a") as ledger:
        ledger.write(f"{entry.id}\\n")
    time.sleep(0.5)
    with open("done", "a") as ledger:
        ledger.write(f"{entry.id}\\n")
"""


def add(server: RunningServer, **fields: str) -> str:
    entry_id = server.command("XADD", STREAM, "*", *(part for pair in fields.items() for part in pair))
    return str(entry_id.decode())


def pending(server: RunningServer) -> list[tuple[str, str]]:
    """IDs and consumers of what is pending."""
    rows = server.command("XPENDING", STREAM, GROUP, "-", "+", 1_000)
    return [(entry_id.decode(), consumer.decode()) for entry_id, consumer, _, _ in rows]


async def test_a1_thin_facts_are_added_in_batches_under_an_approximate_cap(
    redis: ConnectionOptions, server: RunningServer, commands: Commands
) -> None:
    """The producer caps its stream for next to nothing, and keeps beside it what is no thin fact."""
    app = Streamops(redis)
    async with app.publisher(maxlen=500, payload=Payload(max_inline=1_000)) as publisher:
        await publisher.publish_many(STREAM, ({"order_id": f"o-{number}"} for number in range(2_000)))
        assert 500 <= server.command("XLEN", STREAM) < 700
        await publisher.publish(STREAM, {"order_id": "o-1", "text": "x" * 5_000})
    ((_, fields),) = server.command("XREVRANGE", STREAM, "+", "-", "COUNT", 1)
    assert fields[0] == b"_so_payload"
    assert commands.code("publish", STREAM, "order_id=o-2", "--maxlen", "100") == 0
    assert 100 <= server.command("XLEN", STREAM) < 300


@pytest.mark.parametrize(("start", "given"), [("0", 3), ("1-1", 2), ("$", 0)])
async def test_a2_the_group_is_made_at_start_where_it_is_told_to_begin(
    redis: ConnectionOptions, server: RunningServer, start: str, given: int
) -> None:
    """With its stream, where there is none; a group that exists already goes on from where it stands."""
    app, seen = Streamops(), list[str]()
    for number in range(1, 4):
        server.command("XADD", STREAM, f"{number}-1", "order_id", "o")

    @app.handler([STREAM, "not:there:yet"], group=GROUP, start=start)
    async def handle(entry: Entry) -> None:
        seen.append(entry.id)

    for _ in range(2):
        async with staged(app, redis) as stage:
            await stage.idle()
    assert len(seen) == given
    assert server.command("XLEN", "not:there:yet") == 0


async def test_a3_slots_and_prefetch_are_bounded_and_reading_stops_where_they_are_full(
    start_server: StartServer,
) -> None:
    """Backpressure; and no read ever waits for longer than a few seconds."""
    server = start_server("--slowlog-log-slower-than", "0", "--slowlog-max-len", "10000")
    app, gate, running = Streamops(), asyncio.Event(), list[int]([0])

    @app.handler(STREAM, group=GROUP, start="0", concurrency=4, prefetch=10)
    async def handle(_: Entry) -> None:
        running.append(running[-1] + 1)
        await gate.wait()
        running.append(running[-1] - 1)

    for number in range(500):
        add(server, n=str(number))
    async with staged(app, server.options) as stage:
        await eventually(lambda: running[-1] == 4)
        assert len(pending(server)) <= 4 + 10
        gate.set()
        await stage.idle()
    assert max(running) == 4
    calls = [row[3] for row in server.command("SLOWLOG", "GET", 10_000) if row[3][0] == b"XREADGROUP"]
    waits = {int(call[call.index(b"BLOCK") + 1]) for call in calls if b"BLOCK" in call}
    assert waits
    assert all(0 < wait <= 5_000 for wait in waits)


async def test_a4_acknowledgements_are_batched_and_never_of_what_is_unfinished(
    redis: ConnectionOptions, server: RunningServer
) -> None:
    app, gate = Streamops(), asyncio.Event()

    @app.handler(STREAM, group=GROUP, start="0", concurrency=4)
    async def handle(entry: Entry) -> None:
        if entry.get("slow"):
            await gate.wait()

    def xacks() -> int:
        told = server.client.info("commandstats").get("cmdstat_xack", {"calls": 0})
        return int(told["calls"])

    slow = add(server, slow="1")
    for number in range(1_000):
        add(server, n=str(number))
    before = xacks()
    async with staged(app, redis) as stage:
        # All were given out, and all but one acknowledged.
        await eventually(lambda: server.client.xinfo_groups(STREAM)[0]["entries-read"] == 1_001)
        await eventually(lambda: [entry_id for entry_id, _ in pending(server)] == [slow])
        gate.set()
        await stage.idle()
    assert xacks() - before < 200


async def test_a5_orphans_are_taken_over_and_slow_handlers_are_not_doubled(
    redis: ConnectionOptions, server: RunningServer
) -> None:
    """What lies idle for longer than its lease goes to whoever looks; what is being handled is renewed."""
    app, starts = Streamops(), Counter[str]()
    orphans = [add(server, n=str(number)) for number in range(5)]
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0")
    server.command("XREADGROUP", "GROUP", GROUP, "somebody", "STREAMS", STREAM, ">")

    @app.handler(STREAM, group=GROUP, lease=0.3, concurrency=4)
    async def handle(entry: Entry) -> None:
        starts[entry.id] += 1
        if entry.get("slow"):
            await asyncio.sleep(0.8)

    async with staged(app, redis, options=QUICK) as stage, staged(app, redis, options=QUICK):
        slow = add(server, slow="1")
        await stage.idle()
    assert starts == dict.fromkeys([*orphans, slow], 1)


async def test_a6_what_fails_too_often_is_a_dead_letter_with_its_fields(
    redis: ConnectionOptions, server: RunningServer, commands: Commands
) -> None:
    """In one step, acknowledged; and dead letters of the other shape, which other producers write, are understood."""
    app = Streamops()

    @app.handler(STREAM, group=GROUP, retry=0.01, max_deliveries=3)
    async def handle(_: Entry) -> None:
        raise ValueError("no such street")

    async with staged(app, redis) as stage:
        born = await stage.publish(STREAM, [("item", "pen"), ("item", "ink")])
        await stage.idle()
    queue = f"{{{STREAM}}}:dlq"
    ((_, fields),) = server.command("XRANGE", queue, "-", "+")
    assert fields[:4] == [b"item", b"pen", b"item", b"ink"]
    told = dict(zip(fields[4::2], fields[5::2], strict=True))
    assert (told[b"_so_origin_id"].decode(), told[b"_so_reason"]) == (born, b"max-deliveries")
    assert told[b"_so_error"] == b"ValueError: no such street"
    assert pending(server) == []
    foreign = ("orig_id", "5-1", "reason", "timeout", "payload", json.dumps({"order_id": "o-1"}))
    server.command("XADD", "refunds:dlq", "*", *foreign)
    document = commands.json("dlq", "ls", "refunds:dlq")
    assert (document["letters"][0]["origin_id"], document["letters"][0]["reason"]) == ("5-1", "timeout")


@pytest.mark.parametrize("passive", [True, False])
async def test_a7_backoff_is_passive_or_active_and_reaches_the_failing_group_alone(
    redis: ConnectionOptions, server: RunningServer, *, passive: bool
) -> None:
    app, attempts, others = Streamops(), list[int](), list[str]()
    where = list[tuple[int, int]]()

    @app.handler(STREAM, group=GROUP, retry=Delays((0.02, 0.04)), passive=passive)
    async def handle(entry: Entry) -> None:
        attempts.append(entry.attempt)
        if entry.attempt < 3:
            raise ConnectionError("the carrier does not answer")

    @app.handler(STREAM, group="statistics")
    async def count(entry: Entry) -> None:
        others.append(entry.id)

    async with staged(app, redis) as stage:
        born = await stage.publish(STREAM, {"order_id": "o-1"})
        await eventually(lambda: bool(attempts))
        while len(attempts) < 3:
            where.append((len(pending(server)), server.command("ZCARD", f"{{{STREAM}}}:delayed")))
            await asyncio.sleep(0)
        await stage.idle()
    assert attempts == [1, 2, 3]
    assert others == [born]
    # A passive one never leaves the pending list; an active one waits in the delayed queue.
    assert ((0, 1) in where) is not passive
    assert ((1, 0) in where) or not passive


def test_a8_a_key_belongs_to_the_entry_that_came_first_even_where_its_worker_is_killed(
    server: RunningServer, commands: Commands
) -> None:
    """The same entry runs again; another one with the same key is acknowledged and not handled."""
    commands.write("shop.py", KILLED_ONCE)
    first = add(server, order_id="o-1", kill="1")
    add(server, order_id="o-1")
    other = add(server, order_id="o-2")
    with commands.running("run", "shop:app", "--beat", "100ms") as running:
        until(lambda: len(commands.lines("ledger")) >= 3 and not pending(server))
        assert running.ended() == 0
        assert running.log.count("killed by SIGKILL") == 1
    assert sorted(commands.lines("ledger")) == sorted([f"{first} 1", f"{first} 2", f"{other} 1"])


def test_a9_told_to_stop_it_finishes_what_was_begun_and_gives_back_the_rest(
    server: RunningServer, commands: Commands
) -> None:
    """And a second signal ends it at once."""
    commands.write("shop.py", SLOW)
    for number in range(10):
        add(server, n=str(number))
    with commands.running("run", "shop:app") as running:
        until(lambda: commands.lines("begun"))
        assert running.ended() == 0
    assert commands.lines("done") == commands.lines("begun")
    given_back = server.command("XPENDING", STREAM, GROUP, "-", "+", 10)
    assert given_back
    assert all(idle > 60_000 for _, _, idle, _ in given_back)
    commands.write("shop.py", SLOW.replace("0.5", "60"))
    begun = len(commands.lines("begun"))
    with commands.running("run", "shop:app") as running:
        until(lambda: len(commands.lines("begun")) > begun)
        running.tell(signal.SIGTERM)
        until(lambda: "draining" in running.log)
        assert running.ended() == 130
    assert len(commands.lines("done")) == begun


async def test_a10_nobody_waits_for_a_server_for_ever(
    start_server: StartServer,
) -> None:
    """Connecting and reading have a limit: a publisher is told, a worker goes on once the server is there again."""
    server = start_server()
    impatient = replace(server.options, timeout=timedelta(seconds=0.2))
    app, seen, troubles = Streamops(), list[str](), list[Troubled]()
    app.on(Troubled)(troubles.append)

    @app.handler(STREAM, group=GROUP)
    async def handle(entry: Entry) -> None:
        seen.append(entry.id)

    async with staged(app, impatient) as stage:
        server.pause()
        try:
            with pytest.raises(Unreachable, match="not known whether"):
                await stage.publish(STREAM, {"order_id": "o-1"})
            await eventually(lambda: bool(troubles))
        finally:
            server.resume()
        last = await stage.publish(STREAM, {"order_id": "o-2"})
        await stage.idle()
    assert last in seen


def test_a11_the_lag_is_true_and_says_what_it_rests_on(server: RunningServer, commands: Commands) -> None:
    """Also where the server itself knows none: after deletions ahead of the group."""
    ids = [add(server, n=str(number)) for number in range(10)]
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0")
    server.command("XREADGROUP", "GROUP", GROUP, "ann", "COUNT", 1, "STREAMS", STREAM, ">")
    server.command("XDEL", STREAM, ids[4])
    assert server.client.xinfo_groups(STREAM)[0]["lag"] is None
    (stream,) = commands.json("status", STREAM)["streams"]
    (group,) = stream["groups"]
    assert (group["lag"]["entries"], group["lag"]["basis"]) == (8, "exact")
    assert group["pending"] == 1
    assert group["time_lag_seconds"] >= 0


def test_a12_streams_are_trimmed_once_or_on_a_schedule_and_nothing_unread_goes(
    server: RunningServer, commands: Commands
) -> None:
    for number in range(1, 1_001):
        server.command("XADD", STREAM, f"{number}-0", "n", "1")
    server.command("XGROUP", "CREATE", STREAM, GROUP, "500-0")
    assert commands.code("trim", STREAM, "--maxlen", "100", "--exact", "--yes") == 0
    # What the group has yet to read, and the entry that it stands at.
    assert server.command("XLEN", STREAM) == 501
    server.command("XGROUP", "SETID", STREAM, GROUP, "1000-0")
    commands.write("streamops.toml", f'[[retention]]\nstreams = ["{STREAM}"]\nmaxlen = 100\nexact = true\n')
    with commands.running("trim", "--policies", "--every", "100ms", "--yes") as running:
        until(lambda: server.command("XLEN", STREAM) == 100)
        server.command("XADD", STREAM, "1001-0", "n", "1")
        server.command("XGROUP", "SETID", STREAM, GROUP, "1001-0")
        until(lambda: server.command("XRANGE", STREAM, "-", "+", "COUNT", 1)[0][0] == b"902-0")
        running.tell(signal.SIGTERM)
        running.process.wait(20)


async def test_a13_whether_a_backlog_grows_can_be_seen(
    redis: ConnectionOptions, server: RunningServer, commands: Commands
) -> None:
    """What is added, delivered and acknowledged a second, which is what numbers of workers are decided by."""
    add(server, order_id="o")
    server.command("XGROUP", "CREATE", STREAM, GROUP, "0")

    async def produce() -> None:
        async with Streamops(redis).publisher() as publisher:
            while True:
                await publisher.publish(STREAM, {"order_id": "o"})
                await asyncio.sleep(0.005)

    producing = asyncio.create_task(produce())
    document = await asyncio.to_thread(commands.json, "status", STREAM, "--sample", "500ms")
    producing.cancel()
    rates = document["streams"][0]["groups"][0]["rates"]
    assert rates["added_per_second"] > 10
    assert rates["delivered_per_second"] == rates["acked_per_second"] == 0


async def test_a14_a_burst_is_worked_off_while_workers_go_and_come_back(
    redis: ConnectionOptions, server: RunningServer
) -> None:
    """The lag rises, and falls to nothing; half of the workers stop and return; what fails is in the dead letters."""
    app, handled, lags = Streamops(), Counter[str](), list[int]()

    @app.handler(STREAM, group=GROUP, concurrency=16, retry=0.01, max_deliveries=2)
    async def handle(entry: Entry) -> None:
        await asyncio.sleep(0.005)
        if entry.get("bad"):
            raise ValueError("no such street")
        handled[entry.id] += 1

    async def watch() -> None:
        while True:
            lags.append(server.client.xinfo_groups(STREAM)[0]["lag"] or 0)
            await asyncio.sleep(0.02)

    burst: list[dict[str, Any]] = [
        {"n": number} | ({"bad": "1"} if number % 50 == 0 else {}) for number in range(2_000)
    ]
    async with staged(app, redis, options=QUICK) as stage:
        async with staged(app, redis, options=QUICK), app.publisher() as publisher:
            watching = asyncio.create_task(watch())
            ids = await publisher.publish_many(STREAM, burst)
            await eventually(lambda: len(handled) > 500)
        await eventually(lambda: len(handled) > 1_000)
        async with staged(app, redis, options=QUICK):
            await stage.idle()
        letters = await stage.letters(STREAM)
        watching.cancel()
    good = {one for one, body in zip(ids, burst, strict=True) if "bad" not in body}
    assert handled == dict.fromkeys(good, 1)
    assert len(letters) == 40
    assert max(lags) > 100
    assert server.client.xinfo_groups(STREAM)[0]["lag"] == 0
