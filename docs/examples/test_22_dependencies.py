"""What each call of a handler needs for itself, such as a database session, is a dependency: a function that makes it, and a type
that names the function. What follows its ``yield`` cleans up, before the entry is acknowledged or tried again.
"""

from collections.abc import AsyncIterator
from typing import Annotated

import msgspec
import pytest

from streamops.errors import SettingsError
from streamops.runtime import Depends, Entry, Streamops
from streamops.testing import staged
from streamops.wire.options import ConnectionOptions


class Order(msgspec.Struct):
    order_id: str


class Database:
    """A pool of connections, as it might be."""

    def __init__(self) -> None:
        self.log: list[str] = []


class Session:
    """A transaction on one of them."""

    def __init__(self, database: Database, tenant: str) -> None:
        self.database = database
        self.tenant = tenant

    def write(self, words: str) -> None:
        """Note words within the transaction."""
        self.database.log.append(f"{self.tenant}: {words}")


def tenant_of(entry: Entry) -> str:
    """Whose entry it is."""
    return (entry.get("tenant") or b"nobody").decode()


async def open_session(
    database: Database, tenant: Annotated[str, Depends(tenant_of)]
) -> AsyncIterator[Session]:
    """A session, committed if the handler returns."""
    session = Session(database, tenant)
    try:
        yield session
    except Exception:
        session.write("rolled back")
        raise
    session.write("committed")


InSession = Annotated[Session, Depends(open_session)]


async def test_each_call_has_its_own_session(redis: ConnectionOptions) -> None:
    app, database = Streamops(), Database()

    @app.lifespan
    async def open_database(_: Streamops) -> AsyncIterator[Database]:
        yield database

    @app.handler("orders", group="shipping", retry=None)
    async def ship(order: Order, session: InSession) -> None:
        session.write(order.order_id)
        if order.order_id == "o-2":
            raise ValueError("no such product")

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("o-1"), fields={"tenant": "acme"})
        await stage.idle()
        await stage.publish("orders", Order("o-2"), fields={"tenant": "ajax"})
        await stage.idle()
        (letter,) = await stage.dead_letters("orders")
    assert letter.error == "ValueError: no such product"
    assert database.log == ["acme: o-1", "acme: committed", "ajax: o-2", "ajax: rolled back"]


async def test_a_clean_up_that_fails_is_the_handlers_failure(redis: ConnectionOptions) -> None:
    app = Streamops()

    async def open_file() -> AsyncIterator[str]:
        yield "a file"
        raise OSError("the disk is full")

    @app.handler("orders", group="shipping", retry=None)
    async def ship(order: Order, file: Annotated[str, Depends(open_file)]) -> None:
        assert (order.order_id, file) == ("o-1", "a file")

    async with staged(app, redis) as stage:
        await stage.publish("orders", Order("o-1"))
        await stage.idle()
        (letter,) = await stage.dead_letters("orders")
    assert letter.error == "OSError: the disk is full"


async def test_a_worker_does_not_start_where_nothing_provides_it(redis: ConnectionOptions) -> None:
    app = Streamops()

    @app.handler("orders", group="shipping")
    async def ship(order: Order, session: InSession) -> None:
        raise AssertionError(order, session)

    with pytest.raises(
        SettingsError, match="dependency open_session: nothing provides its parameter database"
    ):
        async with staged(app, redis):
            pass
