"""Routers that an application includes, on a real server."""

from collections.abc import Sequence

import pytest

from streamops.errors import SettingsError
from streamops.runtime import BatchCall, Call, Entry, Router, Streamops
from streamops.testing import staged
from tests.support.servers import RunningServer


async def test_routers_within_routers_add_up_prefixes_and_middleware(server: RunningServer) -> None:
    app, outer, inner, told = Streamops(server.options), Router(), Router(), list[str]()
    app.include(outer, "a:")
    outer.include(inner, "b:")

    def named(name: str, router: Router) -> None:
        @router.middleware
        async def around(entry: Entry, call: Call) -> object:
            told.append(name)
            return await call(entry)

        @router.batch_middleware
        async def around_batch(entries: Sequence[Entry], call: BatchCall) -> object:
            told.append(f"{name} of {len(entries)}")
            return await call(entries)

    for name, router in (("inner", inner), ("app", app), ("outer", outer)):
        named(name, router)

    @inner.handler({"s": 2, "t": 1}, group="g")
    async def late(entry: Entry) -> None:
        told.append(entry.stream)

    async def own(entries: Sequence[Entry], call: BatchCall) -> object:
        told.append(f"own of {len(entries)}")
        return await call(entries)

    @inner.handler("many", group="g", batch=10, middleware=own)
    async def batch(entries: list[Entry]) -> None:
        told.append(entries[0].stream)

    async with staged(app, server.options) as stage:
        for stream in ("a:b:s", "a:b:t", "a:b:many"):
            await stage.publish(stream, {"n": 1})
            await stage.idle()
    assert told == [
        *("app", "outer", "inner", "a:b:s"),
        *("app", "outer", "inner", "a:b:t"),
        *("app of 1", "outer of 1", "inner of 1", "own of 1", "a:b:many"),
    ]


def test_a_handler_declared_after_including_that_doubles_another_ends_the_start() -> None:
    app, router = Streamops(), Router()

    async def handle(entry: Entry) -> None: ...

    app.include(router)
    app.handler("s", group="g")(handle)
    router.handler("s", group="g")(handle)
    with pytest.raises(SettingsError, match=r"group g of stream s is read by .*handle already"):
        app.worker()


def test_a_router_that_would_include_itself_is_refused() -> None:
    outer, inner = Router(), Router()
    outer.include(inner)
    with pytest.raises(SettingsError, match="a router includes itself"):
        inner.include(outer)
    assert inner.handlers == ()
