"""A handler that raises is called again after a while. What to wait is a schedule: exponential unless said
otherwise, or a number, a list, or any function. The entry waits in the delayed queue and comes back for its own
group alone; with ``in_place=True`` it stays pending with its worker. The handler starts at most ``max_attempts``
times; the last failure goes to the dead letters at once.
"""

from datetime import timedelta

import msgspec
import pytest

from streamops.runtime import Delays, Entry, Exponential, Jitter, Linear, Streamops
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions


class Order(msgspec.Struct):
    order_id: str


def test_schedules_are_plain_data() -> None:
    def waits(schedule: Exponential | Delays | Linear, chance: float = 0.5) -> list[float]:
        return [schedule(failures, chance).total_seconds() for failures in range(1, 8)]

    assert waits(Exponential(jitter=Jitter.NONE)) == [1, 2, 4, 8, 16, 32, 60]
    assert waits(Exponential(base=10, cap=3_600, jitter=Jitter.NONE))[:4] == [10, 20, 40, 80]
    # Unless told otherwise up to ``base`` more, by chance; with full jitter anything up to the delay.
    assert waits(Exponential()) == [1.5, 2.5, 4.5, 8.5, 16.5, 32.5, 60]
    assert waits(Exponential(jitter=Jitter.FULL)) == [0.5, 1, 2, 4, 8, 16, 30]
    assert waits(Delays((5, timedelta(minutes=1)))) == [5, 60, 60, 60, 60, 60, 60]
    assert waits(Linear(60, 120)) == [60, 180, 300, 420, 540, 660, 780]


async def test_a_failure_comes_back_for_its_own_group_alone(redis: ConnectionOptions) -> None:
    app, shipped, counted = Streamops(), list[tuple[int, str]](), list[str]()

    @app.handler("orders", group="shipping", retry=Exponential(base=3_600))
    async def ship(entry: Entry) -> None:
        shipped.append((entry.attempt, entry.origin_id))
        if entry.attempt < 3:
            raise ConnectionError("the carrier does not answer")

    @app.handler("orders", group="statistics")
    async def count(entry: Entry) -> None:
        counted.append(entry.id)

    async with staged(app, redis) as stage:
        born = await stage.publish("orders", Order("o-1"))
        for _ in range(2):
            await stage.idle(delayed=False)
            await stage.hasten()
        await stage.idle()
    assert shipped == [(1, born), (2, born), (3, born)]
    assert counted == [born]


async def test_the_last_failure_is_a_dead_letter(redis: ConnectionOptions) -> None:
    app, attempts = Streamops(), list[int]()

    @app.handler("orders", group="shipping", retry=[0.01, 0.02], max_attempts=3)
    async def ship(entry: Entry) -> None:
        attempts.append(entry.attempt)
        raise ValueError("no such street")

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("o-1"))
        await stage.idle()
        (letter,) = await stage.dead_letters("orders")
    assert attempts == [1, 2, 3]
    assert (letter.reason, letter.error, letter.attempt) == (
        "max-deliveries",
        "ValueError: no such street",
        3,
    )


async def test_a_retry_in_place_stays_pending_with_its_worker(redis: ConnectionOptions) -> None:
    app, attempts = Streamops(), list[tuple[int, str]]()

    @app.handler("orders", group="shipping", retry=0.01, in_place=True)
    async def ship(entry: Entry) -> None:
        # It is the same entry of the stream every time, not a new one.
        attempts.append((entry.attempt, entry.id))
        if entry.attempt < 3:
            raise ConnectionError("the carrier does not answer")

    async with staged(app, redis) as stage:
        born = await stage.publish("orders", Order("o-1"))
        await stage.idle()
    assert attempts == [(1, born), (2, born), (3, born)]


async def test_any_function_is_a_schedule(redis: ConnectionOptions) -> None:
    app, asked = Streamops(), list[int]()

    def soon(failures: int, chance: float) -> timedelta:
        assert 0 <= chance < 1
        asked.append(failures)
        return timedelta(milliseconds=10 * failures)

    @app.handler("orders", group="shipping", retry=soon)
    async def ship(entry: Entry) -> None:
        if entry.attempt < 3:
            raise ConnectionError("the carrier does not answer")

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("o-1"))
        await stage.idle()
    assert asked == [1, 2]


@pytest.mark.parametrize("in_place", [False, True])
async def test_without_a_retry_there_is_one_attempt(redis: ConnectionOptions, *, in_place: bool) -> None:
    app, attempts = Streamops(), list[int]()

    @app.handler("orders", group="shipping", retry=None, in_place=in_place)
    async def ship(entry: Entry) -> None:
        attempts.append(entry.attempt)
        raise ValueError("no such street")

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("o-1"))
        await stage.idle()
        (letter,) = await stage.dead_letters("orders")
    assert (attempts, letter.reason) == ([1], "rejected")
