"""A stream that changes while its entries are counted."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from streamops.operations import walking
from streamops.wire.reads import count_entries
from tests.support.servers import RunningServer

STREAM = "orders"


def delete(server: RunningServer, *numbers: int) -> None:
    server.command("XDEL", STREAM, *(f"{number}-0" for number in numbers))


def before_call(number: int, act: Callable[[], None], call: Callable[..., Awaitable[Any]]) -> Any:  # noqa: ANN401  # passed on
    """The function, which does something before that call of it."""
    calls = 0

    async def interrupted(*asked: Any, **how: Any) -> Any:  # noqa: ANN401  # passed on
        nonlocal calls
        calls += 1
        if calls == number:
            act()
        return await call(*asked, **how)

    return interrupted


def interrupt(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Do something when either end has been looked at once, and one of them twice."""
    monkeypatch.setattr(walking, "count_entries", before_call(4, act, count_entries))
