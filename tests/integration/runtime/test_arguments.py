"""What handlers are given: plain values by their names, the state and the entry among them; on a real server."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

import pydantic
import pytest
from msgspec import Meta

from streamops.errors import SettingsError
from streamops.runtime import Entry, Streamops
from streamops.testing import staged
from tests.support.servers import RunningServer

AT = datetime(2026, 1, 2, tzinfo=UTC)
ONE = UUID(int=1)


class Colour(StrEnum):
    RED = "red"


class Journal(list[object]):
    """A state."""


async def test_plain_values_state_and_entry_come_in_any_order(server: RunningServer) -> None:
    app, journal = Streamops(server.options), Journal()

    @app.lifespan
    async def keep(_: Streamops) -> AsyncIterator[Journal]:
        yield journal

    @app.handler("s", group="async")
    async def first(
        number: int, journal: Journal, at: datetime, entry: Entry, colour: Colour | None = None
    ) -> None:
        journal.append((number, at, entry.stream, colour))

    @app.handler("s", group="threads", threads=True)
    def second(entry: Entry, ident: UUID, journal: Journal) -> None:
        journal.append((entry.stream, ident))

    async with staged(app, server.options) as stage:
        await stage.publish("s", {"number": 7, "at": AT.isoformat(), "colour": "red", "ident": str(ONE)})
        await stage.idle()
        assert sorted(journal, key=str) == [("s", ONE), (7, AT, "s", Colour.RED)]


async def test_a_field_called_data_is_no_document(server: RunningServer) -> None:
    app, seen = Streamops(server.options), list[tuple[str, int]]()

    @app.handler("s", group="g")
    async def handle(data: str, size: int) -> None:
        seen.append((data, size))

    async with staged(app, server.options) as stage:
        await stage.publish("s", {"data": "no { JSON", "size": 3})
        await stage.idle()
    assert seen == [("no { JSON", 3)]


async def test_a_value_beyond_its_limits_is_a_dead_letter(server: RunningServer) -> None:
    app, seen = Streamops(server.options), list[int]()

    @app.handler("s", group="g")
    async def handle(
        size: Annotated[int, Meta(gt=0)], data: Annotated[str, Meta(description="Anything.")]
    ) -> None:
        seen.append(size * len(data))

    @app.handler("t", group="g")
    async def raw(data: Annotated[bytes, "as it stands"]) -> None:
        seen.append(len(data))

    async with staged(app, server.options) as stage:
        for size in (1, 0):
            await stage.publish("s", {"size": size, "data": "x"})
        await stage.publish("t", b"four")
        await stage.idle()
        (letter,) = await stage.dead_letters("s")
    assert sorted(seen) == [1, 4]
    assert "Expected `int` >= 1" in letter.error


async def test_plain_values_are_the_body_that_a_key_is_computed_from(server: RunningServer) -> None:
    app, seen = Streamops(server.options), list[str]()

    @app.handler("s", group="g", key=lambda body: f"{body.order_id}/{body.part}")
    async def handle(order_id: str, part: int) -> None:
        seen.append(f"{order_id}-{part}")

    async with staged(app, server.options) as stage:
        for part in (1, 2, 1):
            await stage.publish("s", {"order_id": "a", "part": part})
        await stage.idle()
    assert sorted(seen) == ["a-1", "a-2"]


def test_a_body_beside_plain_values_is_refused() -> None:
    app = Streamops()

    async def handle(order_id: str, fields: dict[str, str]) -> None: ...

    with pytest.raises(SettingsError, match="takes two bodies"):
        app.handler("s", group="g")(handle)


async def test_a_model_of_pydantic_is_a_body(server: RunningServer) -> None:
    order_type = pydantic.create_model("Order", order_id=(str, ...), total=(int, 0))
    app, seen = Streamops(server.options), list[tuple[str, int]]()

    async def handle(order: object) -> None:
        seen.append((order.order_id, order.total))  # type: ignore[attr-defined]

    handle.__annotations__["order"] = order_type
    app.handler("s", group="g")(handle)
    async with staged(app, server.options) as stage:
        for body in ({"order_id": "a", "total": 3}, b'{"order_id": "b"}', {"total": 3}):
            await stage.publish("s", body)
            await stage.idle()
        (letter,) = await stage.dead_letters("s")
    assert seen == [("a", 3), ("b", 0)]
    assert letter.reason == "undecodable"
