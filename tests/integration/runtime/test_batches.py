"""Batches: one entry that cannot be handled costs the others nothing."""

import asyncio

import msgspec
import pytest

from streamops.runtime import Entry, Reject, Streamops
from tests.support.runtime.working import is_idle, until, working
from tests.support.servers import RunningServer
from tests.support.streams import deliver


class Order(msgspec.Struct):
    order_id: str
    bad: bool = False


def add_good_or_bad(server: RunningServer, number: int, bad: str = "false") -> None:
    server.command("XADD", "s", "*", "order_id", number, "bad", bad)


def reasons(server: RunningServer) -> list[bytes]:
    letters = server.command("XRANGE", "{s}:dlq", "-", "+")
    return [dict(zip(raw[::2], raw[1::2], strict=True))[b"_so_reason"] for _, raw in letters]


async def test_what_cannot_be_decoded_is_given_up_alone(server: RunningServer) -> None:
    app, sizes, seen = Streamops(server.options), list[int](), list[str]()

    @app.handler("s", group="g", start="0", batch=10, linger=0.5, concurrency=1)
    async def handle(orders: list[Order], entries: list[Entry]) -> list[None]:
        assert [entry.get("order_id") for entry in entries] == [order.order_id.encode() for order in orders]
        sizes.append(len(orders))
        seen.extend(order.order_id for order in orders)
        return [None for _ in orders]

    for number in range(10):
        add_good_or_bad(server, number, bad="perhaps" if number in (3, 7) else "false")
    async with working(app):
        await until(lambda: is_idle(server, "s"))
    assert sum(sizes) == 8
    assert max(sizes) > 1
    assert sorted(seen) == [str(number) for number in range(10) if number not in (3, 7)]
    assert reasons(server) == [b"undecodable", b"undecodable"]


@pytest.mark.parametrize(
    ("error", "reason"), [(ValueError("no"), b"max-deliveries"), (Reject("no"), b"rejected")]
)
async def test_one_that_fails_takes_no_other_with_it(
    server: RunningServer, error: Exception, reason: bytes
) -> None:
    app, seen, sizes = Streamops(server.options), list[str](), list[int]()

    @app.handler("s", group="g", start="0", batch=20, linger=0.3, retry=0.01, max_attempts=3)
    async def handle(orders: list[Order]) -> None:
        sizes.append(len(orders))
        if any(order.bad for order in orders):
            raise error
        seen.extend(order.order_id for order in orders)

    for number in range(20):
        add_good_or_bad(server, number, bad="true" if number == 7 else "false")
    async with working(app):
        await until(lambda: len(seen) == 19 and reasons(server))
        await until(lambda: is_idle(server, "s"))
    assert max(sizes) > 1
    assert len(set(seen)) == len(seen) == 19
    assert reasons(server) == [reason]


async def test_results_of_another_number_are_a_failure(server: RunningServer) -> None:
    app, attempts = Streamops(server.options), dict[str, int]()

    @app.handler("s", group="g", start="0", batch=5, linger=0.2, concurrency=1, retry=0.01)
    async def handle(entries: list[Entry]) -> list[None]:
        attempts.update((entry.origin_id, entry.attempt) for entry in entries)
        return [None]

    for number in range(5):
        add_good_or_bad(server, number)
    async with working(app):
        await until(lambda: len(attempts) == 5)
        await until(lambda: is_idle(server, "s"))
    assert set(attempts.values()) == {2}


async def test_a_result_that_is_a_cancellation_is_a_failure(server: RunningServer) -> None:
    app, attempts = Streamops(server.options), list[int]()

    @app.handler("s", group="g", start="0", batch=5, retry=0.01)
    async def handle(entries: list[Entry]) -> list[BaseException | None]:
        attempts.extend(entry.attempt for entry in entries)
        return [asyncio.CancelledError() if entry.attempt == 1 else None for entry in entries]

    add_good_or_bad(server, 1)
    async with working(app):
        await until(lambda: attempts == [1, 2])
        await until(lambda: is_idle(server, "s"))


def scripts_run(server: RunningServer) -> int:
    calls: int = server.client.info("commandstats").get("cmdstat_evalsha", {}).get("calls", 0)
    return calls


@pytest.mark.parametrize("retry", [0.5, None])
async def test_many_failures_are_settled_in_few_calls(server: RunningServer, retry: float | None) -> None:
    app, failed = Streamops(server.options), list[int]()

    @app.handler("s", group="g", start="0", batch=500, concurrency=1, linger=1, retry=retry)
    async def handle(entries: list[Entry]) -> None:
        failed.append(len(entries))
        if entries[0].attempt == 1:
            raise ValueError("no")

    for number in range(500):
        add_good_or_bad(server, number)
    before = scripts_run(server)
    async with working(app) as worker:
        counts = worker.runners[0].counts
        await until(lambda: sum((*counts.retries.values(), *counts.dead_lettered.values())) == 500)
        # Heartbeats and the promoter call some too.
        assert scripts_run(server) - before < 100
    assert sum(failed) >= 500


async def test_many_redeliveries_are_marked_in_few_calls(server: RunningServer) -> None:
    app, attempts = Streamops(server.options), list[int]()
    for number in range(300):
        add_good_or_bad(server, number)
    server.command("XGROUP", "CREATE", "s", "g", "0")
    given = deliver(server, "s", "g", "stranger", 300)
    server.command("XCLAIM", "s", "g", "stranger", 0, *given, "IDLE", 300, "JUSTID")

    @app.handler("s", group="g", batch=300, concurrency=1, linger=0.3, lease=0.3)
    async def handle(entries: list[Entry]) -> None:
        attempts.extend(entry.attempt for entry in entries)

    before = scripts_run(server)
    async with working(app):
        await until(lambda: is_idle(server, "s"))
        assert scripts_run(server) - before < 100
    assert attempts == [2] * 300
