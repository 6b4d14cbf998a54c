"""Queues of delayed messages by a configured name, and those whose stream does not exist."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from streamops.errors import Forbidden
from streamops.operations.console import Console
from streamops.operations.delayed.intent import CancelDelayedIntent, RunDelayedIntent
from tests.support.operations.engine.delayed_names import NAMED, act, open_at, publishing
from tests.support.servers import RunningServer


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    async with await open_at(server.options, delayed=NAMED) as opened:
        yield opened


def queues(server: RunningServer) -> list[bytes]:
    return sorted(key for key in server.command("KEYS", "*") if not key.startswith(b"streamops:"))


async def test_all_of_it_goes_by_the_configured_name(
    server: RunningServer, console: Console, tmp_path: Path
) -> None:
    for ident in ("a", "b", "c"):
        assert (await act(console, publishing(ident))).applied == 1
    assert queues(server) == [b"later", b"later:jobs"]
    page = await console.delayed.page("orders", 10)
    assert [message.id for message in page.messages] == ["a", "b", "c"]
    with pytest.raises(Forbidden, match="has a delayed message a already"):
        await console.prepare(publishing("a"))
    file = str(tmp_path / "cancelled.jsonl")
    assert (await act(console, CancelDelayedIntent(stream="orders", ids=("a",), backup=file))).applied == 1
    assert (await act(console, RunDelayedIntent(stream="orders", ids=("b",)))).applied == 1
    assert server.command("ZRANGE", "later", 0, -1) == server.command("HKEYS", "later:jobs") == [b"c"]
    assert server.command("XLEN", "orders") == 1


async def test_permission_is_asked_for_that_name(server: RunningServer, console: Console) -> None:
    prepared = await console.prepare(publishing("a"))
    writes = prepared.operation.writes_of(prepared.intent)
    assert {key for _, key in writes} == {"later", "later:jobs"}
    assert server.command("EXISTS", "later") == 0


async def test_a_queue_is_found_by_its_name_though_its_stream_does_not_exist(
    server: RunningServer,
) -> None:
    async with await open_at(server.options) as console:
        for stream in ("ghost", "{shop}:carts", "orders:eu"):
            await act(console, publishing("a", stream))
        server.command("ZADD", "no-braces:delayed", 1, "x")
        server.command("SET", "{text}:delayed", "x")
        found = await console.find_delayed()
        assert ([queue.stream for queue in found.queues], found.complete, found.gaps) == (
            ["ghost", "orders:eu", "{shop}:carts"],
            True,
            (),
        )


async def test_only_where_its_stream_would_be_looked_at(server: RunningServer) -> None:
    async with await open_at(server.options) as console:
        for stream in ("ghost", "orders:eu", "orders:scratch"):
            await act(console, publishing("a", stream))
    watch = {"streams": ("orders:*",), "exclude": ("*:scratch",)}
    async with await open_at(server.options, **watch) as console:
        found = await console.find_delayed()
        assert ([queue.stream for queue in found.queues], found.complete) == (["orders:eu"], True)


async def test_where_streams_are_named_nothing_is_looked_for(server: RunningServer) -> None:
    async with await open_at(server.options, delayed=NAMED) as console:
        for stream in ("ghost", "orders"):
            await act(console, publishing("a", stream))
    async with await open_at(server.options, streams=("ghost",), delayed=NAMED) as console:
        server.command("CONFIG", "RESETSTAT")
        found = await console.find_delayed()
        assert ([queue.stream for queue in found.queues], found.complete) == (["ghost", "orders"], False)
    assert "cmdstat_scan" not in server.client.info("commandstats")
