import pytest

from streamops.operations.autoscale.intent import LimitsIntent
from streamops.operations.console import Console
from tests.support.operations.doing import done, open_console
from tests.support.servers import RunningServer

POOL = "streamops:pool:shop"


def limits(server: RunningServer) -> list[bytes | None]:
    found: list[bytes | None] = server.command("HMGET", POOL, "limit_min", "limit_max")
    return found


async def told(console: Console, **values: int | bool) -> None:
    await done(console, LimitsIntent(pool="shop", **values))  # type: ignore[arg-type]


async def test_a_limit_stays_until_it_is_changed_or_reset_by_name(server: RunningServer) -> None:
    server.command("HSET", POOL, "limit_min", 2, "limit_max", 9)
    async with await open_console(server) as console:
        await told(console, maximum=40)
        assert limits(server) == [b"2", b"40"]
        await told(console, minimum=3, reset=True)
        assert limits(server) == [b"3", None]
        await told(console, reset=True)
        assert limits(server) == [None, None]


def test_limits_without_a_limit_are_refused() -> None:
    with pytest.raises(ValueError, match="give --minimum, --maximum or --reset"):
        LimitsIntent(pool="shop")
