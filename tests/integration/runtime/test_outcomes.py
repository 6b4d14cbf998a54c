"""Settling what failed, in odd circumstances: whatever is raised, an entry is tried again or given up."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from streamops.model.pools import WorkerState
from streamops.runtime import Delays, Entry, Reject, RetryLater, Streamops
from streamops.runtime.entry import EntryState
from streamops.runtime.events import DeadLettered, Lost, Retried, Stuck, Troubled
from streamops.runtime.retry import LONGEST_DELAY, Schedule
from tests.support.runtime.consumer_streams import stream_of_ann
from tests.support.runtime.working import is_idle, until, working
from tests.support.servers import RunningServer
from tests.support.streams import add_entry, fields_of, pending_count


def failing(server: RunningServer, error: BaseException, **options: Any) -> Streamops:
    """An application that raises this for every entry."""
    app = Streamops(server.options)

    @app.handler("s", group="g", start="0", **options)
    async def handle() -> None:
        raise error

    return app


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


class Untimely(RetryLater):
    """Its author forgot what it needs."""

    def __init__(self) -> None:
        pass


@pytest.mark.parametrize("in_place", [True, False])
async def test_a_try_that_did_not_count_costs_none(server: RunningServer, *, in_place: bool) -> None:
    app, attempts = Streamops(server.options), list[int]()

    @app.handler("s", group="g", start="0", retry=0.01, in_place=in_place, max_attempts=2)
    async def handle(entry: Entry) -> None:
        attempts.append(entry.attempt)
        if len(attempts) in (1, 2, 4):
            raise RetryLater(0.01, counts=False)
        raise ValueError("no")

    add_entry(server, "s", "n", "1")
    async with working(app):
        await until(lambda: fields_of(server, "{s}:dlq"))
        await until(lambda: is_idle(server, "s"))
    assert attempts == [1, 1, 1, 2, 2]
    assert fields_of(server, "{s}:dlq")[0][b"_so_reason"] == b"max-deliveries"


async def test_a_try_that_did_not_count_leaves_no_mark(server: RunningServer) -> None:
    """Whoever takes the entry over counts on from there."""
    app, marks = Streamops(server.options), list[bytes | None]()

    @app.handler("s", group="g", start="0", in_place=True, max_attempts=2)
    async def handle(entry: Entry) -> None:
        marks.append(server.command("HGET", "{s}:attempts:g", entry.id))
        if len(marks) < 3:
            raise RetryLater(0.01, counts=False)

    add_entry(server, "s", "n", "1")
    async with working(app):
        await until(lambda: len(marks) == 3)
        await until(lambda: is_idle(server, "s"))
    assert marks == [None] * 3


async def test_an_entry_that_fails_while_the_worker_drains_is_handed_back_untried(
    server: RunningServer,
) -> None:
    app, attempts, held = Streamops(server.options), list[str](), asyncio.Event()

    @app.handler("s", group="g", start="0", in_place=True, retry=0.01, concurrency=2)
    async def handle(entry: Entry) -> None:
        attempts.append(entry.id)
        if entry.id == failing_id:
            await until(lambda: worker.state is WorkerState.DRAINING)
            raise ValueError("no")
        await held.wait()

    failing_id, slow_id = (add_entry(server, "s", "n", str(number)) for number in range(2))
    async with working(app) as worker:
        await until(lambda: len(attempts) == 2)
        worker.stop()
        executor = worker.runners[0].executor
        await until(lambda: worker.state is WorkerState.DRAINING and executor.busy == 1)
        assert not executor.waiting
        held.set()
    assert sorted(attempts) == sorted([failing_id, slow_id])
    (row,) = server.command("XPENDING", "s", "g", "-", "+", 10)
    assert row[0].decode() == failing_id


@pytest.mark.parametrize("error", [ValueError("\ud800"), Unspeakable()])
@pytest.mark.parametrize("deliveries", [1, 2])
async def test_errors_without_words_cost_no_worker(
    server: RunningServer, error: Exception, deliveries: int
) -> None:
    app = failing(server, error, retry=0, max_attempts=deliveries)
    add_entry(server, "s", "n", "1")
    async with working(app):
        await until(lambda: fields_of(server, "{s}:dlq"))
        await until(lambda: is_idle(server, "s"))
    (letter,) = fields_of(server, "{s}:dlq")
    assert letter[b"_so_error"].startswith(type(error).__name__.encode())


def raising(*_: object) -> float:
    raise Unspeakable


@pytest.mark.parametrize("schedule", [raising, lambda *_: "\ud800"])
async def test_schedules_without_words_cost_no_worker(server: RunningServer, schedule: Schedule) -> None:
    app, retried = failing(server, ValueError("no"), retry=schedule), list[Retried]()
    app.on(Retried)(retried.append)
    add_entry(server, "s", "n", "1")
    async with working(app):
        await until(lambda: retried)
    assert retried[0].reason.startswith("ValueError: no; its schedule: ")


async def test_an_error_that_nothing_can_be_decided_by_goes_to_the_dead_letters(
    server: RunningServer,
) -> None:
    app = failing(server, Untimely())
    add_entry(server, "s", "n", "1")
    async with working(app):
        await until(lambda: fields_of(server, "{s}:dlq"))
        await until(lambda: is_idle(server, "s"))
    assert b"counts" in fields_of(server, "{s}:dlq")[0][b"_so_error"]


@pytest.mark.parametrize("in_place", [True, False])
async def test_a_delay_without_end_is_a_long_one(server: RunningServer, *, in_place: bool) -> None:
    app, retried = failing(server, RetryLater(timedelta.max), in_place=in_place), list[Retried]()
    app.on(Retried)(retried.append)
    add_entry(server, "s", "n", "1")
    async with working(app) as worker:
        await until(lambda: retried)
        assert worker.in_flight == int(in_place)
    assert retried[0].delay == LONGEST_DELAY
    assert server.command("ZCARD", "{s}:delayed") == int(not in_place)


async def test_attempts_are_told_by_entries_of_the_retry_stream_alone(server: RunningServer) -> None:
    app, attempts = Streamops(server.options), list[int]()

    @app.handler("s", group="g", start="0")
    async def handle(entry: Entry) -> None:
        attempts.append(entry.attempt)

    server.command("XADD", "{s}:retry:g", "*", "n", "1", "_so_attempt", "9" * 5_000)
    server.command("XADD", "{s}:retry:g", "*", "n", "1", "_so_attempt", "3")
    add_entry(server, "s", "n", "1", "_so_attempt", "9" * 5_000)
    add_entry(server, "s", "n", "1", "_so_attempt", "4")
    server.command("XGROUP", "CREATE", "s", "g", "0")
    server.command("XREADGROUP", "GROUP", "g", "so-dead-1-abcd", "COUNT", "1", "STREAMS", "s", ">")
    async with working(app):
        await until(lambda: is_idle(server, "s"))
    assert sorted(attempts) == [1, 1, 2, 3]


@pytest.mark.parametrize("said", [b"", b"0", b"-1", b"1.5", "\u0663".encode(), b"9" * 10])
def test_what_is_no_number_of_attempts_is_the_first(said: bytes) -> None:
    entry = Entry(stream_of_ann(retries=True), b"1-0", [b"_so_attempt", said], 0.0)
    entry.number(5)
    assert entry.attempt == 1


async def test_entries_that_wait_with_their_worker_are_bounded_in_number(server: RunningServer) -> None:
    app = failing(server, ValueError("no"), retry=0.1, in_place=True, prefetch=20, concurrency=2)
    for _ in range(100):
        add_entry(server, "s", "n", "1")
    most = 0
    async with working(app) as worker:
        (runner,) = worker.runners
        await until(lambda: len(runner.executor.waiting) >= 20)
        for _ in range(20):
            await asyncio.sleep(0.01)
            most = max(most, worker.in_flight)
        await until(lambda: len(fields_of(server, "{s}:dlq")) >= 20)
    assert most <= 50


@pytest.mark.parametrize("in_place", [True, False])
async def test_an_entry_that_is_gone_when_its_handler_fails_has_a_letter(
    server: RunningServer, *, in_place: bool
) -> None:
    app, told, dead = Streamops(server.options), list[BaseException](), list[DeadLettered]()
    noticed = asyncio.Event()
    app.on(DeadLettered)(dead.append)
    app.on(Lost)(lambda _: noticed.set())

    def failed(_: Entry, error: BaseException) -> None:
        told.append(error)

    @app.handler(
        "s",
        group="g",
        start="0",
        retry=Delays((0.05,)),
        in_place=in_place,
        max_attempts=2,
        lease=0.3,
        failed=failed,
    )
    async def handle(entry: Entry) -> None:
        server.command("XDEL", "s", entry.id)
        await noticed.wait()
        raise ValueError("no such customer")

    born = add_entry(server, "s", "n", "1")
    async with working(app):
        await until(lambda: fields_of(server, "{s}:dlq"))
        await until(lambda: pending_count(server, "s", "g") == 0)
    (letter,) = fields_of(server, "{s}:dlq")
    assert letter[b"_so_origin_id"] == born.encode()
    assert letter[b"_so_reason"] == b"payload-missing"
    assert b"no such customer" in letter[b"_so_error"]
    assert [str(error) for error in told] == ["no such customer"]
    assert [one.entry_id for one in dead] == [born]


async def test_failure_hook_is_not_called_for_an_entry_that_another_consumer_has_claimed(
    server: RunningServer,
) -> None:
    app, failed, ended = Streamops(server.options), list[str](), asyncio.Event()

    @app.handler("s", group="g", start="0", failed=lambda entry, _: failed.append(entry.id))
    async def handle(entry: Entry) -> None:
        if ended.is_set():
            return
        server.command("XCLAIM", "s", "g", "other", 0, entry.id)
        ended.set()
        raise Reject("no")

    add_entry(server, "s", "n", "1")
    async with working(app):
        await ended.wait()
        await until(lambda: pending_count(server, "s", "g") == 1)
    assert failed == []
    assert fields_of(server, "{s}:dlq") == []


async def test_entry_that_another_consumer_claims_while_its_start_cannot_be_marked_leaves_the_worker(
    server: RunningServer,
) -> None:
    app = Streamops(replace(server.options, timeout=timedelta(seconds=0.2)))
    started, free, troubled = asyncio.Event(), asyncio.Event(), list[Troubled]()
    app.events.on(Troubled, troubled.append)

    @app.handler("s", group="g", start="0", concurrency=1, max_attempts=1)
    async def handle() -> None:
        started.set()
        await free.wait()

    for number in "12":
        add_entry(server, "s", "n", number)
    async with working(app) as worker:
        await started.wait()
        (consumer,) = worker.runners[0].consumers
        await until(lambda: len(consumer.main.in_flight) == 2)
        _, second = consumer.main.in_flight.values()
        server.pause()
        free.set()
        await until(lambda: second.state is EntryState.RUNNING and troubled)
        # As the heartbeat has it.
        second.lost = True
        server.resume()
        await until(lambda: not consumer.main.in_flight)
        assert second.state is EntryState.LOST


async def test_failure_hook_is_called_for_an_entry_whose_only_start_killed_its_worker(
    server: RunningServer,
) -> None:
    app, failed = Streamops(server.options), list[str]()

    @app.handler(
        "s",
        group="g",
        start="0",
        retry=None,
        max_attempts=1,
        failed=lambda _, error: failed.append(str(error)),
    )
    async def handle() -> None:
        raise AssertionError("it was started again")

    entry_id = add_entry(server, "s", "n", "1")
    server.command("XGROUP", "CREATE", "s", "g", "0")
    server.command("XREADGROUP", "GROUP", "g", "so-killed-1-abcd", "STREAMS", "s", ">")
    server.command("XCLAIM", "s", "g", "so-killed-1-abcd", 0, entry_id, "IDLE", 3_600_000)
    server.command("HSET", "{s}:attempts:g", entry_id, 1)
    async with working(app):
        await until(lambda: bool(failed))
    assert failed == ["delivered 3 times, started 1 times, never finished"]
    assert fields_of(server, "{s}:dlq")[0][b"_so_reason"] == b"max-deliveries"


async def test_what_settling_itself_stumbles_over_costs_no_worker(server: RunningServer) -> None:
    """A handler may spoil its entry; it stays pending, and is told of."""
    app, stuck = Streamops(server.options), list[Stuck]()
    app.on(Stuck)(stuck.append)

    @app.handler("s", group="g", start="0", retry=None)
    async def handle(entry: Entry) -> None:
        entry.idempotency_key = "\ud800"
        raise ValueError("no")

    add_entry(server, "s", "n", "1")
    async with working(app) as worker:
        await until(lambda: stuck)
        assert worker.in_flight == 1
    assert "UnicodeEncodeError" in stuck[0].reason


async def test_rejected_entry_that_somebody_claimed_meanwhile_is_not_told_as_dead_lettered(
    server: RunningServer,
) -> None:
    app, events = Streamops(server.options), list[object]()
    app.events.on(DeadLettered, events.append)

    @app.handler("s", group="g", start="0")
    async def handle(entry: Entry) -> None:
        server.command("XCLAIM", "s", "g", "bob", 0, entry.id)
        raise Reject("no")

    add_entry(server, "s", "n", 1)
    async with working(app) as worker:
        await until(lambda: worker.counts[0].failures and not worker.in_flight)
    assert (events, dict(worker.counts[0].dead_lettered)) == ([], {})
    assert server.command("EXISTS", "{s}:dlq", "s:dlq") == 0
    assert pending_count(server, "s", "g") == 1
