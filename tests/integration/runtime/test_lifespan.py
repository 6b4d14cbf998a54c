"""What workers live in, on a real server."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
import structlog

from streamops.errors import ExitCode, ServerError, SettingsError
from streamops.model.pools import WorkerState
from streamops.runtime import Entry, Streamops
from streamops.runtime.supervisor.supervisor import CannotStart, Supervisor
from tests.support.runtime.supervisor.running import orders_for, prepared, supervised
from tests.support.runtime.worker import add_fields, app_on
from tests.support.runtime.working import LONGEST_WAIT, until, working
from tests.support.servers import RunningServer

FAILING = """
from streamops.runtime import Entry, Streamops
app = Streamops()

@app.lifespan
async def fail(app):
    yield 1 / 0

@app.handler("jobs", group="g")
async def handle(entry: Entry): ...
"""


@dataclass
class Journal:
    lines: list[str]


@dataclass
class Order:
    order_id: str


class LoudJournal(Journal):
    """What a handler that takes the base is given, too."""


async def test_it_is_entered_before_reading_and_left_after_the_last_handler(server: RunningServer) -> None:
    app, journal, may_begin = app_on(server), LoudJournal([]), asyncio.Event()

    @app.lifespan
    @asynccontextmanager
    async def keep_journal(given: Streamops) -> AsyncIterator[Journal]:
        assert given is app
        await may_begin.wait()
        journal.lines.append("opened")
        yield journal
        journal.lines.append("closed")

    @app.handler("s", group="g", start="0")
    async def handle(journal: Journal, order: Order) -> None:
        journal.lines.append(f"begun {order.order_id}")
        worker.stop()
        await until(lambda: worker.state is WorkerState.DRAINING)
        journal.lines.append(f"ended {order.order_id}")

    add_fields(server, order_id="a")
    worker = app.worker()
    work = asyncio.create_task(worker.run())
    await until(lambda: app.handlers)
    assert server.command("EXISTS", "{s}:retry:g") == 0
    may_begin.set()
    async with asyncio.timeout(LONGEST_WAIT):
        await work
    assert journal.lines == ["opened", "begun a", "ended a", "closed"]


async def test_it_is_left_where_the_server_does_not_let_the_worker_start(server: RunningServer) -> None:
    app, told = app_on(server), list[str]()
    server.client.set("s", "no stream")

    @app.lifespan
    async def watch(_: Streamops) -> AsyncIterator[None]:
        try:
            yield
        finally:
            told.append("left")

    @app.handler("s", group="g")
    async def handle(entry: Entry) -> None: ...

    with pytest.raises(Exception, match="s"):
        async with working(app):
            pass
    assert told == ["left"]


async def test_an_error_when_it_is_left_is_told_in_one_line(server: RunningServer) -> None:
    app = app_on(server)

    @app.lifespan
    async def leave_badly(_: Streamops) -> AsyncIterator[None]:
        yield
        raise ValueError("the pool\nis gone")

    @app.handler("s", group="g")
    async def handle(entry: Entry) -> None: ...

    with pytest.raises(SettingsError) as raised:
        async with working(app):
            pass
    assert raised.value.message == "the lifespan failed when it was left: ValueError: the pool is gone"
    assert raised.value.hint.startswith("Raised at test_lifespan.py, line ")


async def test_our_own_errors_in_it_are_told_as_they_are(server: RunningServer) -> None:
    app = app_on(server)

    @app.lifespan
    async def connect(_: Streamops) -> AsyncIterator[None]:
        raise ServerError("redis://other does not answer", "Start it.")
        yield

    @app.handler("s", group="g")
    async def handle(entry: Entry) -> None: ...

    with pytest.raises(ServerError, match="redis://other does not answer"):
        async with working(app):
            pass


async def test_two_bodies_of_which_none_is_the_state_are_refused_at_the_start(server: RunningServer) -> None:
    app = app_on(server)

    @app.handler("s", group="g")
    async def handle(order: Order, journal: Journal) -> None: ...

    with pytest.raises(SettingsError, match="takes two bodies"):
        async with working(app):
            pass
    assert server.command("KEYS", "*") == []


async def test_a_supervisor_ends_where_no_worker_can_enter_it(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch, app=FAILING)
    with pytest.raises(CannotStart, match="the lifespan cannot be entered: ZeroDivisionError") as raised:
        await Supervisor(orders_for(server), 1).run()
    assert raised.value.exit_code is ExitCode.USAGE
    assert raised.value.hint == "Raised at shop.py, line 7."


async def test_an_error_when_it_is_left_is_logged_by_the_supervisor(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch, app=FAILING.replace("yield 1 / 0", "yield\n    1 / 0"))
    with structlog.testing.capture_logs() as logs:
        async with supervised(orders_for(server)) as (supervisor, running):
            await until(lambda: supervisor.processes.was_ready)
            supervisor.stop()
            async with asyncio.timeout(LONGEST_WAIT):
                assert await running is ExitCode.DONE
    (line,) = [line for line in logs if line["event"] == "worker failed as it ended"]
    assert line["how"] == "the lifespan failed when it was left: ZeroDivisionError: division by zero"
