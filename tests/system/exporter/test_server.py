"""What the exporter answers over HTTP. On real servers."""

import asyncio
import json
from datetime import timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families

from streamops.exporter import scraper as scraper_module
from tests.support.eventually import eventually
from tests.support.exporter.serving import OPENMETRICS, exporting, grow_old
from tests.support.servers import RunningServer, StartServer


@pytest.fixture(autouse=True)
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages age when a test says so, and not by themselves."""
    monkeypatch.setattr(scraper_module, "FRESH_SECONDS", 60.0)


async def test_a_server_that_is_away(start_server: StartServer) -> None:
    server = start_server()
    async with exporting(server, patience=timedelta(seconds=2)) as running:
        await eventually(lambda: running.scraper.page is not None)
        server.kill()
        grow_old(running.scraper)
        answer = await running.get("/metrics")
        assert (answer.status, answer.value("streamops_up")) == (200, 0)
        assert "process_cpu_seconds_total" in answer.text
        status = await running.get("/api/v1/status")
        assert status.status == 503
        assert "cannot be reached" in json.loads(status.text)["error"]
        assert (await running.get("/-/healthy")).status == 200
        assert (await running.get("/-/ready")).status == 200


async def test_two_targets_are_probed_side_by_side(server: RunningServer, start_server: StartServer) -> None:
    other = start_server()
    other.command("XADD", "payments", "1-1", "a", "b")
    server.command("XADD", "orders", "1-1", "a", "b")
    gone = start_server()
    gone.kill()
    async with exporting(server, contexts={"other": other, "gone": gone}) as running:
        here, there, lost = await asyncio.gather(
            *(running.get(f"/probe?target={name}") for name in ("here", "other", "gone"))
        )
        assert 'stream="orders"' in here.text
        assert 'stream="payments"' in there.text
        assert (lost.status, lost.value("streamops_up")) == (200, 0)
        assert "process_cpu_seconds_total" not in there.text
        names = {family.name for family in text_string_to_metric_families(there.text)}
        assert "streamops_build_info" in names
        openmetrics = await running.get("/probe?target=other", headers=OPENMETRICS)
        assert openmetrics.text.endswith("# EOF\n")
        landing = await running.get("/")
        assert 'href="/probe?target=other"' in landing.text
