"""Pages of a scraper, looked into."""

import re

from streamops.exporter.page import MetricsPage
from tests.support.servers import RunningServer


def up(page: MetricsPage) -> bool:
    return b"\nstreamops_up 1\n" in page.plain()


def length(page: MetricsPage) -> float | None:
    found = re.search(
        rb'^streamops_stream_length\{db="0",stream="orders"\} (\S+)$', page.plain(), re.MULTILINE
    )
    return float(found[1]) if found else None


def written(page: MetricsPage, name: str) -> float:
    found = re.search(rf"^{re.escape(name)} (\S+)$".encode(), page.plain(), re.MULTILINE)
    assert found is not None, name
    return float(found[1])


def add_orders(server: RunningServer, count: int = 1) -> None:
    for _ in range(count):
        server.command("XADD", "orders", "*", "a", "b")
