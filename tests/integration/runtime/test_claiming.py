"""Who is taken for dead: consumers of ours, and only where neither heartbeat nor anything else tells that they live."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta

from streamops.runtime import Entry, Streamops, WorkerOptions
from streamops.runtime.claiming import Claimer
from streamops.runtime.consumer import Source
from streamops.wire.keys import worker_key
from streamops.wire.server import Server
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
    running: RunningServer, beat: timedelta, steady: Callable[[], bool] = lambda: True
) -> AsyncIterator[tuple[Claimer, Source]]:
    """Somebody who looks around when told to; the worker's own look is an hour away."""
    app = Streamops(running.options)

    @app.handler("s", group="g", start="0", lease=LONG)
    async def handle(_: Entry) -> None: ...

    async with working(app, WorkerOptions(beat=LONG)) as worker:
        runner = worker.runners[0]
        source, server = runner.sources[0], Server(running.options)
        try:
            yield (
                Claimer(server, source, runner.executor, beat=beat, steady=steady, emit=lambda _: None),
                source,
            )
        finally:
            await server.close()


async def test_a_worker_that_beats_is_not_dead_however_idle(server: RunningServer) -> None:
    leave_behind(server, OURS)
    server.command("HSET", worker_key(OURS), "beat_ms", 1)
    async with looking(server, AT_ONCE) as (recovery, source):
        await until(lambda: idle_ms(server, OURS) > 10)
        await recovery._claim_from_dead(source.stream)
        assert pending_owners(server, "s", "g") == [OURS]
        server.command("DEL", worker_key(OURS))
        await recovery._claim_from_dead(source.stream)
        await until(lambda: is_idle(server, "s"))


async def test_who_read_a_moment_ago_is_not_dead_though_it_does_not_beat(server: RunningServer) -> None:
    leave_behind(server, OURS)
    async with looking(server, LONG) as (recovery, source):
        await recovery._claim_from_dead(source.stream)
        assert pending_owners(server, "s", "g") == [OURS]


async def test_strangers_without_a_heartbeat_are_not_dead(server: RunningServer) -> None:
    leave_behind(server, STRANGER)
    async with looking(server, AT_ONCE) as (recovery, source):
        await until(lambda: idle_ms(server, STRANGER) > 10)
        await recovery._claim_from_dead(source.stream)
        assert pending_owners(server, "s", "g") == [STRANGER]


async def test_nobody_is_dead_as_long_as_our_own_beats_went_unheard(server: RunningServer) -> None:
    leave_behind(server, OURS)
    answers = list[bool]()

    def steady() -> bool:
        answers.append(len(answers) >= 5)
        return answers[-1]

    async with looking(server, AT_ONCE, steady) as (recovery, _):
        running = asyncio.create_task(recovery.run())
        await until(lambda: len(answers) >= 4 or is_idle(server, "s"))
        assert pending_owners(server, "s", "g") == [OURS]
        await until(lambda: is_idle(server, "s"))
        running.cancel()
        await asyncio.wait({running})


async def test_a_lease_runs_from_when_an_entry_was_asked_for(server: RunningServer) -> None:
    """The answer may come late, and the entry be somebody else's by then."""
    leave_behind(server, STRANGER)
    async with looking(server, LONG) as (recovery, source):
        server.pause()
        taking = asyncio.create_task(recovery._sweep(source.stream))
        await asyncio.sleep(0.05)
        asked_by = asyncio.get_running_loop().time()
        server.resume()
        source.stream.finish = lambda _: None
        await taking
        (entry,) = source.stream.in_flight.values()
        assert entry.leased_at < asked_by
