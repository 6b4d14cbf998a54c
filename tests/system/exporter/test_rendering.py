"""Text: the same bytes that prometheus_client prints, and nothing that Prometheus would refuse."""

import pytest

from streamops.exporter.page import MetricsPage
from streamops.exporter.rendering import LabelCache
from streamops.exporter.series_limits import NO_LIMITS
from streamops.exporter.shown import ScrapeReading
from tests.support.exporter.readings import HOSTILE, reading
from tests.support.exporter.whole import WHOLE
from tests.support.invented import consumer, group, snapshot, stream
from tests.support.prometheus import assert_clean

HARD = reading(snapshot(*(stream(name, [group(name, members=[consumer(name)])]) for name in HOSTILE)))


@pytest.mark.parametrize("one", [WHOLE, HARD], ids=["everything", "names that are hard to print"])
def test_promtool_finds_nothing(one: ScrapeReading) -> None:
    assert_clean(MetricsPage(one, NO_LIMITS, LabelCache(), 0.0).plain())
