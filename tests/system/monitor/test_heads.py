"""First entries after positions: remembered, but not past the server that had them."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

from streamops.errors import Unreachable
from streamops.model.lag import TimeLag
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from tests.chaos.watchers.lines import line
from tests.support.eventually import eventually
from tests.support.servers import RunningServer, StartServer

PATIENCE = timedelta(seconds=20)
BEGAN = datetime(2024, 1, 1, tzinfo=UTC)


def hour(number: int) -> datetime:
    return BEGAN + timedelta(hours=number)


def add_at_hours(server: RunningServer, *hours: int) -> None:
    for number in hours:
        server.command("XADD", "orders", f"{int(hour(number).timestamp())}000-0", "n", "1")


async def waiting_since(console: Console) -> datetime:
    """The time in the ID of the first entry that the group waits for."""
    snapshot = (await console.observe(["orders"])).snapshot
    told: TimeLag = snapshot.streams[0].groups[0].time_lag
    assert told.age is not None, told
    return snapshot.collected_at - told.age


async def test_what_a_failover_lost_is_waited_for_no_more(start_server: StartServer) -> None:
    primary, replica = (start_server("--repl-diskless-sync-delay", "0") for _ in range(2))
    add_at_hours(primary, 1)
    primary.command("XGROUP", "CREATE", "orders", "billing", "$")
    replica.command("REPLICAOF", "127.0.0.1", primary.port)
    await eventually(lambda: bool(replica.command("EXISTS", "orders")))
    replica.command("REPLICAOF", "NO", "ONE")
    # The replica never gets this one, and more than that come to it.
    add_at_hours(primary, 2)
    add_at_hours(replica, 3, 4)
    async with (
        line(primary.directory, "line", primary, PATIENCE) as way,
        await Console.open(way.options, Watch(deep=True)) as console,
    ):
        # The first time it is read otherwise, and not remembered.
        assert [await waiting_since(console) for _ in range(3)] == [hour(2)] * 3
        way.lead_to(replica.socket_path)
        way.proxy.cut()
        with suppress(Unreachable):
            await waiting_since(console)
        assert [await waiting_since(console) for _ in range(3)] == [hour(3)] * 3
