"""Publishing against bare redis-py, and what one publish adds to a web request.

    python -m tests.benchmarks.bench_publish [LABEL...]

Prints, a server version, entries of 64 bytes a second over loopback, by streamops and by redis-py's own asyncio client
beside it (both with hiredis and on uvloop where they are installed), in one run, interleaved, medians: one after the
other, by 50 callers at once, and in batches of 500 (redis-py's pipelines). Then what 100 of them take, one after the other,
from a connection that is open. Then the time of one publish inside a
request to an aiohttp server, which runs in a process of its own and is asked 200 times a second.
"""

import asyncio
import multiprocessing
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from aiohttp import ClientSession, web
from redis.asyncio import Redis

from streamops.runtime.publisher import Publisher
from streamops.wire.options import ConnectionOptions
from streamops.wire.urls import parse_url
from tests.support.programs import find_programs
from tests.support.servers import RunningServer

STREAM = "orders"
BODY: dict[Any, Any] = {"data": b"x" * 64}
ROUNDS = 11
ENTRIES, CALLERS = 2_000, 50
PUSHES = 100
MANY, AT_ONCE = 20_000, 500
REQUESTS, RATE = 3_000, 200

Way = Callable[[], Awaitable[object]]


class Contest(NamedTuple):
    """The same work by both."""

    name: str
    entries: int
    bare: Way
    ours: Way


def contests(bare: Redis, publisher: Publisher) -> tuple[Contest, ...]:
    """What is compared."""

    async def bare_one() -> object:
        return await bare.xadd(STREAM, BODY)

    async def our_one() -> object:
        return await publisher.publish(STREAM, BODY)

    async def bare_batches() -> None:
        for _ in range(MANY // AT_ONCE):
            pipeline = bare.pipeline(transaction=False)
            for _ in range(AT_ONCE):
                pipeline.xadd(STREAM, BODY)
            await pipeline.execute()

    async def our_batches() -> None:
        await publisher.publish_many(STREAM, (BODY for _ in range(MANY)))

    return (
        Contest("one by one", ENTRIES, in_turn(bare_one, ENTRIES), in_turn(our_one, ENTRIES)),
        Contest(f"{CALLERS} callers", ENTRIES * 5, by_callers(bare_one), by_callers(our_one)),
        Contest(f"batches of {AT_ONCE}", MANY, bare_batches, our_batches),
    )


def in_turn(one: Way, times: int) -> Way:
    """One after the other."""

    async def work() -> None:
        for _ in range(times):
            await one()

    return work


def by_callers(one: Way) -> Way:
    """By many tasks at once."""

    async def work() -> None:
        await asyncio.gather(*(in_turn(one, ENTRIES * 5 // CALLERS)() for _ in range(CALLERS)))

    return work


async def timed(running: RunningServer, way: Way) -> float:
    """Seconds, into an empty stream."""
    running.command("DEL", STREAM)
    began = time.perf_counter()
    await way()
    return time.perf_counter() - began


async def compare(running: RunningServer) -> list[str]:
    """One line a contest."""
    lines = []
    async with Publisher(running.tcp_options) as publisher, Redis(port=running.port) as bare:
        for name, entries, *ways in contests(bare, publisher):
            seconds = [[await timed(running, way) for way in ways] for _ in range(ROUNDS)]
            plain, mine = (statistics.median(column) for column in zip(*seconds, strict=True))
            ratios = sorted(row[0] / row[1] for row in seconds)
            lines.append(
                f"    {name:15} bare {entries / plain:8,.0f}/s   streamops {entries / mine:8,.0f}/s   "
                f"{plain / mine:4.2f} of bare (rounds {ratios[0]:.2f} to {ratios[-1]:.2f})"
            )
        lines.append(await time_pushes(running, bare, publisher))
    return lines


async def time_pushes(running: RunningServer, bare: Redis, publisher: Publisher) -> str:
    """What 100 pushes take, one after the other, by both in turn."""
    ways = (
        in_turn(lambda: bare.xadd(STREAM, BODY), PUSHES),
        in_turn(lambda: publisher.publish(STREAM, BODY), PUSHES),
    )
    seconds = [[await timed(running, way) for way in ways] for _ in range(ROUNDS)]
    plain, mine = (statistics.median(column) * 1e3 for column in zip(*seconds, strict=True))
    return f"    {PUSHES} pushes      bare {plain:8.1f} ms    streamops {mine:8.1f} ms"


def serve(url: str, pipe: Connection) -> None:
    """Serve requests that publish one entry each, until told to stop; then tell how long each publish took."""
    run(_serve(parse_url(url), pipe))


async def _serve(options: ConnectionOptions, pipe: Connection) -> None:
    took: dict[str, list[float]] = {"bare": [], "ours": []}
    async with Publisher(options) as publisher, Redis(port=options.addresses[0][1]) as bare:

        async def publish(request: web.Request) -> web.Response:
            name = request.match_info["way"]
            body: dict[Any, Any] = {"data": await request.read()}
            began = time.perf_counter()
            if name == "ours":
                await publisher.publish(STREAM, body)
            else:
                await bare.xadd(STREAM, body)
            took[name].append(time.perf_counter() - began)
            return web.Response()

        app = web.Application()
        app.router.add_post("/{way}", publish)
        runner = web.AppRunner(app)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        pipe.send(runner.addresses[0][1])
        await asyncio.to_thread(pipe.recv)
        await runner.cleanup()
    pipe.send(took)


async def ask(port: int) -> dict[str, list[float]]:
    """Ask at a steady rate, the two ways in turn; how long each request took."""
    took: dict[str, list[float]] = {"bare": [], "ours": []}
    async with ClientSession(f"http://127.0.0.1:{port}") as session:
        began = time.perf_counter()
        for number in range(2 * REQUESTS):
            await asyncio.sleep(max(0.0, began + number / RATE - time.perf_counter()))
            name = ("bare", "ours")[number % 2]
            sent = time.perf_counter()
            async with session.post(f"/{name}", data=BODY["data"]) as answer:
                assert answer.status == web.HTTPOk.status_code
            took[name].append(time.perf_counter() - sent)
    return took


async def in_a_request(running: RunningServer) -> list[str]:
    """What one publish takes inside a request, and the request around it."""
    context = multiprocessing.get_context("spawn")
    mine, theirs = context.Pipe()
    process = context.Process(target=serve, args=(running.url, theirs))
    process.start()
    requests = await ask(mine.recv())
    mine.send("stop")
    publishes: dict[str, list[float]] = mine.recv()
    process.join()
    names = {"bare": "redis-py", "ours": "streamops"}
    return [
        f"    in a request    {names[way]:9}  publish {_spread(publishes[way])}   whole request {_spread(requests[way])}"
        for way in ("bare", "ours")
    ]


def _spread(seconds: list[float]) -> str:
    ranked = sorted(seconds)
    p50, p99 = (ranked[len(ranked) * percent // 100] * 1e3 for percent in (50, 99))
    return f"p50 {p50:.2f} p99 {p99:.2f} ms"


def run(work: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - as the work says
    """Run on uvloop where it is installed, as the worker does."""
    try:
        import uvloop  # noqa: PLC0415 - an optional extra
    except ImportError:
        return asyncio.run(work)
    return uvloop.run(work)


def main() -> None:
    """Run it on every version found, or on those named."""
    wanted = sys.argv[1:]
    for program in find_programs():
        if not wanted or program.label in wanted:
            with RunningServer(program) as running:
                print(program.label, flush=True)
                print("\n".join(run(compare(running))), flush=True)
                print("\n".join(run(in_a_request(running))), flush=True)


if __name__ == "__main__":
    main()
