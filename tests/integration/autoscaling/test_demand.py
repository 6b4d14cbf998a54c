"""What a pool's work is read to be, on every version of the server: counters of which some do not count."""

from typing import Any

from streamops.autoscaling.demand import DemandReader, Seen
from streamops.model.pools import Demand, PoolSize
from streamops.operations.console import Console
from tests.support.autoscaling.pools import GROUP, POOL, STREAM, add_waiting, console_on, options
from tests.support.servers import RunningServer

(ASSIGNMENT,) = options().assignments
SIZE = PoolSize(ordered=2)


class Looking:
    """One pool, looked at again and again."""

    def __init__(self, server: RunningServer, console: Console) -> None:
        self.server, self._console = server, console
        self._demand = DemandReader(console.pools, ASSIGNMENT)

    async def look(self, size: PoolSize = SIZE) -> tuple[Demand, PoolSize]:
        snapshot = await self._console.collect([STREAM])
        seen = Seen(snapshot, {one.name: one for one in snapshot.streams})
        (staff,) = await self._console.pools.of_pools([POOL], seen.now)
        assert not isinstance(staff, Exception)
        return await self._demand.read(seen, staff, size)

    async def counts(self) -> tuple[int, int]:
        demand, _ = await self.look()
        return demand.added, demand.acked

    def add(self, count: int, *trim: str) -> None:
        for number in range(count):
            self.server.command("XADD", STREAM, *trim, "*", "n", number)

    def read(self, count: int) -> list[Any]:
        told = self.server.command("XREADGROUP", "GROUP", GROUP, "c", "COUNT", count, "STREAMS", STREAM, ">")
        return [entry for entry, _ in told[0][1]]

    def ack(self, entries: list[Any]) -> None:
        self.server.command("XACK", STREAM, GROUP, *entries)


async def test_what_came_and_was_done_with_is_counted_however_little_the_server_counts(
    server: RunningServer,
) -> None:
    add_waiting(server, entries=20)
    async with console_on(server) as console:
        pool = Looking(server, console)
        assert await pool.counts() == (0, 0)
        pool.add(30)
        taken = pool.read(25)
        assert await pool.counts() == (30, 0)
        pool.ack(taken[:10])
        assert await pool.counts() == (30, 10)
        # Trimming goes as far as what was read: on 6.2 nothing but a count tells how much came.
        pool.add(40, "MAXLEN", "65")
        pool.ack(taken[10:])
        assert await pool.counts() == (70, 25)
        pool.ack(pool.read(65))
        assert await pool.counts() == (70, 90)
        assert await pool.counts() == (70, 90)
        server.command("XGROUP", "SETID", STREAM, GROUP, "0")
        assert await pool.counts() == (70, 90)
        pool.ack(pool.read(30))
        added, acked = await pool.counts()
        assert (added, acked > 90) == (70, True)
        server.command("DEL", STREAM)
        add_waiting(server, entries=5)
        added, _ = await pool.counts()
        # Without counters a stream made anew looks like one that was trimmed; its entries are new all the same.
        assert added == (75 if server.program.version < (7,) else -1)


async def test_as_many_are_ready_as_beat(server: RunningServer) -> None:
    add_waiting(server)
    async with console_on(server) as console:
        pool = Looking(server, console)
        # Nobody beats: they are of another library, and the target is believed.
        assert (await pool.look(PoolSize(ordered=4, ready=4)))[1].ready == 4
        assert (await pool.look(PoolSize(ordered=4)))[1].ready is None
        seconds, _ = server.client.time()
        for name, state in (("a", "running"), ("b", "paused"), ("c", "draining")):
            server.command("HSET", f"streamops:roster:{POOL}", name, f"{seconds * 1000} 16 4 9.0 {state}")
        server.command(
            "HSET", f"streamops:roster:{POOL}", "late", f"{seconds * 1000 - 60_000} 16 4 9.0 running"
        )
        for told, ready in ((4, 2), (None, 2), (1, 1)):
            demand, size = await pool.look(PoolSize(ordered=4, ready=told))
            assert (size.ready, demand.ready) == (ready, ready)
        assert demand.busy == 0.25
        # All of them died: what the target tells is of processes that do not work.
        server.command("DEL", f"streamops:roster:{POOL}")
        assert (await pool.look(PoolSize(ordered=4, ready=4)))[1].ready == 0
