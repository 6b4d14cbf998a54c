"""``exporter --notify`` as a process."""

import asyncio
import signal
from pathlib import Path

import pytest

from tests.support.cli.exporter import ended, running
from tests.support.cli.notify import PLANTED, configure
from tests.support.eventually import eventually
from tests.support.exporter.inbox import webhook
from tests.support.servers import RunningServer, StartServer


async def test_what_is_found_is_told_without_a_scrape_and_counted(
    start_server: StartServer, tmp_path: Path
) -> None:
    server = start_server("--requirepass", PLANTED)
    stop_consuming(server)
    quick = 'fire_after = "1s"\nresolve_after = "1s"\npause = "1s"\nevery = "1s"\n'
    url = server.url.replace("://", f"://:{PLANTED}@")
    async with webhook() as hook:
        configure(tmp_path, hook.url, more=quick)
        async with running(tmp_path, "--url", url, "--notify") as started:
            await eventually(lambda: len(hook.bodies) == 1)
            answer = await started.get("/metrics")
            async with asyncio.timeout(20):
                # It is counted once the webhook's answer has arrived.
                while answer.value('streamops_notifications_total{outcome="sent"}') != 1:
                    answer = await started.get("/metrics")
            assert answer.value('streamops_notifications_total{outcome="dropped"}') == 0
            server.kill()
            await eventually(lambda: len(hook.bodies) == 2)
            started.process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(20):
                assert await started.process.wait() == 0
            assert started.process.stderr is not None
            told = started.told + (await started.process.stderr.read()).decode()
    first, second = hook.bodies
    assert first["title"] == f"[FIRING:1] streamops {server.url}: no_consumers orders/billing"
    assert "1 entry waits" in first["message"]
    assert f"Look: streamops groups show orders billing --url {server.url}" in first["message"]
    assert second["title"].endswith(": redis_down")
    assert PLANTED not in told + repr(hook.bodies)


def stop_consuming(server: RunningServer) -> None:
    """A group without consumers, for which an entry has waited for ten minutes."""
    client = server.connect(password=PLANTED)
    past = int(client.time()[0]) - 600
    client.xgroup_create("orders", "billing", "0", mkstream=True)
    client.xadd("orders", {"n": "1"}, id=f"{past}000-1")


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        (None, "there are no addresses to send to"),
        (f"nonsense://{PLANTED}", "cannot use this nonsense:// address"),
    ],
)
async def test_unusable_addresses_are_refused(tmp_path: Path, address: str | None, problem: str) -> None:
    if address is not None:
        configure(tmp_path, address)
    code, told = await ended(tmp_path, "--notify")
    assert code == 2
    assert problem in told
    assert PLANTED not in told
    assert told.splitlines()[1].startswith("hint: ")


async def test_the_removed_test_notice_names_apprise(tmp_path: Path) -> None:
    code, told = await ended(tmp_path, "--notify-test")
    assert code == 2
    assert "apprise --config" in told
