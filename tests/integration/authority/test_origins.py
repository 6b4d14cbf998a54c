"""Whoever adds an entry writes its fields: it is taken for another one only where workers or a replay say so."""

import pytest

from streamops.errors import StreamopsError
from streamops.operations.console import Console
from streamops.operations.replay.intent import ReplayIntent
from streamops.operations.streams_reclaim.intent import ReclaimIntent
from streamops.runtime import Entry, Reject, Streamops
from tests.support.monitor.dead_letters import do
from tests.support.runtime.worker import add_order
from tests.support.runtime.working import is_idle, until, working
from tests.support.servers import RunningServer

NOTES = "{s}:replayed"


async def handled_of(server: RunningServer, *, failing: str = "") -> list[tuple[str, str]]:
    """What a worker that knows entries again by their order handles until nothing is left: IDs and origins."""
    app, handled = Streamops(server.options), list[tuple[str, str]]()

    @app.handler("s", group="g", start="0", key="order")
    async def handle(entry: Entry) -> None:
        handled.append((entry.id, entry.origin_id))
        if entry.id == failing:
            raise Reject("no")

    async with working(app):
        await until(lambda: is_idle(server, "s"))
    return handled


@pytest.mark.parametrize("field", ["first", "second"])
async def test_entry_that_says_it_is_a_handled_one_is_a_duplicate_all_the_same(
    server: RunningServer, field: str
) -> None:
    one = add_order(server)
    assert await handled_of(server) == [(one, one)]
    add_order(server, "_so_origin_id", one if field == "first" else "1-1", "_so_origin_id", one)
    add_order(server, "_so_origin_id", one, "_so_replay_of", "1-1", "_so_attempt", "1")
    assert await handled_of(server) == []
    assert server.command("GET", "{s}:done:g:7") == one.encode()


async def test_letter_of_an_entry_that_claims_an_origin_does_not_hand_it_on(server: RunningServer) -> None:
    first = add_order(server)
    await handled_of(server)
    forged = str(server.command("XADD", "s", "*", "order", "8", "_so_origin_id", first).decode())
    assert await handled_of(server, failing=forged) == [(forged, forged)]
    async with await Console.open(server.options) as console:
        await do(console, ReplayIntent(queue="{s}:dlq"))
    ((again, origin),) = await handled_of(server)
    assert (again != forged, origin) == (True, forged)


async def test_replayed_entry_is_what_it_was_before(server: RunningServer) -> None:
    one = add_order(server)
    await handled_of(server, failing=one)
    async with await Console.open(server.options) as console:
        await do(console, ReplayIntent(queue="{s}:dlq"))
    ((again, origin),) = await handled_of(server)
    assert (again != one, origin) == (True, one)
    assert server.command("ZRANGE", NOTES, 0, -1) == [f"{again} {one}".encode()]
    assert 0 < server.command("TTL", NOTES) <= 7 * 24 * 3600


async def test_entry_reclaimed_by_adding_it_anew_keeps_the_key_of_its_dead_worker(
    server: RunningServer,
) -> None:
    server.command("XGROUP", "CREATE", "s", "g", "0", "MKSTREAM")
    one = add_order(server, "_so_origin_id", "1-1")
    server.command("XREADGROUP", "GROUP", "g", "dead", "STREAMS", "s", ">")
    server.command("SET", "{s}:done:g:7", one, "PX", 60_000)
    server.command("XCLAIM", "s", "g", "dead", 0, one, "IDLE", 120_000)
    async with await Console.open(server.options) as console:
        await do(console, ReclaimIntent(stream="s", group="g"))
    ((again, origin),) = await handled_of(server)
    assert (again != one, origin) == (True, one)


async def test_notes_of_another_type_refuse_a_replay_before_its_first_write(server: RunningServer) -> None:
    one = add_order(server)
    await handled_of(server, failing=one)
    server.command("SET", NOTES, "somebody's")
    async with await Console.open(server.options) as console:
        with pytest.raises(StreamopsError, match="replayed is no sorted set"):
            await do(console, ReplayIntent(queue="{s}:dlq"))
    assert (server.command("XLEN", "{s}:dlq"), server.command("XLEN", "s")) == (1, 1)
