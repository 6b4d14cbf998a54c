"""Notices sent for good: to a real webhook, from a real Redis that comes and goes."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from streamops.exporter.alerts import Evaluation
from streamops.exporter.notifier import PageWatcher
from tests.support.eventually import eventually
from tests.support.exporter.inbox import webhook
from tests.support.exporter.notify import (
    notifier,
    running,
    scraping,
    stop_consuming,
)
from tests.support.invented import seconds
from tests.support.servers import StartServer

pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages age faster, so that nobody waits for it."""
    monkeypatch.setattr("streamops.exporter.scraper.FRESH_SECONDS", 0.05)


def counted(
    watcher: PageWatcher, looks: list[Evaluation | None]
) -> Callable[[], Awaitable[Evaluation | None]]:
    """Look, and keep what was seen."""

    async def look() -> Evaluation | None:
        looks.append(await watcher.look())
        return looks[-1]

    return look


async def test_a_redis_that_stops_and_starts_is_told_and_nothing_else_of_it(
    start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server("--dir", str(tmp_path))
    stop_consuming(server)
    server.command("SAVE")
    looks = list[Evaluation | None]()
    async with (
        webhook() as hook,
        scraping(server.tcp_options) as scraper,
        running(notifier(hook.url, after=seconds(0.3)), counted(PageWatcher(scraper, seconds(0.1)), looks)),
    ):
        await eventually(lambda: len(hook.bodies) == 1)
        server.kill()
        await eventually(lambda: len(hook.bodies) == 2)
        looked = len(looks)
        await eventually(lambda: len(looks) > looked + 10)
        server.restart()
        await eventually(lambda: len(hook.bodies) == 3)
        server.command("XGROUP", "DESTROY", "orders", "billing")
        await eventually(lambda: len(hook.bodies) == 4)
    assert hook.titles == [
        "[FIRING:1] streamops redis://here: no_consumers orders/billing",
        "[FIRING:1] streamops redis://here: redis_down",
        "[RESOLVED:1] streamops redis://here: redis_down",
        "[RESOLVED:1] streamops redis://here: no_consumers orders/billing",
    ]
