"""What holds a console's numbers against the truth finds every one that is wrong."""

from collections.abc import Sequence
from datetime import timedelta

import pytest
from msgspec.structs import replace

from streamops.model.ids import EntryId
from streamops.model.lag import Lag, LagBasis, TimeLag
from streamops.model.snapshot import Snapshot
from streamops.model.streams import ConsumerGroup
from tests.chaos.looking import Instant, instant
from tests.chaos.numbers import Onlooker
from tests.support.servers import RunningServer

IDS = tuple((number, 0) for number in range(1, 7))
BEFORE = Instant((2, 0), 2, IDS[:5], ())
AFTER = Instant((3, 0), 3, IDS, ())


def group(entries: int | None, basis: LagBasis, *, pending: int = 2) -> ConsumerGroup:
    bound = entries if entries is not None else 3
    return ConsumerGroup(
        name="g",
        consumers=1,
        pending=pending,
        last_delivered_id=EntryId(2, 0),
        entries_read=None,
        reported_lag=None,
        lag=Lag(entries, bound, bound, basis, "said so"),
        time_lag=TimeLag(timedelta()),
    )


@pytest.mark.parametrize("entries", [2, 3, 4])
def test_whatever_was_so_at_some_instant_is_right(server: RunningServer, entries: int) -> None:
    onlooker = Onlooker(server.options, lambda: server)
    onlooker._judge(group(entries, LagBasis.EXACT), BEFORE, AFTER)
    assert onlooker.wrong == []


@pytest.mark.parametrize(
    "wrong",
    [
        group(1, LagBasis.EXACT),
        group(5, LagBasis.REPORTED),
        group(3, LagBasis.EXACT, pending=5),
        replace(group(None, LagBasis.UPPER), lag=Lag(None, 0, 1, LagBasis.UPPER, "said so")),
        replace(group(None, LagBasis.LOWER), lag=Lag(None, 9, None, LagBasis.LOWER, "said so")),
    ],
    ids=["too few", "too many", "pending", "upper bound", "lower bound"],
)
def test_what_never_was_so_is_found(server: RunningServer, wrong: ConsumerGroup) -> None:
    onlooker = Onlooker(server.options, lambda: server)
    onlooker._judge(wrong, BEFORE, AFTER)
    assert onlooker.wrong


@pytest.mark.every_server("histories are played on each version")
async def test_a_console_is_asked_beside_the_server_itself(server: RunningServer) -> None:
    for number in range(5):
        server.command("XADD", "s", f"{number + 1}-0", "n", number)
    server.command("XGROUP", "CREATE", "s", "g", "0")
    server.command("XREADGROUP", "GROUP", "g", "c", "COUNT", 2, "STREAMS", "s", ">")
    server.command("XDEL", "s", "4-0")
    now = instant(server)
    assert now is not None
    assert (now.position, now.pending, now.unread) == ((2, 0), 2, 2)
    async with Onlooker(server.options, lambda: server) as onlooker:
        await onlooker.look()
    assert onlooker.wrong == []
    assert onlooker.readings.total() == 1


@pytest.mark.every_server("histories are played on each version")
async def test_what_was_pending_for_a_moment_was_so(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A group was made anew: what its worker had in hand is pending again, and then done."""
    server.command("XADD", "s", "1-0", "n", 1)
    server.command("XGROUP", "CREATE", "s", "g", "0")
    async with Onlooker(server.options, lambda: server) as onlooker:
        collect = onlooker._console.collect

        async def collect_meanwhile(streams: Sequence[str]) -> Snapshot:
            server.command("XCLAIM", "s", "g", "c", 0, "1-0", "FORCE", "JUSTID")
            try:
                return await collect(streams)
            finally:
                server.command("XACK", "s", "g", "1-0")

        monkeypatch.setattr(onlooker._console, "collect", collect_meanwhile)
        await onlooker.look()
    assert (onlooker.wrong, onlooker.readings.total()) == ([], 1)
