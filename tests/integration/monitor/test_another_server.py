"""What was learnt from one server is not told of another that answers in its place, however alike their counts are."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest

from streamops.errors import Unreachable
from streamops.model.lag import LagBasis
from streamops.monitor.counting import CountBudget
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.wire.server import Server
from streamops.wire.stream_reader import LARGE_BYTES
from tests.chaos.watchers.lines import line
from tests.support.monitor.lag_watching import STREAM, TIGHT, Watcher, exact, group_at, interrupt
from tests.support.servers import RunningServer, StartServer
from tests.support.streams import add_numbered

PATIENCE = timedelta(seconds=20)
BEGAN = datetime(2024, 1, 1, tzinfo=UTC)


def hour(number: int) -> datetime:
    return BEGAN + timedelta(hours=number)


def entry(number: int) -> str:
    return f"{int(hour(number).timestamp())}000-0"


def add_twenty_entries_two_deleted(server: RunningServer, size: int, deleted: int) -> None:
    """Twenty entries, of which the group was given ten, and two are deleted: this one and the fifteenth."""
    for number in range(1, 21):
        server.command("XADD", STREAM, entry(number), "n", "x" * size)
    server.command("XGROUP", "CREATE", STREAM, "billing", entry(10))
    server.command("XDEL", STREAM, entry(deleted), entry(15))


async def told(console: Console) -> tuple[int | None, LagBasis, datetime | None]:
    """How much waits, how that is known, and since when."""
    snapshot = await console.collect([STREAM])
    group = snapshot.streams[0].groups[0]
    age = group.time_lag.age
    return group.lag.entries, group.lag.basis, None if age is None else snapshot.collected_at - age


@pytest.mark.parametrize("deep", [False, True], ids=["console", "exporter"])
@pytest.mark.parametrize("size", [10, LARGE_BYTES + 1], ids=["light", "heavy"])
async def test_nothing_is_told_of_another_server_with_the_same_counts(
    start_server: StartServer,
    deep: bool,  # noqa: FBT001 - a parameter
    size: int,
) -> None:
    """One lost a deletion ahead of the group and got one behind it: length, ends and counters are the same."""
    former, present = start_server(), start_server()
    add_twenty_entries_two_deleted(former, size, deleted=11)
    add_twenty_entries_two_deleted(present, size, deleted=5)
    async with (
        line(former.directory, "line", former, PATIENCE) as way,
        await Console.open(way.options, Watch(deep=deep)) as console,
    ):
        # Until all that can be remembered is.
        before = [await told(console) for _ in range(5)]
        way.lead_to(present.socket_path)
        way.proxy.cut()
        with suppress(Unreachable):
            await told(console)
        after = [await told(console) for _ in range(3)]
    assert before == [(8, LagBasis.EXACT, hour(12))] * 5
    assert after == [(9, LagBasis.EXACT, hour(11))] * 3


async def test_a_count_at_another_server_than_was_read_is_no_lag(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was counted behind the position leans on the reading: it was made elsewhere."""
    server = start_server("--enable-debug-command", "yes")
    add_numbered(server, STREAM, 1, 100)
    group_at(server, 8)
    server.command("XDEL", STREAM, "90-1")
    connected = await Server.connect(server.options)
    try:
        watcher = Watcher(connected, TIGHT)
        interrupt(monkeypatch, lambda: server.command("DEBUG", "CHANGE-REPL-ID"))
        assert not (await watcher.lag()).known
        assert exact(await watcher.lag()) == 91
    finally:
        await connected.close()


async def test_a_report_is_not_checked_by_a_count_at_another_server(
    start_server: StartServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = start_server("--enable-debug-command", "yes")
    add_numbered(server, STREAM, 1, 50)
    server.command("XGROUP", "CREATE", STREAM, "billing", "10-1", "ENTRIESREAD", 20)
    connected = await Server.connect(server.options)
    try:
        watcher = Watcher(connected, CountBudget())
        interrupt(monkeypatch, lambda: server.command("DEBUG", "CHANGE-REPL-ID"))
        assert (await watcher.lag()).basis is LagBasis.REPORTED
        assert exact(await watcher.lag()) == 40
    finally:
        await connected.close()
