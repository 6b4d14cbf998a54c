"""Removing entries together with their pending rows: XDELEX, and XTRIM's DELREF and ACKED, on Redis 8.2."""

from collections.abc import AsyncIterator

import pytest

from streamops.errors import ServerError
from streamops.model.entries import EntryId
from streamops.operations.console import Console
from streamops.operations.streams_rm_entry.intent import DeleteIntent
from streamops.operations.trim.intent import TrimIntent
from streamops.wire.faults import FaultKind
from streamops.wire.permissions import refused_writes
from streamops.wire.server import Server
from streamops.wire.writes.entries import (
    Deleting,
    TrimFloor,
    TrimMode,
    delete,
    has_xdelex,
    knows_references,
    trim_safely,
    trim_to,
)
from tests.support.operations.doing import applied, open_console
from tests.support.programs import PROGRAMS
from tests.support.servers import RunningServer, ServerPool
from tests.support.streams import pending_count
from tests.support.wire.fixtures import SetUser

STREAM = "orders"


@pytest.fixture
def server(server_pool: ServerPool) -> RunningServer:
    """Redis 8.2, the one version here that knows references."""
    found = [program for program in PROGRAMS if program.label == "redis-8.2"]
    if not found:
        pytest.skip("no Redis 8.2 on this machine")
    return server_pool.flushed(found[0])


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    """Three hundred entries 1-0 to 300-0: ``billing`` holds 51 to 100 of 100, ``audit`` is done with all."""
    for number in range(1, 301):
        server.command("XADD", STREAM, f"{number}-0", "n", number)
    for group in ("billing", "audit"):
        server.command("XGROUP", "CREATE", STREAM, group, "0")
    server.command("XREADGROUP", "GROUP", "billing", "w", "COUNT", 100, "STREAMS", STREAM, ">")
    server.command("XACK", STREAM, "billing", *(f"{number}-0" for number in range(1, 51)))
    server.command("XREADGROUP", "GROUP", "audit", "w", "NOACK", "STREAMS", STREAM, ">")
    async with await open_console(server) as opened:
        yield opened


async def test_exact_unsafe_trim_takes_pending_rows_along(server: RunningServer, console: Console) -> None:
    prepared = await console.prepare(TrimIntent(stream=STREAM, maxlen=170, exact=True, safe=False))
    assert any("DELREF" in effect for effect in prepared.plan.effects)
    assert (await applied(console, prepared)).applied == 130
    assert (server.command("XLEN", STREAM), pending_count(server, STREAM)) == (170, 0)


async def test_approximate_unsafe_trim_removes_and_says_which_rows_stay(
    server: RunningServer, console: Console
) -> None:
    prepared = await console.prepare(TrimIntent(stream=STREAM, maxlen=170, safe=False))
    assert any("50 pending rows" in warning and "--exact" in warning for warning in prepared.plan.warnings)
    assert (await applied(console, prepared)).applied == 100
    assert (server.command("XLEN", STREAM), pending_count(server, STREAM)) == (200, 50)


async def test_exact_safe_trim_goes_as_far_as_acked_lets_it(server: RunningServer, console: Console) -> None:
    prepared = await console.prepare(TrimIntent(stream=STREAM, maxlen=0, exact=True))
    assert any("ACKED" in effect for effect in prepared.plan.effects)
    assert (await applied(console, prepared)).applied == 50
    assert (server.command("XLEN", STREAM), pending_count(server, STREAM)) == (250, 50)


async def test_deleting_takes_pending_rows_along(server: RunningServer, console: Console) -> None:
    ids = tuple(EntryId(number, 0) for number in (60, 70, 250, 999))
    await applied(console, await console.prepare(DeleteIntent(stream=STREAM, ids=ids)))
    assert (server.command("XLEN", STREAM), pending_count(server, STREAM)) == (297, 48)


async def test_xdelex_that_is_not_permitted_is_refused_before_the_first_write(
    server: RunningServer, as_user: SetUser
) -> None:
    connection = await Server.connect(as_user("~*", "+@all", "-xdelex"))
    refused = await refused_writes(connection, [("XDELEX", STREAM), ("XDEL", STREAM)])
    await connection.close()
    assert [(command, why.kind) for command, _, why in refused] == [("XDELEX", FaultKind.DENIED)]
    assert server.command("EXISTS", STREAM) == 0


async def test_server_without_references_is_not_asked_and_refuses_untouched(server_pool: ServerPool) -> None:
    server = server_pool.flushed(next(program for program in PROGRAMS if program.label != "redis-8.2"))
    for number in range(1, 7):
        server.command("XADD", STREAM, f"{number}-0", "n", number)
    server.command("XGROUP", "CREATE", STREAM, "billing", "0")
    connection = await Server.connect(server.options)
    try:
        assert not await knows_references(connection, STREAM)
        assert not await has_xdelex(connection, STREAM)
        positions = (("billing", EntryId(0, 0)),)
        how = TrimMode(100, exact=True, references=True)
        with pytest.raises(ServerError):
            await delete(connection, Deleting(STREAM, positions, references=True), [EntryId(2, 0)])
        with pytest.raises(ServerError):
            await trim_to(connection, STREAM, TrimFloor(EntryId(5, 0), 0, positions), how)
        server.command("XGROUP", "SETID", STREAM, "billing", "6-0")
        with pytest.raises(ServerError):
            await trim_safely(connection, STREAM, 0, how)
    finally:
        await connection.close()
    assert server.command("XLEN", STREAM) == 6
