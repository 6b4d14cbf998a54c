"""A million delayed messages: publishing them, waiting for some among them, promoting them all.

    python -m tests.benchmarks.bench_delayed [MESSAGES]

Prints, for each server version:

* publishing in calls of ``schedule_many`` against the floor, bare pipelines of 500 ZADD and HSET;
* promoting by ``promote_due`` against the floor, the same entries added by bare pipelines of 500 XADD;
* how long after its time a message is an entry, by the server's clock: 4,000 messages published with delays of up
  to two seconds while a million others wait, moved by a ``Promoter`` as every worker runs one.

Ours and the floor take turns, a slice each, while the queue fills and while it empties; the ratio is of the medians.
"""

import asyncio
import random
import statistics
import sys
import time
from datetime import timedelta

from msgspec.structs import replace

from streamops.model.delayed import DelayedBody
from streamops.runtime.events import Event, Events
from streamops.runtime.promoter import Promoter
from streamops.wire.consuming.promoting import promote_due
from streamops.wire.delayed import encode_body
from streamops.wire.delayed_writes import MessageToDelay, schedule_many
from streamops.wire.options import ConnectionOptions
from streamops.wire.server import Server
from tests.support.programs import find_programs
from tests.support.servers import RunningServer

MESSAGES = 1_000_000
SLICES = 20
PIPELINE = 500
FIELDS = ((b"data", b"x" * 64),)
BODY = DelayedBody("orders", FIELDS)
QUEUE, BODIES = "{orders}:delayed", "{orders}:delayed:jobs"
LATER_MS = 3_600_000

PROMPT = 4_000
BURST = 20
BURST_PAUSE = 0.04
LONGEST_MS = 2_000


def patient(running: RunningServer) -> ConnectionOptions:
    """How it is reached by those who wait while it copies or frees a million messages."""
    return replace(running.options, timeout=timedelta(minutes=1))


def server_ms(running: RunningServer) -> int:
    """The server's clock."""
    seconds, micros = running.command("TIME")
    return int(seconds) * 1000 + int(micros) // 1000


def bare_publish(running: RunningServer, first: int, count: int, due: int) -> float:
    """Seconds for ZADD and HSET of encoded messages by pipelines, to keys of their own."""
    body = encode_body(BODY)
    pipeline = running.client.pipeline(transaction=False)
    started = time.perf_counter()
    for number in range(first, first + count):
        pipeline.hset("bare:jobs", f"m{number}", body)
        pipeline.zadd("bare", {f"m{number}": due + number})
        if (number + 1) % PIPELINE == 0:
            pipeline.execute()
    pipeline.execute()
    return time.perf_counter() - started


def bare_add(running: RunningServer, count: int) -> float:
    """Seconds for XADD of the same entries by pipelines."""
    fields = dict(FIELDS)
    pipeline = running.client.pipeline(transaction=False)
    started = time.perf_counter()
    for number in range(1, count + 1):
        pipeline.xadd("bare:entries", fields)  # type: ignore[arg-type]  # redis-py's dictionaries are invariant
        if number % PIPELINE == 0:
            pipeline.execute()
    pipeline.execute()
    return time.perf_counter() - started


async def publish(server: Server, first: int, count: int) -> float:
    """Seconds for the same by streamops, bodies encoded on the way."""
    started = time.perf_counter()
    for at in range(first, first + count, 10_000):
        some = range(at, min(at + 10_000, first + count))
        delay = timedelta(milliseconds=LATER_MS)
        answers = await schedule_many(
            server, "orders", [MessageToDelay(f"m{number}", BODY, delay) for number in some]
        )
        if None in answers:
            raise SystemExit("an ID was taken")
    return time.perf_counter() - started


async def promote(server: Server, count: int) -> float:
    """Seconds for moving so many due messages."""
    started = time.perf_counter()
    while count > 0:
        promotion = await promote_due(server, "orders")
        if not promotion.moved:
            raise SystemExit(f"not moved: {promotion}")
        count -= promotion.moved
    return time.perf_counter() - started


async def filling(server: Server, running: RunningServer, messages: int) -> tuple[float, float]:
    """Medians of ours and of the floor, messages a second."""
    each = messages // SLICES
    ours, floor = [], []
    due = server_ms(running) + LATER_MS
    for number in range(SLICES):
        floor.append(each / bare_publish(running, number * each, each, due))
        ours.append(each / await publish(server, number * each, each))
    return statistics.median(ours), statistics.median(floor)


async def emptying(server: Server, running: RunningServer, messages: int) -> tuple[float, float]:
    """The same for promoting; all messages are made due first."""
    await server.single(QUEUE, "ZUNIONSTORE", QUEUE, 1, QUEUE, "WEIGHTS", "0.5")
    each = messages // SLICES
    ours, floor = [], []
    for _ in range(SLICES):
        floor.append(each / bare_add(running, each))
        ours.append(each / await promote(server, each))
        running.command("XTRIM", "orders", "MAXLEN", 0)
        running.command("XTRIM", "bare:entries", "MAXLEN", 0)
    return statistics.median(ours), statistics.median(floor)


async def lateness(server: Server, running: RunningServer) -> list[int]:
    """Milliseconds from each message's time to its entry's, a million others waiting."""
    worker = await Server.connect(patient(running))
    events: list[Event] = []
    emitted = Events()
    emitted.on(Event, events.append)
    promoting = asyncio.create_task(Promoter(worker, ["orders"], emitted).run())
    dues = {}
    for burst in range(PROMPT // BURST):
        messages = [
            MessageToDelay(
                f"p{burst}-{number}",
                DelayedBody("orders", ((b"id", f"p{burst}-{number}".encode()),)),
                timedelta(milliseconds=random.randint(0, LONGEST_MS)),
            )
            for number in range(BURST)
        ]
        for message, due in zip(messages, await schedule_many(server, "orders", messages), strict=True):
            dues[message.id.encode()] = round(due.timestamp() * 1000)  # type: ignore[union-attr]  # it was added
        await asyncio.sleep(BURST_PAUSE)
    await asyncio.sleep(LONGEST_MS / 1000 + 1)
    promoting.cancel()
    await asyncio.wait([promoting])
    await worker.close()
    entries = running.command("XRANGE", "orders", "-", "+")
    if len(entries) != len(dues):
        raise SystemExit(f"{len(entries)} entries of {len(dues)} messages")
    return [int(entry_id.split(b"-")[0]) - dues[fields[1]] for entry_id, fields in entries]


def calls(running: RunningServer) -> list[float]:
    """Milliseconds of script calls since the log was reset, as far as the log has them."""
    return [
        one[2] / 1000 for one in running.command("SLOWLOG", "GET", 10_000) if one[3][0].startswith(b"EVAL")
    ]


async def measure(running: RunningServer, messages: int) -> None:
    """Four lines on one server."""
    running.command("CONFIG", "SET", "slowlog-log-slower-than", 500)
    running.command("CONFIG", "SET", "slowlog-max-len", 10_000)
    server = await Server.connect(patient(running))
    published, bare_published = await filling(server, running, messages)
    longest_publishing = max(calls(running), default=0)
    running.command("UNLINK", "bare", "bare:jobs")
    late = statistics.quantiles(await lateness(server, running), n=100)
    running.command("DEL", "orders")
    running.command("SLOWLOG", "RESET")
    promoted, bare_added = await emptying(server, running, messages)
    spent = statistics.quantiles(calls(running) or [0, 0], n=100)
    sys.stdout.write(
        f"{running.label:12} publish {published:9,.0f}/s, bare {bare_published:9,.0f}/s,"
        f" ratio {published / bare_published:.2f}; longest call {longest_publishing:.1f} ms\n"
        f"{'':12} promote {promoted:9,.0f}/s, bare {bare_added:9,.0f}/s, ratio {promoted / bare_added:.2f};"
        f" one call {spent[49]:.1f} ms, 99 of 100 within {spent[98]:.1f} ms, longest {max(calls(running)):.1f} ms\n"
        f"{'':12} lateness among {messages:,}: p50 {late[49]:.0f} ms, p99 {late[98]:.0f} ms\n"
    )
    await server.close()


def main() -> None:
    """Run on every server found."""
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else MESSAGES
    for program in find_programs():
        with RunningServer(program) as running:
            asyncio.run(measure(running, messages))


if __name__ == "__main__":
    main()
