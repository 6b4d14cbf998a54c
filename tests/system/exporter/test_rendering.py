"""Text: the same bytes that prometheus_client prints, and nothing that Prometheus would refuse."""

import os
import shutil
import subprocess

import pytest

from streamops.exporter.page import MetricsPage
from streamops.exporter.rendering import LabelCache
from streamops.exporter.series_limits import NO_LIMITS
from streamops.exporter.shown import ScrapeReading
from tests.support.exporter.readings import HOSTILE, reading
from tests.support.exporter.whole import WHOLE
from tests.support.invented import consumer, group, snapshot, stream

HARD = reading(snapshot(*(stream(name, [group(name, members=[consumer(name)])]) for name in HOSTILE)))


@pytest.mark.parametrize("one", [WHOLE, HARD], ids=["everything", "names that are hard to print"])
def test_promtool_finds_nothing(one: ScrapeReading) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        if os.environ.get("STREAMOPS_REQUIRE_PROMETHEUS") == "1":
            pytest.fail("promtool is missing")
        pytest.skip("no promtool on this machine")
    page = MetricsPage(one, NO_LIMITS, LabelCache(), 0.0).plain()
    done = subprocess.run(
        [promtool, "check", "metrics"], input=page, capture_output=True, timeout=30, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
