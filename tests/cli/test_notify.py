"""``exporter --notify`` and ``--notify-test`` as processes."""

import asyncio
import json
import signal
from pathlib import Path

import pytest

from tests.cli.test_exporter import ended, running, spawn
from tests.eventually import eventually
from tests.exporter.inbox import webhook
from tests.servers import RunningServer, StartServer

PLANTED = "T0pSecretPath"
"""A part of the webhook's address."""


def configure(directory: Path, *addresses: str, more: str = "") -> None:
    (directory / "urls").write_text("\n".join(["# who is told", *addresses]))
    (directory / "streamops.toml").write_text(f'[notify]\nurls_file = "urls"\n{more}')


async def try_out(directory: Path, *options: str) -> tuple[int | None, str, str]:
    process = await spawn(directory, "--notify-test", *options)
    output, told = await asyncio.wait_for(process.communicate(), 60)
    return process.returncode, output.decode(), told.decode()


async def test_a_test_says_what_came_of_each_address(tmp_path: Path) -> None:
    async with webhook() as hook:
        configure(tmp_path, hook.url, f"critical=json://127.0.0.1:1/{PLANTED}")
        code, output, told = await try_out(tmp_path)
    assert code == 1
    assert told == ""
    first, second = output.splitlines()[1:]
    assert first.split()[:4] == ["target", "1", "(JSON)", "sent"]
    assert second.split()[:4] == ["target", "2", "(JSON)", "failed"]
    assert "onnection error" in second
    assert PLANTED not in output
    assert hook.titles == ["[TEST] streamops redis://127.0.0.1:6379/0"]


async def test_a_test_that_arrives_everywhere_is_done(tmp_path: Path) -> None:
    async with webhook() as hook:
        configure(tmp_path, hook.url)
        code, output, _ = await try_out(tmp_path, "-o", "json")
    assert code == 0
    assert json.loads(output) == {
        "schema": "streamops.exporter.notify-test/1",
        "targets": [{"target": "target 1 (JSON)", "outcome": "sent", "reason": None}],
    }


@pytest.mark.parametrize("option", ["--notify", "--notify-test"])
@pytest.mark.parametrize(
    ("address", "problem"),
    [
        (None, "there are no addresses to send to"),
        (f"nonsense://{PLANTED}", "cannot use this nonsense:// address"),
    ],
)
async def test_what_cannot_be_used_is_said(
    tmp_path: Path, option: str, address: str | None, problem: str
) -> None:
    if address is not None:
        configure(tmp_path, address)
    code, told = await ended(tmp_path, option)
    assert code == 2
    assert problem in told
    assert PLANTED not in told
    assert told.splitlines()[1].startswith("hint: ")


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
            assert await asyncio.wait_for(started.process.wait(), 20) == 0
            assert started.process.stderr is not None
            told = started.told + (await started.process.stderr.read()).decode()
    first, second = hook.bodies
    assert first["title"] == f"[FIRING:1] streamops {server.url}: no_consumers orders/billing"
    assert "1 entry waits" in first["message"]
    assert f"Look: streamops groups info orders billing --url {server.url}" in first["message"]
    assert second["title"].endswith(": redis_down")
    assert PLANTED not in told + repr(hook.bodies)


def stop_consuming(server: RunningServer) -> None:
    """A group without consumers, for which an entry has waited for ten minutes."""
    client = server.connect(password=PLANTED)
    past = int(client.time()[0]) - 600
    client.xgroup_create("orders", "billing", "0", mkstream=True)
    client.xadd("orders", {"n": "1"}, id=f"{past}000-1")
