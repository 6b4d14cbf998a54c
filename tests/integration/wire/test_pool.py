"""Connections at rest are handed out without a round trip, and none is ever forgotten."""

import asyncio

import pytest
from redis.exceptions import TimeoutError as TooSlow

from streamops.wire.redis_internals import ClosingPool
from tests.support.servers import RunningServer


async def pool_with_one(server: RunningServer) -> ClosingPool:
    pool = ClosingPool(host="127.0.0.1", port=server.port)
    await pool.release(await pool.get_connection())  # type: ignore[no-untyped-call] # redis-py has no types here
    return pool


async def test_whoever_is_cancelled_while_taking_one_leaves_it_there(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = await pool_with_one(server)
    (connection,) = pool._available_connections

    async def wait() -> bool:
        return bool(await asyncio.Event().wait())

    with monkeypatch.context() as patch:
        patch.setattr(connection, "can_read", wait)
        task = asyncio.create_task(pool.take())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    assert await pool.take() is connection
    pool.give_back(connection)
    await pool.aclose()


async def test_one_that_cannot_be_asked_is_left_to_be_mended(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = await pool_with_one(server)
    (connection,) = pool._available_connections

    async def fail() -> bool:
        raise TooSlow("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(connection, "can_read", fail)
        assert await pool.take() is None
    assert pool._available_connections == [connection]
    assert not pool._in_use_connections
    await pool.aclose()
