"""Retention policies on real servers: each stream for itself."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from streamops.errors import Forbidden
from streamops.model.acting import Actor, Confirmation, Limits
from streamops.model.retention import RetentionPolicy
from streamops.monitor.thresholds import Thresholds
from streamops.monitor.watch import Watch
from streamops.operations.console import Console
from streamops.operations.retention import apply_retention, prepare_retention
from tests.support.servers import RunningServer

POLICIES = (
    RetentionPolicy(streams=("orders",), maxlen=2, exact=True),
    RetentionPolicy(streams=("*",), maxlen=5, exact=True),
)
ALL_READ = ("orders", "payments", "orders:dlq", "{orders}:retry:billing", "streamops:audit")


@pytest.fixture
async def console(server: RunningServer) -> AsyncIterator[Console]:
    server.command("XADD", "short", "1-0", "n", "0")
    for stream in (*ALL_READ, "lonely"):
        for number in range(10):
            server.command("XADD", stream, f"{number + 1}-0", "n", number)
        if stream != "lonely":
            server.command("XGROUP", "CREATE", stream, "g", "$")
    watch = Watch(dead_letters={"payments": "payments-failed"})
    async with await Console.open(server.options, watch, Thresholds(), actor=Actor()) as opened:
        yield opened


async def test_each_stream_is_trimmed_by_its_policy(server: RunningServer, console: Console) -> None:
    trims = await prepare_retention(console, POLICIES, Limits())
    assert {trim.row.stream: (trim.row.bound, trim.row.removable) for trim in trims} == {
        "lonely": ("--maxlen 5 --exact", 0),
        "orders": ("--maxlen 2 --exact", 8),
        "payments": ("--maxlen 5 --exact", 5),
        "short": ("--maxlen 5 --exact", 0),
    }
    rows = {row.stream: row for row in await apply_retention(console, trims, Confirmation(yes=True))}
    assert {name: row.removed for name, row in rows.items()} == {
        "lonely": None,
        "orders": 8,
        "payments": 5,
        "short": 0,
    }
    # A stream that nobody reads is kept, which is no failure; within its bound, nothing is to be said of it.
    assert (rows["lonely"].problem, "no group" in rows["lonely"].held_back_by) == ("", True)
    assert (rows["short"].problem, rows["short"].held_back_by) == ("", "")
    lengths = {name: server.command("XLEN", name) for name in (*ALL_READ, "lonely")}
    audited = lengths.pop("streamops:audit")
    assert audited > 10
    assert lengths == {
        "orders": 2,
        "payments": 5,
        "orders:dlq": 10,
        "{orders}:retry:billing": 10,
        "lonely": 10,
    }


async def test_what_cannot_be_applied_keeps_no_other_from_it(server: RunningServer, console: Console) -> None:
    trims = await prepare_retention(console, POLICIES, Limits())
    server.command("DEL", "orders")
    rows = {row.stream: row for row in await apply_retention(console, trims, Confirmation(yes=True))}
    assert rows["orders"].problem
    assert rows["payments"].removed == 5


async def test_nothing_is_done_without_consent(server: RunningServer, console: Console) -> None:
    trims = await prepare_retention(console, POLICIES, Limits())
    rows = await apply_retention(console, trims, Confirmation())
    assert {row.stream: bool(row.problem) for row in rows} == {
        "lonely": False,
        "orders": True,
        "payments": True,
        "short": False,
    }
    assert server.command("XLEN", "orders") == 10
    console.engine.read_only = True
    with pytest.raises(Forbidden):
        console.engine.forbid_if_read_only()


async def test_once_stopped_the_rest_is_left(server: RunningServer, console: Console) -> None:
    trims = await prepare_retention(console, POLICIES, Limits())
    stop = asyncio.Event()
    stop.set()
    rows = await apply_retention(console, trims, Confirmation(yes=True), stop=stop)
    assert [row.removed for row in rows] == [None] * 4
    assert server.command("XLEN", "orders") == 10


async def test_the_limit_holds_for_each_stream(console: Console) -> None:
    trims = await prepare_retention(console, POLICIES, Limits(max_count=6))
    assert {trim.row.stream: bool(trim.row.problem) for trim in trims} == {
        "lonely": False,
        "orders": True,
        "payments": False,
        "short": False,
    }
