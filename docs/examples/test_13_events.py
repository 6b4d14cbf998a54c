"""A worker tells what happens as frozen events, one type each: completed, retried, given up, duplicate, taken
over. Listeners are called as it happens; what one raises is its own affair. Logs are made of the same.
"""

import msgspec
import pytest

from streamops.runtime import Skip, Streamops
from streamops.runtime.events import Completed, DeadLettered, Event, Promoted, Retried
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions


class Order(msgspec.Struct):
    order_id: str


def failing() -> Streamops:
    """An application whose handler fails twice for every order but one."""
    app = Streamops()

    @app.handler("orders", group="shipping", retry=3_600, max_attempts=2, concurrency=1)
    async def ship(order: Order) -> None:
        if order.order_id != "good":
            raise ValueError("no such street")

    return app


async def test_events_tell_an_entrys_life(redis: ConnectionOptions) -> None:
    app, told = failing(), list[Event]()
    for kind in (Completed, Retried, DeadLettered, Promoted):
        app.on(kind)(told.append)
    async with staged(app, redis) as stage:
        good = await stage.publish("orders", Order("good"))
        await stage.idle()
        bad = await stage.publish("orders", Order("bad"))
        await stage.idle(delayed=False)
        await stage.hasten()
        await stage.idle()
    completed, retried, promoted, dead = told
    assert completed == Completed("orders", "shipping", good, 1)
    assert isinstance(retried, Retried)
    assert (retried.entry_id, retried.attempt, retried.reason) == (bad, 1, "ValueError: no such street")
    assert retried.delay.total_seconds() == 3_600
    assert promoted == Promoted("orders", 1)
    assert isinstance(dead, DeadLettered)
    assert (dead.attempt, dead.reason, dead.error) == (2, "max-deliveries", "ValueError: no such street")


async def test_event_itself_is_all_of_them(redis: ConnectionOptions) -> None:
    app, told = failing(), list[str]()

    @app.on(Event)
    def tell(event: Event) -> None:
        told.append(type(event).__name__)

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("good"))
        await stage.idle()
    assert told == ["Completed"]


async def test_what_a_listener_raises_is_its_own_affair(
    redis: ConnectionOptions, capsys: pytest.CaptureFixture[str]
) -> None:
    app = failing()

    @app.on(Completed)
    def fail(_: Completed) -> None:
        raise Skip("whatever")

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("good"))
        await stage.idle()
        assert await stage.dead_letters("orders") == []
    assert "listener failed" in capsys.readouterr().out
